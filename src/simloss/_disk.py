"""Files that are written completely or not at all, and only regular files.

A run folder, a cache or a model from somebody else may hold a link to a file of the user, a
device that never ends, a pipe that never begins. So every file is opened here: it must be a
regular file, it is read only up to its size when opened, and in our own folders links are refused.
"""

import errno
import io
import json
import math
import os
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

# The size to which an npz file may grow when read. A matrix of zeros shrinks a thousandfold in
# the file, so any file may reach this; only a large file may reach more.
_MOST_BYTES = 2**30
_MOST_GROWTH = 100
_BUFFER = 2**17
_NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,  # differs in the names of fields only
}


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that appears under its name when the block ends without an error.

    Until then it has a temporary name in the same folder; it is flushed to disk before it is
    renamed, so that a crash leaves either the old file or the new one.

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


def regular_file(path: str | os.PathLike[str], *, follow_links: bool = False) -> io.BufferedReader:
    """A regular file, open for reading, which ends where it ended when it was opened.

    Raises ValueError for anything else with a name: a device, a pipe, a folder, and, unless
    `follow_links` is set, a link. Set it for paths that the user has named.
    """
    descriptor, size = _opened(path, os.O_RDONLY, follow_links)
    return io.BufferedReader(_Ending(descriptor, size), _BUFFER)


def bytes_of(path: str | os.PathLike[str], most: int, *, follow_links: bool = False) -> bytes:
    """All of a regular file of at most `most` bytes."""
    with regular_file(path, follow_links=follow_links) as file:
        if file.seek(0, os.SEEK_END) > most:
            raise ValueError(f"'{path}' must have at most {most:,} bytes, but it has more.")
        file.seek(0)
        return file.read()


def file_to_change(path: Path) -> io.FileIO:
    """One of our files to read and append to, unbuffered; nothing is written through a link."""
    descriptor, _ = _opened(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, follow_links=False)
    if os.fstat(descriptor).st_nlink > 1:
        os.close(descriptor)
        raise ValueError(f"'{path}' must have one name only, but it has a second one elsewhere.")
    return os.fdopen(descriptor, "rb+", buffering=0)


def own_folder(path: Path) -> Path:
    """One of our folders inside another, created if necessary, never through a link."""
    if path.is_symlink():
        raise ValueError(f"'{path}' must be a real folder, but it is a link.")
    path.mkdir(parents=True, exist_ok=True)
    return path


def expanded(path: str | os.PathLike[str]) -> Path:
    """The path with ~ replaced by the user's home; unchanged if there is no such user."""
    return Path(os.path.expanduser(path))


def arrays_of(path: Path, *, follow_links: bool = False) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays in an npz file; nothing in it is unpickled, and it cannot fill the memory.

    Raises ValueError for any other kind of file, and OSError if it cannot be opened.
    """
    with regular_file(path, follow_links=follow_links) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                refuse_growth(archive, file)
                for member in archive.infolist():
                    with archive.open(member) as unpacked:
                        npy_shape(member, unpacked)
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                found = dict(arrays)
            for array in found.values():
                refuse_no_characters(array)
            return found
        except Exception as error:  # a damaged zip or header raises almost anything
            raise ValueError(" ".join(str(error).split()) or type(error).__name__) from None


class Shape(NamedTuple):
    """The shape of an array in a file; `by_column` if it is stored column by column."""

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    by_column: bool


def npy_shape(member: zipfile.ZipInfo, file: IO[bytes]) -> Shape:
    """The shape of an array in an npz file, which is read up to its first number.

    Raises ValueError where its header claims another length than follows: a few bytes could
    otherwise ask for any amount of work before a number is read.
    """
    name = member.filename.removesuffix(".npy")
    try:
        read = _NPY_HEADERS[np.lib.format.read_magic(file)]
    except (ValueError, KeyError):
        raise ValueError(f"{name!r} in it is not an array") from None
    shape, is_fortran, dtype = read(file)
    if dtype.hasobject:
        raise ValueError(f"{name!r} holds Python objects")
    count = math.prod(shape)
    if file.tell() + count * dtype.itemsize != member.file_size or count > 1 > dtype.itemsize:
        raise ValueError(f"{name!r} in it claims the shape {shape}, but does not fill it")
    return Shape(shape, dtype, is_fortran and len(shape) > 1)


def refuse_no_characters(array: np.ndarray[Any, Any]) -> None:
    """Raises ValueError where a text holds four bytes that numpy takes, and Python ends at."""
    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        whole = np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
        if (np.ascontiguousarray(array).reshape(-1).view(whole) > sys.maxunicode).any():
            raise ValueError("a text holds what is no character")


def refuse_growth(archive: zipfile.ZipFile, file: BinaryIO) -> None:
    """Raises ValueError where the members of a zip claim far more bytes than the file has."""
    grown = sum(member.file_size for member in archive.infolist())
    if grown > _MOST_BYTES + _MOST_GROWTH * file.seek(0, os.SEEK_END):
        raise ValueError(f"it would grow to {grown:,} bytes")


def tensors_of(path: Path) -> "tuple[dict[str, Tensor], dict[str, str]]":
    """The tensors in a safetensors file that the user has named, and the texts beside them.

    Raises ValueError for any other kind of file, and OSError if it cannot be opened.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    with regular_file(path, follow_links=True) as file:
        found = file.read()
    try:
        head = json.loads(found[8 : 8 + int.from_bytes(found[:8], "little")])
        about = head.get("__metadata__", {})
        return load(found), {name: str(text) for name, text in about.items()}
    except (SafetensorError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from None


def sync_folder(path: Path) -> None:
    """Flush a folder's list of names to disk, if the system can."""
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


class _Ending(io.FileIO):
    """A file with a fixed end: growth is ignored, and a file without a size has no content."""

    def __init__(self, descriptor: int, size: int) -> None:
        super().__init__(descriptor, "rb")
        self._size = size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:  # the system may not know the end, as for /proc/self/pagemap
            offset, whence = self._size + offset, os.SEEK_SET
        return super().seek(offset, whence)

    def readinto(self, buffer: Any) -> int | None:
        left = self._left()  # if nothing is left, do not read: the system might wait
        return super().readinto(memoryview(buffer).cast("B")[:left]) if left else 0

    def readall(self) -> bytes:
        pieces = []
        while (left := self._left()) and (piece := super().read(min(_BUFFER, left))):
            pieces.append(piece)
        return b"".join(pieces)

    def _left(self) -> int:
        return max(0, self._size - self.tell())


# Never wait for a pipe; and on Windows, which lacks the others, read raw bytes.
_ALWAYS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _opened(path: str | os.PathLike[str], flags: int, follow_links: bool) -> tuple[int, int]:
    """A descriptor, and the size of the file when it was opened."""
    with suppress(FileNotFoundError):  # checked first: opening a device may already have an effect
        _check_regular(path, os.stat(path, follow_symlinks=follow_links))
    try:
        descriptor = os.open(path, flags | _ALWAYS | (0 if follow_links else _NO_LINK), 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP and not follow_links:
            raise ValueError(_not_regular(path, "a link")) from None
        raise
    try:
        status = os.fstat(descriptor)  # and again: it may be another file by now
        _check_regular(path, status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status.st_size


def _check_regular(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise ValueError(_not_regular(path, kind))


def _not_regular(path: str | os.PathLike[str], kind: str) -> str:
    return f"'{os.fspath(path)}' must be a regular file, but it is {kind}."
