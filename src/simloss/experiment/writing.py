"""A file is written whole or not at all; where it cannot be, one sentence says so."""

import os
from pathlib import Path
from typing import NoReturn

from .._disk import whole_file

_RECORDED = ("records.jsonl", "search.json")


class RunFolderError(ValueError):
    """A run folder that cannot be used, said in one sentence."""


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary name, sync, rename: the file is there whole or not at all."""
    try:
        with whole_file(path) as file:
            file.write(content)
    except OSError as error:
        cannot_write(path, error)


def cannot_write(path: Path, error: OSError) -> NoReturn:
    """Say what is wrong, and in a run folder with records that they are not lost."""
    places = [folder / name for folder in (path, *path.parents[:2]) for name in _RECORDED]
    recorded = any(os.path.exists(each) for each in places)
    safe = "; what was recorded before is safe, and --resume continues from there"
    raise RunFolderError(
        f"'{path}' cannot be written: {error.strerror or error}{safe if recorded else ''}."
    ) from error
