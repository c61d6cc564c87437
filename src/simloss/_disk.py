"""Files that are there whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


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
