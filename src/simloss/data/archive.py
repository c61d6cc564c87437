"""Archives read as a stream: nothing is unpacked to disk, and no member is trusted."""

import bz2
import gzip
import hashlib
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tarfile import TarError
from typing import IO, Any, Self

from .._disk import regular_file
from .errors import DataError
from .source import Folder, Member, Source, file_fingerprint

_ZIP = b"PK\x03\x04"
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
_BLOCK = 512  # of a tar file
# The padding that may follow the end of a tar file inside its compressed stream.
_MAX_PADDING = 16 * 2**20
# A long name or an extended header.
_MAX_HEADER = 2**20
_LONG_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_DAMAGE = (
    NotImplementedError,  # a zip file of a newer version
    EOFError,
    OSError,
    lzma.LZMAError,
    struct.error,
    TarError,
    UnicodeDecodeError,  # of a name in a zip file
    zipfile.BadZipFile,
    zlib.error,
)


def source(path: Path) -> Source:
    """The folder or archive at `path`, which exists; its content decides which."""
    if path.is_dir():
        return Folder(path)
    with _damage_named(path), regular_file(path, follow_links=True) as file:
        start = file.read(_BLOCK)
    if start.startswith(_ZIP):
        return Zip(path)
    if start.startswith(tuple(_OPENERS)) or start[257:262] == b"ustar":
        return Tar(path, [path])
    raise DataError(
        f"'{path}' must be a folder or an archive (.tar.gz, .tar.xz, .tar, .zip), "
        f"but its content is neither."
    )


class Tar(Source):
    """A tar file, compressed or not, in one piece or in several consecutive pieces."""

    def __init__(self, path: Path, parts: Sequence[Path]) -> None:
        self.path = path
        self._parts = tuple(parts)
        self.size = sum(part.stat().st_size for part in parts)

    def fingerprint(self) -> str:
        """A digest of each part's size, modification time, beginning and end."""
        with _damage_named(self.path):
            prints = [file_fingerprint(part) for part in self._parts]
        return hashlib.sha256(repr(prints).encode()).hexdigest()

    def _members(self) -> Iterator[Member]:
        self.position = 0
        with _damage_named(self.path), ExitStack() as stack:
            raw = stack.enter_context(io.BufferedReader(_Joined(self._parts)))
            opener = next((f for m, f in _OPENERS.items() if raw.peek(8).startswith(m)), None)
            stream = _Watched(stack.enter_context(opener(raw)) if opener else raw)
            tar = stack.enter_context(stream.tar())
            while (info := tar.next()) is not None:
                # Otherwise all members are kept: hundreds of megabytes for AFAD. Not in the stubs.
                tar.members.clear()  # type: ignore[attr-defined]
                if info.isreg():
                    yield Member(info.name, info.size, partial(self._read, tar, info))
                self.position = raw.tell()
            stream.expect_end()

    def _read(self, tar: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
        with _damage_named(self.path):
            file = tar.extractfile(info)
            return file.read() if file else b""


class Zip(Source):
    """A zip file; links and encrypted files are skipped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size

    def fingerprint(self) -> str:
        """A digest of the size, the modification time and the directory at the end."""
        with _damage_named(self.path):
            return file_fingerprint(self.path)

    def _members(self) -> Iterator[Member]:
        self.position = 0
        with _opened_zip(self.path) as archive:
            for info in archive.infolist():
                is_file = info.filename and not info.is_dir()
                if is_file and not stat.S_ISLNK(info.external_attr >> 16):
                    read = partial(self._read, archive, info)
                    yield Member(info.filename, info.file_size, read)
                self.position += info.compress_size

    def _read(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
        with _damage_named(self.path):
            try:
                return archive.read(info)
            except (RuntimeError, NotImplementedError) as error:  # a password, a rare compression
                raise DataError(f"'{self.path}' cannot be read: {error}.") from None


@contextmanager
def _opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    with (
        _damage_named(path),
        regular_file(path, follow_links=True) as file,
        zipfile.ZipFile(file) as archive,
    ):
        yield archive


class _Header(tarfile.TarInfo):
    """A header whose claimed size is checked before `tarfile` reads that much at once."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _LONG_HEADERS and header.size > _MAX_HEADER:
            raise TarError(f"a header claims {header.size:,} bytes")
        return header

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile)
        # Thousands of long names in a row; a map of gaps that is none.
        except (RecursionError, ValueError) as error:
            raise TarError(str(error)) from None


class _Watched:
    """A stream that remembers its end, because `tarfile` accepts any end as the end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._tail = b""

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._tail = (self._tail + data[-_BLOCK:])[-_BLOCK:]
        return data

    def tar(self) -> tarfile.TarFile:
        """The members of this stream, one after the other."""
        file: Any = self  # `tarfile` needs only `read`
        return tarfile.open(fileobj=file, mode="r|", tarinfo=_Header)

    def expect_end(self) -> None:
        """A complete tar file ends with zero blocks; reading on makes gzip check its checksum."""
        if self._tail != bytes(_BLOCK):
            raise EOFError("no end mark")
        left = _MAX_PADDING
        while left > 0 and (data := self._stream.read(2**16)):
            left -= len(data)


class _Joined(io.RawIOBase):
    """Several files, read as one."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = iter(paths)
        self._file = regular_file(next(self._paths), follow_links=True)
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not (count := self._file.readinto(buffer)):
            following = next(self._paths, None)
            if following is None:
                return 0
            self._file.close()
            self._file = regular_file(following, follow_links=True)
        self._position += count
        return int(count)

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Turn every way in which an archive can be broken into one sentence."""
    try:
        yield
    except DataError:
        raise
    except PermissionError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    except _DAMAGE as error:
        raise DataError(
            f"'{path}' is damaged or incomplete ({error or type(error).__name__}); "
            f"download it again."
        ) from None
