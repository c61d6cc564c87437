"""AFAD, the Asian Face Age Dataset (Niu et al., CVPR 2016)."""

import os
import re
from itertools import product
from pathlib import Path, PurePosixPath
from string import ascii_lowercase

from .archive import Tar, source
from .dataset import Dataset
from .errors import DataError
from .faces import existing_path, face_dataset
from .images import Cache, LeftOut, images
from .source import Progress, Source

_PAPER_CLASSES = 61
_PART = re.compile(r"(.+\.tar\.(?:xz|gz|bz2)\.?)([a-z]{2})")
_SUFFIXES = tuple("".join(letters) for letters in product(ascii_lowercase, repeat=2))


def afad(
    path: str | os.PathLike[str] | None = None,
    *,
    size: int = 60,
    cache: Cache = None,
    progress: Progress | None = None,
) -> Dataset:
    """The faces of AFAD; the class is the age, 61 ordered classes in the paper.

    The classes are the ages that occur, in order; `notes` says if there are not 61 of them, or if
    an age between the first and the last is missing.

    Args:
        path: the folder with the parts (`AFAD-Full.tar.xzaa`, ...) or the first part, which are
            read one after the other without joining them; the joined archive; or the unpacked
            folder, `<age>/<gender>/<name>.jpg`.
        size: height and width in pixels to which the images are scaled.
        cache: the folder for decoded images; None for `$SIMLOSS_CACHE` or
            `~/.cache/simloss`, False to keep nothing.
        progress: called with the bytes read so far and the total number of bytes, while images
            are decoded.

    Example:
        >>> afad("AFAD-Full").class_names[0]  # doctest: +SKIP
        '15'
    """
    found = existing_path(
        path,
        "fetch the parts of AFAD-Full from https://github.com/afad-dataset/tarball and pass "
        "the path of the folder that holds them",
    )
    faces = images(
        _source(found),
        name="afad",
        row_name=_row_name,
        rules="images in folders <age>/<gender>",
        size=size,
        cache=cache,
        progress=progress,
    )
    ages = [int(name.partition("/")[0]) for name in faces.names]
    classes = sorted(set(ages))
    return face_dataset("AFAD", faces, ages, classes, _class_notes(classes))


def _source(path: Path) -> Source:
    """The parts, if `path` is one of them or holds them; else the archive or folder itself."""
    if path.is_dir():
        parts = sorted(file for file in path.iterdir() if _PART.fullmatch(file.name))
        return Tar(path, _complete(parts)) if parts else source(path)
    match = _PART.fullmatch(path.name)
    if match is None:
        return source(path)
    siblings = (path.with_name(match[1] + suffix) for suffix in _SUFFIXES)
    return Tar(path, _complete([part for part in siblings if part.exists()]))


def _complete(parts: list[Path]) -> list[Path]:
    """`parts`, if they are parts aa, ab, ac, ... of one archive."""
    stem = parts[0].name[:-2]
    for part, suffix in zip(parts, _SUFFIXES, strict=False):
        if part.name[:-2] != stem:
            raise DataError(
                f"'{part.parent}' must hold parts of one archive, but it holds '{parts[0].name}' "
                f"and '{part.name}'; pass the path of the first part of one."
            )
        if part.name != stem + suffix:
            raise DataError(
                f"'{part.parent}' must hold every part of the archive, "
                f"but '{stem}{suffix}' is missing."
            )
    return parts


def _row_name(file_name: str) -> str | LeftOut | None:
    """Age, gender and name.

    Example:
        >>> _row_name("AFAD-Full/18/111/109-0.jpg")
        '18/111/109-0.jpg'
    """
    parts = PurePosixPath(file_name).parts[-3:] or ("",)
    if parts[-1].startswith(".") or not parts[-1].lower().endswith((".jpg", ".jpeg")):
        return None
    if len(parts) < 3 or re.fullmatch("[0-9]{1,3}", parts[0]) is None:
        return LeftOut("not in a folder <age>/<gender>")
    return "/".join(parts)


def _class_notes(classes: list[int]) -> dict[str, str]:
    notes = {}
    if len(classes) != _PAPER_CLASSES:
        notes["classes"] = f"{len(classes)} ages were found; the paper has {_PAPER_CLASSES}"
    missing = sorted(set(range(classes[0], classes[-1] + 1)) - set(classes))
    if missing:
        ages = ", ".join(str(age) for age in missing)
        notes["missing_ages"] = f"no image of age {ages}: their neighbours count as one class apart"
    return notes
