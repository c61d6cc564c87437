"""Decoded images on disk: two files that are either complete or ignored.

`NAME.npy` holds the pixels (N, H, W, 3), `NAME.json` their names and a checksum of each file.
Both are built in a temporary folder, flushed to disk and moved into place, the index
last; what a crash leaves behind is never read, and is deleted a day later.
"""

import contextlib
import io
import json
import math
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._disk import bytes_of, expanded, regular_file
from .duplicates import first_equal
from .errors import DataError

_SUFFIX = ".unfinished"
_SWEEP_AFTER_SECONDS = 24 * 3600
_MOST_BYTES = 2**30  # of the names of two million images
_CHUNK_BYTES = 16 * 2**20

PixelArray = npt.NDArray[np.uint8]


@dataclass
class Index:
    """What is known about the images besides their pixels.

    Attributes:
        names: one per row, sorted.
        first_equal: row -> the first row with the same pixels, for rows that repeat an earlier one.
        left_out: reason -> the number of files, and the names of the first few.
        checksum: of the pixels.
    """

    names: list[str] = field(default_factory=list)
    first_equal: dict[int, int] = field(default_factory=dict)
    left_out: dict[str, dict[str, Any]] = field(default_factory=dict)
    checksum: int = 0

    def leave_out(self, name: str, reason: str) -> None:
        """Count a file that is left out, and keep the first few names."""
        entry = self.left_out.setdefault(reason, {"count": 0, "names": []})
        entry["count"] += 1
        if len(entry["names"]) < 10:
            # Names in an archive may not be valid text; these will be printed.
            entry["names"].append(name.encode("utf-8", "backslashreplace").decode())


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """`cache`, or `$SIMLOSS_CACHE`, or `~/.cache/simloss`.

    Example:
        >>> cache_folder("/data/cache").as_posix()
        '/data/cache'
    """
    given = cache or os.environ.get("SIMLOSS_CACHE")
    return expanded(given or "~/.cache/simloss")


def load(folder: Path, name: str, size: int) -> tuple[PixelArray, Index] | None:
    """The pixels, mapped into memory, and their index; None if missing or incomplete."""
    try:
        stored = json.loads(bytes_of(folder / f"{name}.json", _MOST_BYTES))
        body = stored["index"]
        if stored["checksum"] != _text_checksum(body):
            return None
        body["first_equal"] = {int(row): first for row, first in body["first_equal"].items()}
        index = Index(**body)
        pixels = _mapped(folder / f"{name}.npy", (len(index.names), size, size, 3))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if pixels is None or _checksum(pixels) != index.checksum:
        return None
    return pixels, index


def write(
    folder: Path, name: str, rows: Iterable[tuple[str, bytes]], index: Index, size: int
) -> None:
    """Write the pixels of `rows` sorted by name, then `index`, which grows while `rows` is read.

    Writes nothing if there are no rows. Holds only a few in memory, however many there are.
    """
    arrival = folder / "arrival"
    names: list[str] = []
    with arrival.open("wb") as file:
        for row_name, pixels in rows:
            names.append(row_name)
            file.write(pixels)
    if not names:
        return
    unsorted = np.memmap(arrival, np.uint8, mode="r", shape=(len(names), size, size, 3))
    order = np.array(sorted(range(len(names)), key=names.__getitem__))
    index.names = [names[row] for row in order]
    index.first_equal = first_equal(unsorted[row] for row in order)
    index.checksum = _write_sorted(folder / f"{name}.npy", unsorted, order)
    del unsorted
    arrival.unlink()
    _write_index(folder / f"{name}.json", index)


def publish(workshop: Path, folder: Path, name: str) -> None:
    """Move a finished cache into place, the index last."""
    for suffix in (".npy", ".json"):
        os.replace(workshop / f"{name}{suffix}", folder / f"{name}{suffix}")
    with contextlib.suppress(OSError):  # not every system can flush a folder to disk
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def workshop(folder: Path, name: str) -> tempfile.TemporaryDirectory[str]:
    """A new folder inside `folder` to build a cache in, deleted after its `with` block.

    Raises OSError if `folder` cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > _SWEEP_AFTER_SECONDS:
                shutil.rmtree(old)
    return tempfile.TemporaryDirectory(prefix=f"{name}.", suffix=_SUFFIX, dir=folder)


@contextlib.contextmanager
def full_disk_named(folder: Path) -> Iterator[None]:
    """Raise an error that the cache could not be completed."""
    try:
        yield
    except DataError:
        raise
    except OSError as error:
        raise DataError(
            f"The image cache in '{folder}' could not be written: {error.strerror or error}; "
            f"choose another folder with `cache` or $SIMLOSS_CACHE."
        ) from None


def _mapped(path: Path, shape: tuple[int, ...]) -> PixelArray | None:
    """The array in a file, if its header and length match an array of this shape.

    The header is compared, not parsed: numpy's reader fails in many ways on a damaged one.
    """
    header = _header(shape)
    with regular_file(path) as file:
        if file.read(len(header)) != header:
            return None
        if file.seek(0, os.SEEK_END) != len(header) + math.prod(shape):
            return None
        # "c": the tensor is writable, as torch requires, and the file does not change.
        return np.memmap(file, np.uint8, mode="c", offset=len(header), shape=shape)


def _header(shape: tuple[int, ...]) -> bytes:
    header = io.BytesIO()
    description = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, description)
    return header.getvalue()


def _write_sorted(path: Path, unsorted: PixelArray, order: npt.NDArray[np.int64]) -> int:
    checksum = 0
    # Written, not mapped, so that a full disk is an error that can be caught.
    with path.open("wb") as file:
        file.write(_header(unsorted.shape))
        for rows in _chunks(unsorted):
            chunk = unsorted[order[rows]]
            checksum = zlib.crc32(chunk.data, checksum)
            file.write(chunk.data)
        _force_to_disk(file)
    return checksum


def _write_index(path: Path, index: Index) -> None:
    # Through JSON and back, so that the checksum is of what will be read.
    body = json.loads(json.dumps(asdict(index)))
    with path.open("w", encoding="utf-8") as file:
        json.dump({"checksum": _text_checksum(body), "index": body}, file)
        _force_to_disk(file)


def _text_checksum(body: Any) -> int:
    return zlib.crc32(json.dumps(body).encode())


def _checksum(pixels: PixelArray) -> int:
    checksum = 0
    for rows in _chunks(pixels):
        checksum = zlib.crc32(pixels[rows].data, checksum)
    return checksum


def _chunks(pixels: PixelArray) -> Iterator[slice]:
    step = max(1, _CHUNK_BYTES // pixels[0].nbytes)
    for start in range(0, len(pixels), step):
        yield slice(start, start + step)


def _force_to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
