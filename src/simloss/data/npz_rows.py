"""Arrays in an npz file: their names and shapes, and rows of one without loading all of it."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._disk import Shape, npy_shape, refuse_growth, refuse_no_characters, regular_file
from .errors import DataError

Array = np.ndarray[Any, Any]


def npz_shapes(path: Path) -> dict[str, Shape]:
    """The arrays of the file, by name; nothing in it is unpickled."""
    with _archive(path) as archive:
        return {name.removesuffix(".npy"): _shape(archive, name) for name in archive.namelist()}


def npz_rows(path: Path, name: str, rows: int) -> Iterator[Array]:
    """An array of the file, this many rows at a time; one stored by column is read at once."""
    with _archive(path) as archive, archive.open(f"{name}.npy") as file:
        shape, dtype, by_column = npy_shape(archive.getinfo(f"{name}.npy"), file)
        width = int(np.prod(shape[1:], dtype=np.int64))
        if by_column:  # as pandas tables are
            whole = _numbers_or_texts(file.read(), dtype).reshape(shape[::-1]).T
            yield from (whole[first : first + rows] for first in range(0, shape[0], rows))
            return
        for first in range(0, shape[0], rows):
            count = min(rows, shape[0] - first)
            content = file.read(count * width * dtype.itemsize)
            yield _numbers_or_texts(content, dtype).reshape(count, *shape[1:])


def _numbers_or_texts(content: bytes, dtype: "np.dtype[Any]") -> Array:
    found = np.frombuffer(content, dtype)
    refuse_no_characters(found)
    return found


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    with regular_file(path, follow_links=True) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                refuse_growth(archive, file)
                yield archive
        except DataError:
            raise
        except Exception as error:  # a damaged zip or header raises almost anything
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise DataError(f"'{path}' must be an npz file, but: {reason}.") from None


def _shape(archive: zipfile.ZipFile, name: str) -> Shape:
    with archive.open(name) as file:
        return npy_shape(archive.getinfo(name), file)
