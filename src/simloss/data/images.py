"""Reads a folder or an archive of image files into one tensor, decoded once and cached."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from . import image_cache
from .decode import Unreadable, decoded
from .errors import DataError
from .image_cache import Index, PixelArray
from .source import Member, Progress, Source, check_size

_FORMAT = 2  # of the cache; increase it when what is written under the same key changes
_MAX_SIZE = 1024
_MAX_IMAGE_BYTES = 32 * 2**20  # several are held at once
UNREADABLE = "unreadable"
LINK = "a link, which is not followed; replace it with the file itself"
REPEATED = "same name as another"

Cache = str | os.PathLike[str] | bool | None
"""A folder for decoded images; None or True for the default one, False for none."""


class LeftOut(str):
    """Why a file is not used; a reader returns it instead of a row's name."""

    __slots__ = ()


RowName = Callable[[str], str | LeftOut | None]
"""From a file's name: the name of its row, why it is left out, or None if it is not an image."""


@dataclass(frozen=True)
class Images:
    """Images sorted by name.

    Attributes:
        inputs: uint8 (N, 3, H, W) in the channels_last memory format, or, where an encoder has
            made them, features (N, D).
        names: one per row.
        first_equal: row -> the first row with the same pixels.
        left_out: reason -> the number of files, and the names of the first few.
        cache: where the pixels are cached, or why they are not.
    """

    inputs: Tensor
    names: tuple[str, ...]
    first_equal: dict[int, int]
    left_out: dict[str, dict[str, Any]]
    cache: str


def images(
    source: Source,
    *,
    name: str,
    row_name: RowName,
    rules: str,
    size: int,
    cache: Cache = None,
    progress: Progress | None = None,
) -> Images:
    """Every image that `row_name` gives a row, scaled to `size` x `size`.

    Decoded in the first call and cached; read from the cache as long as neither the files, nor
    `size`, nor `rules` (which says in words what `row_name` does) change. Without a writable
    folder, the images are held in memory and decoded again next time.
    """
    size = _checks.class_count("size", size)
    if size > _MAX_SIZE:
        raise ValueError(f"`size` must be at most {_MAX_SIZE} pixels, but got {size}.")
    key = hashlib.sha256(repr((_FORMAT, source.fingerprint(), rules, size)).encode()).hexdigest()
    build = _Build(source, f"{name}-{size}px-{key[:24]}", row_name, rules, size, progress)
    if cache is False:
        return build.in_memory("not cached, as requested")
    folder = image_cache.cache_folder(None if cache is True else cache)
    return build.kept(folder) or build.in_folder(folder)


@dataclass(frozen=True)
class _Build:
    """What is known before the first image is decoded."""

    source: Source
    stem: str
    row_name: RowName
    rules: str
    size: int
    progress: Progress | None

    def kept(self, folder: Path) -> Images | None:
        """The cached images, if they are complete."""
        loaded = image_cache.load(folder, self.stem, self.size)
        return _images(*loaded, str(folder / f"{self.stem}.npy")) if loaded else None

    def in_folder(self, folder: Path) -> Images:
        """Decode into `folder`, or into memory if it cannot be written to."""
        try:
            workshop = image_cache.workshop(folder, self.stem)
        except OSError as error:
            reason = error.strerror or error
            return self.in_memory(f"not cached: '{folder}' is not writable ({reason})")
        with workshop as made, image_cache.full_disk_named(folder):
            self._write(Path(made))
            image_cache.publish(Path(made), folder, self.stem)
        images = self.kept(folder)
        if images is None:
            raise DataError(f"The image cache in '{folder}' differs from what was written.")
        return images

    def in_memory(self, reason: str) -> Images:
        """Decode without a cache."""
        with tempfile.TemporaryDirectory() as made, image_cache.full_disk_named(Path(made)):
            self._write(Path(made))
            loaded = image_cache.load(Path(made), self.stem, self.size)
            if loaded is None:
                raise DataError(f"The images in '{made}' differ from what was written.")
            pixels, index = loaded
            return _images(np.array(pixels), index, reason)

    def _write(self, folder: Path) -> None:
        index = Index()
        image_cache.write(folder, self.stem, self._rows(index), index, self.size)
        if not index.names:
            raise DataError(nothing_found(self.source.path, index, self.rules))

    def _rows(self, index: Index) -> Iterator[tuple[str, bytes]]:
        """Name and pixels of each row; `index` records what is left out."""
        wanted = wanted_files(self.source, self.row_name, index, self.progress)
        files = ((row, member.read()) for row, member in wanted)
        for name, pixels in decoded(files, self.size):
            if isinstance(pixels, Unreadable):
                index.leave_out(f"{name} ({pixels})", UNREADABLE)
            else:
                yield name, pixels


def wanted_files(
    source: Source, row_name: RowName, index: Index, progress: Progress | None = None
) -> Iterator[tuple[str, Member]]:
    """Each file that is wanted, by the name of its row; `index` learns which are left out."""
    seen: set[str] = set()
    for name in source.links:
        if isinstance(row_name(name), str):
            index.leave_out(name, LINK)
    for member in source.members():
        row = row_name(member.name)
        if isinstance(row, LeftOut):
            index.leave_out(member.name, row)
        elif row in seen:
            index.leave_out(member.name, REPEATED)
        elif row is not None:
            seen.add(row)
            check_size(source.path, member.name, member.size, _MAX_IMAGE_BYTES)
            yield row, member
        if progress is not None:
            progress(source.position, source.size)
    if progress is not None:
        progress(source.size, source.size)


def nothing_found(path: Path, index: Index, rules: str) -> str:
    """One sentence where no image is left."""
    unreadable = index.left_out.pop(UNREADABLE, None)
    if unreadable is not None:
        return (
            f"'{path}' holds {unreadable['count']:,} files named like images, "
            f"but none can be read; the first: {unreadable['names'][0]}."
        )
    others = "".join(
        f"; {entry['count']:,} left out: {reason}, for example {entry['names'][0]!r}"
        for reason, entry in index.left_out.items()
    )
    return f"'{path}' must hold {rules}, but it holds no such file{others}."


def _images(pixels: PixelArray, index: Index, cache: str) -> Images:
    return Images(
        inputs=torch.from_numpy(pixels).permute(0, 3, 1, 2),
        names=tuple(index.names),
        first_equal=index.first_equal,
        left_out=index.left_out,
        cache=cache,
    )
