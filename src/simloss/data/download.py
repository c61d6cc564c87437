"""Downloads a file: resumed if interrupted, checked, and visible only when complete."""

import hashlib
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from .. import _checks
from .._disk import file_to_change, regular_file
from .errors import DataError
from .source import Progress

_CHUNK_BYTES = 2**18
_WORTH_ANOTHER_TRY = (408, 425, 429, 500, 502, 503, 504)


def download(
    url: str,
    path: str | os.PathLike[str],
    *,
    sha256: str | None = None,
    md5: str | None = None,
    progress: Progress | None = None,
    attempts: int = 5,
    pause: float = 1.0,
    timeout: float = 30.0,
) -> Path:
    """Download `url` to `path`, unless a file with the right checksum already exists.

    The bytes so far are kept in `path` + ".part": an interrupted download continues from there,
    in the same call or the next. The file moves to `path` once its checksum is right.

    Args:
        url: an http or https address.
        path: the file to write; its folder is created.
        sha256: the checksum the file must have, in hexadecimal digits.
        md5: the same as MD5; at least one of the two must be given.
        progress: called with the bytes downloaded so far and the total (0 if unknown).
        attempts: the number of connections to try.
        pause: seconds between them.
        timeout: seconds of silence after which a connection counts as broken.

    Example:
        >>> download("https://host/file.tar.gz", "file.tar.gz", md5="03b5...")  # doctest: +SKIP
        PosixPath('file.tar.gz')
    """
    checksums = {kind: sum for kind, sum in (("sha256", sha256), ("md5", md5)) if sum}
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"`url` must begin with http:// or https://, but got {url!r}.")
    if not checksums:
        raise ValueError("`sha256` or `md5` must be given, so that a wrong file is detected.")
    attempts = _checks.class_count("attempts", attempts)
    path = Path(path)
    if path.is_file() and _mismatch(path, checksums) is None:
        return path
    part = path.with_name(path.name + ".part")
    with _local_trouble_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        is_resumed = part.exists()
    fetch = _Fetch(url, part, progress, attempts, pause, timeout)
    fetch.all_of_it()
    if is_resumed and _mismatch(part, checksums):  # the first part may be of an older file
        part.unlink()
        fetch.all_of_it()
    mismatch = _mismatch(part, checksums)
    if mismatch:
        part.unlink()
        raise DataError(f"{url} was downloaded, but {mismatch}; it was deleted.")
    os.replace(part, path)
    return path


class _Fetch:
    """A download in progress."""

    def __init__(
        self,
        url: str,
        part: Path,
        progress: Progress | None,
        attempts: int,
        pause: float,
        timeout: float,
    ) -> None:
        self.url, self.part, self.progress = url, part, progress
        self.attempts, self.pause, self.timeout = attempts, pause, timeout

    def all_of_it(self) -> None:
        """Connect until `part` is complete."""
        for attempt in range(1, self.attempts + 1):
            try:
                return self._rest()
            except (OSError, HTTPException) as error:
                if isinstance(error, HTTPError):
                    error.close()
                    if error.code not in _WORTH_ANOTHER_TRY:
                        raise DataError(
                            f"{self.url} cannot be downloaded: the server answers {error.code} "
                            f"{error.reason}."
                        ) from None
                if attempt == self.attempts:
                    raise DataError(
                        f"{self.url} could not be downloaded in {attempt} attempts "
                        f"({_cause(error)}); the first {self._have():,} bytes are kept: "
                        f"run it again to continue."
                    ) from None
                time.sleep(self.pause)

    def _have(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _rest(self) -> None:
        have = self._have()
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
        try:
            response = urlopen(Request(self.url, headers=headers), timeout=self.timeout)
        except HTTPError as error:
            if error.code != 416:
                raise
            # There is nothing after what we have: it is complete, or of another file.
            error.close()
            if error.headers.get("Content-Range") == f"bytes */{have}":
                return
            self.part.unlink()
            raise ConnectionError("the file on the server has changed") from None
        with response:
            self._receive(response, have)

    def _receive(self, response: HTTPResponse, have: int) -> None:
        if response.status == 206:
            if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
                self.part.unlink(missing_ok=True)
                raise ConnectionError("the server sent another part than requested")
        else:
            have = 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else 0
        with _local_trouble_named(self.part):
            raw = file_to_change(self.part)
            raw.truncate(have)
        with io.BufferedWriter(raw) as file:
            while chunk := response.read(_CHUNK_BYTES):
                with _local_trouble_named(self.part):
                    file.write(chunk)
                have += len(chunk)
                if self.progress is not None:
                    self.progress(have, total)
            with _local_trouble_named(self.part):
                file.flush()
                os.fsync(file.fileno())
        if have < total:
            raise ConnectionError(f"it was interrupted after {have:,} of {total:,} bytes")


def _mismatch(path: Path, checksums: dict[str, str]) -> str | None:
    """What is wrong with the checksum of a file; None if it is right."""
    for kind, expected in checksums.items():
        with regular_file(path, follow_links=True) as file:
            found = hashlib.file_digest(file, kind).hexdigest()
        if found != expected.lower():
            return f"its {kind} is {found} instead of {expected}"
    return None


def _cause(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error or type(error).__name__)


@contextmanager
def _local_trouble_named(path: Path) -> Iterator[None]:
    """Tell a full or read-only disk from a broken connection."""
    try:
        yield
    except OSError as error:
        raise DataError(f"'{path}' cannot be written: {error.strerror or error}.") from None
