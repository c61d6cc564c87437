"""UTKFace (Zhang, Song and Qi, CVPR 2017)."""

import os
import re
from pathlib import PurePosixPath

from .archive import source
from .dataset import Dataset
from .faces import existing_path, face_dataset
from .images import Cache, LeftOut, images
from .source import Progress

_AGES = range(1, 91)
_NAME = re.compile(r"([0-9]+)_.*\.jpe?g", re.IGNORECASE)
# Age, gender, race, date; three of the official names lack one of the middle two.
_FULL_NAME = re.compile(r"[0-9]+_[0-9]_[0-9]_[0-9]+.*")


def utkface(
    path: str | os.PathLike[str] | None = None,
    *,
    size: int = 60,
    cache: Cache = None,
    progress: Progress | None = None,
) -> Dataset:
    """The faces aged 1 to 90 of UTKFace; the class is the age, 90 ordered classes.

    The age is in the file name, `age_gender_race_date.jpg.chip.jpg`. Gender, race and date
    are not used, so a name may lack one; a name without an age is left out and counted.
    Some pictures occur more than once, pixel for pixel: `groups` says which, so that
    `split(..., keep_groups_together=True)` can keep them on one side.

    Args:
        path: the official archive (UTKFace.tar.gz), another archive of the same files, or the
            folder it was unpacked to.
        size: height and width in pixels to which the images are scaled.
        cache: the folder for decoded images; None for `$SIMLOSS_CACHE` or
            `~/.cache/simloss`, False to keep nothing.
        progress: called with the bytes read so far and the total number of bytes, while images
            are decoded.

    Example:
        >>> utkface("UTKFace.tar.gz")  # doctest: +SKIP
        Dataset(UTKFace: 23,621 examples of 3 x 60 x 60, 90 classes)
    """
    found = existing_path(
        path,
        "ask for UTKFace at https://susanqq.github.io/UTKFace/ and pass the path of its "
        "archive UTKFace.tar.gz or of the folder it unpacks to",
    )
    faces = images(
        source(found),
        name="utkface",
        row_name=_row_name,
        rules="images named age_gender_race_date.jpg of ages 1 to 90",
        size=size,
        cache=cache,
        progress=progress,
    )
    ages = [int(name.partition("_")[0]) for name in faces.names]
    incomplete = [name for name in faces.names if not _FULL_NAME.fullmatch(name)]
    notes = {"incomplete_names": {"count": len(incomplete), "names": incomplete[:10]}}
    return face_dataset("UTKFace", faces, ages, _AGES, notes)


def _row_name(file_name: str) -> str | LeftOut | None:
    """The name without its folder, so that the same picture counts only once.

    Example:
        >>> _row_name("UTKFace/26_1_2_20170116.jpg.chip.jpg")
        '26_1_2_20170116.jpg.chip.jpg'
        >>> _row_name("UTKFace/101_1_2_20170112.jpg.chip.jpg")
        'age not from 1 to 90'
    """
    name = PurePosixPath(file_name).name
    if name.startswith(".") or not name.lower().endswith((".jpg", ".jpeg")):
        return None
    match = _NAME.fullmatch(name)
    if match is None:
        return LeftOut("no age in the name")
    return name if int(match[1]) in _AGES else LeftOut("age not from 1 to 90")
