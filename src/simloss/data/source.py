"""Sources of files: a folder, or an archive that is read without unpacking it."""

import hashlib
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .._disk import bytes_of, regular_file
from .errors import DataError

# Far above any known data set of faces or objects; beyond is a mistake or an attack.
MAX_MEMBERS = 2_000_000
MAX_MEMBER_BYTES = 256 * 2**20
# Images hardly shrink in an archive; one that grows much more than this is a bomb.
MAX_GROWTH = 100
MAX_GROWN_BYTES = 2**30

# How deep to search for images below the given folder: AFAD needs `AFAD-Full/<age>/<gender>`.
_DEPTH = 4
# Enough of both ends to tell two archives of equal size and time apart.
_END_BYTES = 2**20

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the total number of bytes."""


@dataclass(frozen=True)
class Member:
    """One regular file; call `read` before requesting the next member."""

    name: str
    size: int
    read: Callable[[], bytes]


class Source(ABC):
    """Files that can be listed and read once, in order.

    Attributes:
        path: what the user named.
        size: the number of bytes to read.
        position: the number of bytes read so far.
        links: names that are links, which are not followed.
    """

    path: Path
    size: int
    position: int = 0
    links: tuple[str, ...] = ()

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest that changes with the content, without reading all of it."""

    @abstractmethod
    def _members(self) -> Iterator[Member]:
        """The regular files, unchecked."""

    def members(self) -> Iterator[Member]:
        """The regular files, refused if one is absurdly large, or all are too many or too large."""
        together = 0
        for count, member in enumerate(self._members(), start=1):
            if count > MAX_MEMBERS:
                raise DataError(
                    f"'{self.path}' holds more than {MAX_MEMBERS:,} files, "
                    f"more than any known data set; it is not read."
                )
            check_size(self.path, member.name, member.size)
            together += member.size
            if together > MAX_GROWN_BYTES + MAX_GROWTH * self.size:
                raise DataError(
                    f"'{self.path}' of {self.size:,} bytes unpacks to more than {together:,}, like "
                    f"archives made to fill a disk; it is not read."
                )
            yield member


class Folder(Source):
    """The files under a folder, by name; links are not followed."""

    def __init__(self, path: Path, depth: int = _DEPTH) -> None:
        self.path = path
        try:
            links: list[str] = []
            self._files = sorted(_walk(path, "", depth, links))
        except OSError as error:
            raise DataError(f"'{path}' cannot be read: {error.strerror or error}.") from None
        self.links = tuple(sorted(links))
        self.size = sum(size for _, size, _ in self._files)

    def fingerprint(self) -> str:
        """A digest of every name, size and modification time, unchanged if the folder moves."""
        return hashlib.sha256(repr(self._files).encode("utf-8", "surrogatepass")).hexdigest()

    def names(self) -> list[str]:
        """Every name, sorted."""
        return [name for name, _, _ in self._files]

    def listing(self) -> bytes:
        """Every name and size, which a copy of the folder has too."""
        names = [(name, size) for name, size, _ in self._files]
        return repr(names).encode("utf-8", "surrogatepass")

    def _members(self) -> Iterator[Member]:
        self.position = 0
        for name, size, _ in self._files:
            yield Member(name, size, partial(_content, self.path / name, follow_links=False))
            self.position += size


class Listed(Source):
    """Some files that a table names, all of which must exist.

    A path is absolute, or leads into the table's folder, past no link: of a table that came with
    its images, the paths are not the user's own.
    """

    def __init__(self, path: Path, folder: Path, names: Iterable[str]) -> None:
        self.path = path
        self._names = sorted(set(names))
        self._files = [_inside(path, folder, name) for name in self._names]
        try:
            self._status = [
                file.stat(follow_symlinks=os.path.isabs(name))
                for name, file in zip(self._names, self._files, strict=True)
            ]
        except OSError as error:
            raise DataError(
                f"'{path}' names the file '{error.filename}', which cannot be read: "
                f"{error.strerror}."
            ) from None
        for file, status in zip(self._files, self._status, strict=True):
            if not stat.S_ISREG(status.st_mode):  # a device never ends
                link = "a link; name it by its absolute path"
                kind = link if stat.S_ISLNK(status.st_mode) else "not a file"
                raise DataError(f"'{path}' names '{file}', which is {kind}.")
        _refuse_links(path, folder, self._names)
        self.size = sum(status.st_size for status in self._status)

    def fingerprint(self) -> str:
        """A digest of every name, size and modification time."""
        known = [(s.st_size, s.st_mtime_ns) for s in self._status]
        text = repr((self._names, known)).encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()

    def _members(self) -> Iterator[Member]:
        self.position = 0
        for name, file, status in zip(self._names, self._files, self._status, strict=True):
            follow_links = os.path.isabs(name)
            yield Member(name, status.st_size, partial(_content, file, follow_links=follow_links))
            self.position += status.st_size


def _inside(path: Path, folder: Path, name: str) -> Path:
    if os.path.isabs(name):
        return Path(name)
    inner = os.path.normpath(name)
    if inner.split(os.sep)[0] == os.pardir:
        raise DataError(
            f"'{path}' must name files in its own folder, but names '{name}'; move the table "
            f"above its files, or name them by their absolute paths."
        )
    return folder / inner


def _refuse_links(path: Path, folder: Path, names: Iterable[str]) -> None:
    """No folder on the way to a file inside may be a link."""
    inner = {os.path.dirname(os.path.normpath(name)) for name in names if not os.path.isabs(name)}
    for place in {folder / each for name in inner for each in (Path(name), *Path(name).parents)}:
        if place != folder and place.is_symlink():
            raise DataError(
                f"'{path}' names files in '{place}', which is a link; put the table beside "
                f"the folder itself, or name them by their absolute paths."
            )


def _content(path: Path, follow_links: bool) -> bytes:
    try:
        return bytes_of(path, MAX_MEMBER_BYTES, follow_links=follow_links)
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror or error}.") from None


def check_size(path: Path, name: str, size: int, most: int = MAX_MEMBER_BYTES) -> None:
    """Refuse a file that claims to be absurdly large."""
    if size > most:
        raise DataError(
            f"'{path}' holds {name!r} of {size:,} bytes, more than the limit of {most:,} "
            f"for such a file; it is not read."
        )


def file_fingerprint(path: Path) -> str:
    """A digest of a file's size, modification time, first and last mebibyte.

    The end of a .gz holds a checksum of its content and the end of a .zip one of each file, so
    for them this is as good as reading everything; for a plain .tar the modification time must do.
    """
    with regular_file(path, follow_links=True) as file:
        status = os.fstat(file.fileno())
        digest = hashlib.sha256(f"{status.st_size} {status.st_mtime_ns}".encode())
        digest.update(file.read(_END_BYTES))
        file.seek(max(0, status.st_size - _END_BYTES))
        digest.update(file.read(_END_BYTES))
    return digest.hexdigest()


def _walk(
    folder: Path, prefix: str, depth: int, links: list[str]
) -> Iterator[tuple[str, int, int]]:
    """Name, size and modification time of every file that is not hidden; links are only listed."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth > 1:
                    yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", depth - 1, links)
                continue
            if entry.is_symlink():
                links.append(f"{prefix}{entry.name}")
            elif entry.is_file():
                status = entry.stat()
                yield f"{prefix}{entry.name}", status.st_size, status.st_mtime_ns
