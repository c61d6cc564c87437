"""Any folder of images with one folder per class, and any table that names images."""

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from statistics import median_low
from typing import Any

import torch

from .._disk import expanded
from .archive import source
from .class_folders import dataset_of_folders
from .content import check_content
from .dataset import Dataset
from .decode import native_size
from .duplicates import groups
from .encoders.encode import Tell
from .encoders.pictures import encoded_images
from .errors import DataError
from .faces import existing_path
from .image_cache import Index
from .images import UNREADABLE, Cache, Images, LeftOut, RowName, images, wanted_files
from .rows import rows
from .source import Folder, Listed, Progress, Source
from .table import superclasses
from .table_file import column, notes_on_rows, read_table
from .target import target as classes_of

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".jfif")
# Reported if they are left out, because users count on them.
_OTHER_IMAGES = (".gif", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".svg", ".dng", ".raw")

# The image size to train on, unless the images are smaller or the user says so.
_MOST_PIXELS = 64
_LOOKED_AT = 64  # images, to find their size
# Deep enough for train/kingdom/.../species/photo.jpg.
_DEPTH = 12


def image_folder(
    path: str | os.PathLike[str],
    *,
    size: int | None = None,
    class_order: Sequence[str] | None = None,
    skip_unreadable: bool = False,
    content: str | None = None,
    encoder: str | None = None,
    cache: Cache = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Dataset:
    """A folder, or an archive of one, in which each class has a folder with its images.

    `train`, `val` and `test` at the top fix the parts. If `val` is missing, a fifth of the
    training images replaces it; if `test` is missing, `val` replaces it. Nested folders,
    `animal/bird/robin`, make a tree of the classes; a class beside them is a child of the root.

    Args:
        path: the folder or archive.
        size: height and width in pixels to which the images are scaled; by default that of a
            typical image, at most 64. With an encoder, the maximum of a side.
        class_order: all classes in order, if their names do not show it.
        skip_unreadable: leave out files that are named like images but are not, instead of
            refusing the folder; `notes["left_out"]` counts them.
        content: the digest the folder must have, so that a run resumes only on the same data.
        encoder: turns images into features: `hf:NAME-OR-FOLDER` for a Hugging Face model, or
            your own `module:callable`, from a list of RGB images of Pillow to an array (N, D).
            It gets them at their own size, reduced only above 512 pixels.
        cache: the folder for decoded or encoded images; None for `$SIMLOSS_CACHE` or
            `~/.cache/simloss`, False to keep nothing.
        progress: called with the bytes read so far and the total number of bytes.
        tell: called with lines on how long encoding takes.

    Example:
        >>> image_folder("flowers").class_names  # doctest: +SKIP
        ('rose', 'tulip', 'violet')
    """
    found = existing_path(path, "pass the path of a folder with one folder of images per class")
    check_content(found, content)
    pictures = _read(
        _source(found),
        encoder,
        name="folder",
        row_name=_row_name,
        rules=f"folders of images, one per class ({', '.join(IMAGE_ENDINGS)})",
        size=size,
        cache=cache,
        progress=progress,
        tell=tell,
    )
    _check_readable(found, pictures, skip_unreadable)
    return dataset_of_folders(
        found,
        pictures.names,
        class_order,
        what="images",
        groups=groups(len(pictures.names), pictures.first_equal),
        notes=_about(pictures),
        inputs=pictures.inputs,
    )


def image_table(
    path: str | os.PathLike[str],
    *,
    target: str,
    image_column: str,
    size: int | None = None,
    class_order: Sequence[str] | None = None,
    bins: int | None = None,
    superclass: str | None = None,
    skip_unreadable: bool = False,
    content: str | None = None,
    encoder: str | None = None,
    cache: Cache = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Dataset:
    """A table with one image per row: `image_column` holds paths, relative to the table.

    They lead into the table's folder, past no link, or are absolute.

    Arguments as for :func:`simloss.data.table` and :func:`image_folder`.

    Example:
        >>> image_table("faces.csv", target="age", image_column="file")  # doctest: +SKIP
        Dataset(faces: 400 examples of 3 x 64 x 64, 70 classes)
    """
    found = expanded(path)
    frame = read_table(found, (target, image_column, *([superclass] if superclass else [])))
    check_content(found, content)
    cells = column(frame, target, "target", found)
    has_image = column(frame, image_column, "image_column", found).notna()
    frame = frame[has_image]
    classes = classes_of(target, cells[has_image], class_names=class_order, bins=bins)
    frame = frame.iloc[classes.rows]
    names = [str(name) for name in frame[image_column]]
    pictures = listed_images(found, names, size, encoder, cache=cache, progress=progress, tell=tell)
    _check_readable(found, pictures, skip_unreadable)
    at = {name: row for row, name in enumerate(pictures.names)}
    kept = torch.tensor([i for i, name in enumerate(names) if name in at])
    picked = torch.tensor([at[name] for name in names if name in at])
    same = groups(len(at), pictures.first_equal)
    return Dataset(
        name=found.name.split(".")[0],
        inputs=rows(pictures.inputs, picked),
        labels=classes.labels[kept],
        class_names=classes.order.names,
        superclasses=superclasses(frame, found, superclass, classes),
        groups=same[picked],
        notes={
            **classes.notes,
            **notes_on_rows(frame),
            **_without_image(int((~has_image).sum())),
            **_about(pictures),
        },
    )


def listed_images(
    path: Path,
    names: Sequence[str],
    size: int | None,
    encoder: str | None = None,
    *,
    cache: Cache = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Images:
    """The images that a table names, by paths relative to it."""
    return _read(
        Listed(path, path.parent, names),
        encoder,
        name="listed",
        row_name=lambda name: name,
        rules="names of images",
        size=size,
        cache=cache,
        progress=progress,
        tell=tell,
    )


def loose_images(
    path: Path, size: int | None, encoder: str | None = None, tell: Tell | None = None
) -> Images:
    """Every image in a folder or archive, whatever the folders mean; nothing is cached."""
    return _read(
        _source(path),
        encoder,
        name="loose",
        row_name=lambda name: name if _is_image(name) else _other_format(name),
        rules=f"images ({', '.join(IMAGE_ENDINGS)})",
        size=size,
        cache=False,
        tell=tell,
    )


def _read(
    source: Source,
    encoder: str | None,
    *,
    name: str,
    row_name: RowName,
    rules: str,
    size: int | None,
    cache: Cache,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Images:
    """The images as pixels of one size, or as features of an encoder."""
    how: dict[str, Any] = {"row_name": row_name, "rules": rules, "cache": cache}
    if encoder is not None:
        return encoded_images(source, encoder, size=size, tell=tell, **how)
    size = _size_of_most(source, row_name) if size is None else size
    return images(source, name=name, size=size, progress=progress, **how)


def _size_of_most(source: Source, row_name: RowName) -> int:
    """The longer side of a typical image, so that images are not enlarged needlessly."""
    first = islice(wanted_files(source, row_name, Index()), _LOOKED_AT)
    sizes = [size for _, file in first if (size := native_size(file.read()))]
    return min(_MOST_PIXELS, median_low(sizes)) if sizes else _MOST_PIXELS


def _source(path: Path) -> Source:
    return Folder(path, _DEPTH) if path.is_dir() else source(path)


def _is_image(name: str) -> bool:
    return name.lower().endswith(IMAGE_ENDINGS) and not PurePosixPath(name).name.startswith(".")


def _other_format(name: str) -> LeftOut | None:
    if not name.lower().endswith(_OTHER_IMAGES) or PurePosixPath(name).name.startswith("."):
        return None
    return LeftOut("an unknown format; save them as .png or .jpg")


def _row_name(name: str) -> str | LeftOut | None:
    if not _is_image(name):
        return _other_format(name)
    return name if "/" in name else LeftOut("not in the folder of a class")


def _check_readable(path: Path, pictures: Images, skip: bool) -> None:
    unreadable = pictures.left_out.get(UNREADABLE)
    if unreadable and not skip:
        count = unreadable["count"]
        more = f" and {count - 1:,} more" if count > 1 else ""
        raise DataError(
            f"'{path}' holds a file that cannot be read as an image: {unreadable['names'][0]}"
            f"{more}; repair or remove it, or leave such files out with --skip-unreadable."
        )


def _about(pictures: Images) -> dict[str, object]:
    return {"left_out": pictures.left_out} if pictures.left_out else {}


def _without_image(count: int) -> dict[str, object]:
    return {"rows_without_image": count} if count else {}
