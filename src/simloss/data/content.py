"""Whether a file or folder is unchanged since a run was started with it."""

import hashlib
from pathlib import Path

from .._disk import regular_file
from .errors import DataError
from .source import Folder


def content_of(path: Path, depth: int = 12) -> str:
    """A digest of a file's bytes, or of the names and sizes of a folder's files."""
    if path.is_dir():
        return hashlib.sha256(Folder(path, depth).listing()).hexdigest()[:16]
    with regular_file(path, follow_links=True) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def check_content(path: Path, content: str | None) -> None:
    """Refuse a file or folder that differs from the one a configuration was made for."""
    if content is not None and content_of(path) != content:
        raise DataError(
            f"'{path}' must be the data that the run was started with, but its content has "
            f"changed; start a new run with --out."
        )
