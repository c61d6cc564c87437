"""Files that are there whole or not at all, and arrays that are only arrays."""

import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

# What an npz file may grow to when it is read. A matrix of zeros shrinks a thousandfold in the
# file, so this much is taken from any; more only from a file that is large itself.
_MOST_BYTES = 2**30
_MOST_GROWTH = 100


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that appears under its name when the block has ended well.

    Until then it has a temporary name in the same folder; it is forced to the disk before it is
    renamed, so that a crash leaves the file that was there before, or the new one.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with whole_file(f"{folder}/a.txt") as file:
        ...         _ = file.write(b"first")
        ...         there = os.path.exists(f"{folder}/a.txt")
        ...     there, Path(folder, "a.txt").read_bytes()
        (False, b'first')
    """
    path = Path(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


def arrays_of(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays in an npz file; nothing in it is unpickled, and it cannot fill the memory.

    Raises ValueError for whatever is no such file, and OSError if it cannot be opened.
    """
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                grown = sum(member.file_size for member in archive.infolist())
            if grown > _MOST_BYTES + _MOST_GROWTH * path.stat().st_size:
                raise ValueError(f"it would grow to {grown:,} bytes")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
        except Exception as error:  # a damaged zip or header raises almost anything
            raise ValueError(" ".join(str(error).split()) or type(error).__name__) from None


def sync_folder(path: Path) -> None:
    """Force a folder's list of names to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
