"""Image files -> features, decoded and encoded one piece at a time, so that few are in memory."""

import hashlib
from itertools import count, islice
from typing import Any

import numpy as np

from .. import decode
from ..duplicates import repeated
from ..errors import DataError
from ..image_cache import Index
from ..images import UNREADABLE, Cache, Images, RowName, nothing_found, wanted_files
from ..source import Source
from .encode import PIECE, Tell, Work, stacked
from .frozen import Features, frozen_encoder
from .kept import Pieces

# Pixels of the longer side: enough for today's encoders, and a bound for the memory.
MOST_PIXELS = 512

Files = list[tuple[str, bytes]]


def encoded_images(
    source: Source,
    encoder: str,
    *,
    row_name: RowName,
    rules: str,
    size: int | None = None,
    cache: Cache = None,
    tell: Tell | None = None,
) -> Images:
    """The features of every image that `row_name` gives a row.

    The encoder gets each as an RGB image of Pillow, reduced only if a side has more than `size`
    pixels (by default 512).
    """
    most, made = size or MOST_PIXELS, frozen_encoder(encoder, "images")
    what = ("images", source.fingerprint(), rules, str(most), made.version())
    pieces, work, index = Pieces(cache, *what), Work(made, "images", tell), Index()
    rows: list[list[str]] = []  # name and digest of each
    features: list[Features] = []
    wanted = wanted_files(source, row_name, index)
    for number in count():
        kept = _sound(pieces.get(number))
        # A file of an archive can be read only until the next one is requested.
        files = [(row, b"" if kept else file.read()) for row, file in islice(wanted, PIECE)]
        if not files:
            break
        if kept is None:
            kept = _piece(files, work, most, number * PIECE, _total(source, number, len(files)))
            pieces.keep(number, *kept)
        for name, reason in kept[1][UNREADABLE]:
            index.leave_out(f"{name} ({reason})", UNREADABLE)
        rows += kept[1]["rows"]
        if len(kept[0]):
            work.same_width(kept[0])
            features.append(kept[0])
    if not rows:
        raise DataError(nothing_found(source.path, index, rules))
    order = sorted(range(len(rows)), key=lambda row: rows[row][0])
    return Images(
        inputs=stacked(features)[order],
        names=tuple(rows[row][0] for row in order),
        first_equal=repeated(rows[row][1] for row in order),
        left_out=index.left_out,
        cache=str(pieces.folder or "not kept"),
    )


def _sound(kept: tuple[Features, Any] | None) -> tuple[Features, dict[str, Any]] | None:
    """A piece whose notes are of as many pictures; else None, and it is made again."""
    if kept is None or kept[1] is None or kept[1].keys() != {"rows", UNREADABLE}:
        return None
    return kept if len(kept[1]["rows"]) == len(kept[0]) else None


def _piece(
    files: Files, work: Work, most: int, first: int, total: int
) -> tuple[Features, dict[str, Any]]:
    """The features of some files, and the names and digests of their rows."""
    rows, images, unreadable = [], [], []
    for name, picture in decode.pictures(files, most):
        if isinstance(picture, decode.Unreadable):
            unreadable.append([name, str(picture)])
        else:
            content = repr(picture.size).encode() + picture.tobytes()
            rows.append([name, hashlib.sha256(content).hexdigest()[:32]])
            images.append(picture)
    made = work(images, first, total) if images else np.empty((0, 1), np.float32)
    return made, {"rows": rows, UNREADABLE: unreadable}


def _total(source: Source, number: int, count: int) -> int:
    """About how many images there are, by how much of the source has been read."""
    read = number * PIECE + count
    if count < PIECE or not source.position:
        return read
    return max(read, round(read * source.size / source.position))
