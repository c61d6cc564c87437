"""Any folder of images with one folder per class, and any table that names images."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import torch
from torch import Tensor

from .._disk import expanded
from .archive import source
from .class_order import class_order as order_of
from .content import check_content
from .dataset import Dataset
from .duplicates import groups
from .errors import DataError
from .faces import existing_path
from .images import UNREADABLE, Cache, Images, LeftOut, images
from .rows import rows
from .source import Folder, Listed, Progress, Source
from .split import PARTS, split
from .table import superclasses
from .table_file import column, read_table
from .target import class_notes, refuse_two_spellings
from .target import target as classes_of

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".jfif")
# Reported if they are left out, because users count on them.
_OTHER_IMAGES = (".gif", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".svg", ".dng", ".raw")

_PART_NAMES = {
    "train": "train",
    "training": "train",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "dev": "validation",
    "test": "test",
    "testing": "test",
}
# The message if these parts are missing.
_STAND_INS = {
    ("validation",): "a fifth of train is used as validation",
    ("test",): "val is used as test, and a fifth of train as validation",
    ("validation", "test"): (
        "a fifth of train is used as validation, and a fifth of the rest as test"
    ),
}
# Deep enough for train/kingdom/.../species/photo.jpg.
_DEPTH = 12


def image_folder(
    path: str | os.PathLike[str],
    *,
    size: int = 64,
    class_order: Sequence[str] | None = None,
    skip_unreadable: bool = False,
    content: str | None = None,
    cache: Cache = None,
    progress: Progress | None = None,
) -> Dataset:
    """A folder, or an archive of one, in which each class has a folder with its images.

    `train`, `val` and `test` at the top fix the parts. If `val` is missing, a fifth of the
    training images replaces it; if `test` is missing, `val` replaces it. Nested folders,
    `animal/bird/robin`, make a tree of the classes; a class beside them is a child of the root.

    Args:
        path: the folder or archive.
        size: height and width in pixels to which the images are scaled.
        class_order: all classes in order, if their names do not show it.
        skip_unreadable: leave out files that are named like images but are not, instead of
            refusing the folder; `notes["left_out"]` counts them.
        content: the digest the folder must have, so that a run resumes only on the same data.
        cache: the folder for decoded images; None for `$SIMLOSS_CACHE` or
            `~/.cache/simloss`, False to keep nothing.
        progress: called with the bytes read so far and the total number of bytes.

    Example:
        >>> image_folder("flowers").class_names  # doctest: +SKIP
        ('rose', 'tulip', 'violet')
    """
    found = existing_path(path, "pass the path of a folder with one folder of images per class")
    check_content(found, content)
    pictures = images(
        _source(found),
        name="folder",
        row_name=_row_name,
        rules=f"folders of images, one per class ({', '.join(IMAGE_ENDINGS)})",
        size=size,
        cache=cache,
        progress=progress,
    )
    _check_readable(found, pictures, skip_unreadable)
    names = _without_common_folder([PurePosixPath(name).parent.parts for name in pictures.names])
    part_of, classes = _parts_and_classes(found, names)
    names_of = _short(classes)
    if class_order is None:
        refuse_two_spellings(f"'{found}'", names_of.values())
    order = order_of([names_of[each] for each in classes], class_order)
    if len(order.names) < 2:
        raise DataError(
            f"'{found}' must hold a folder of images for each of at least two classes, "
            f"but it holds only {order.names[0]!r}."
        )
    place = {name: i for i, name in enumerate(order.names)}
    labels = torch.tensor([place[names_of[each]] for each in classes])
    made = Dataset(
        name=found.name.split(".")[0] or "images",
        inputs=pictures.pixels,
        labels=labels,
        class_names=order.names,
        superclasses=_superclasses(names_of, order.names),
        groups=groups(len(labels), pictures.first_equal),
        notes={**class_notes(order, labels), **_about(pictures)},
    )
    return made if part_of is None else _with_parts(made, part_of)


def image_table(
    path: str | os.PathLike[str],
    *,
    target: str,
    image_column: str,
    size: int = 64,
    class_order: Sequence[str] | None = None,
    bins: int | None = None,
    superclass: str | None = None,
    skip_unreadable: bool = False,
    content: str | None = None,
    cache: Cache = None,
    progress: Progress | None = None,
) -> Dataset:
    """A table with one image per row: `image_column` holds paths, relative to the table.

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
    pictures = listed_images(found, names, size, cache=cache, progress=progress)
    _check_readable(found, pictures, skip_unreadable)
    at = {name: row for row, name in enumerate(pictures.names)}
    kept = torch.tensor([i for i, name in enumerate(names) if name in at])
    picked = torch.tensor([at[name] for name in names if name in at])
    same = groups(len(at), pictures.first_equal)
    return Dataset(
        name=found.name.split(".")[0],
        inputs=rows(pictures.pixels, picked),
        labels=classes.labels[kept],
        class_names=classes.order.names,
        superclasses=superclasses(frame, found, superclass, classes),
        groups=same[picked],
        notes={**classes.notes, **_without_image(int((~has_image).sum())), **_about(pictures)},
    )


def listed_images(
    path: Path,
    names: Sequence[str],
    size: int,
    *,
    cache: Cache = None,
    progress: Progress | None = None,
) -> Images:
    """The images that a table names, by paths relative to it."""
    return images(
        Listed(path, path.parent, names),
        name="listed",
        row_name=lambda name: name,
        rules="names of images",
        size=size,
        cache=cache,
        progress=progress,
    )


def loose_images(path: Path, size: int) -> Images:
    """Every image in a folder or archive, whatever the folders mean; nothing is cached."""
    return images(
        _source(path),
        name="loose",
        row_name=lambda name: name if _is_image(name) else _other_format(name),
        rules=f"images ({', '.join(IMAGE_ENDINGS)})",
        size=size,
        cache=False,
    )


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


def _without_common_folder(names: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The names without common folders that are not a class, such as those of an archive."""
    while len(first := {name[0] for name in names}) == 1 and min(map(len, names)) > 1:
        if next(iter(first)).lower() in _PART_NAMES:
            break
        names = [name[1:] for name in names]
    return names


Folders = list[tuple[str, ...]]


def _parts_and_classes(path: Path, names: Folders) -> tuple[list[str] | None, Folders]:
    """The part of each image if the folders at the top are parts, and the folders below."""
    top = [_PART_NAMES.get(name[0].lower()) for name in names]
    if len(set(top) - {None}) > 1:
        _check_parts(path, top, names)
    elif not all(top) or "train" not in top:
        return None, names  # a class may be called "test"
    if min(map(len, names)) < 2:
        raise DataError(
            f"'{path}' must hold the classes as folders in train, val and test, "
            f"but there are images beside them."
        )
    return [part or "" for part in top], [name[1:] for name in names]


def _check_parts(path: Path, top: list[str | None], names: Folders) -> None:
    """Two or more parts are not classes: train must exist, and nothing else beside them."""
    odd = next((name[0] for name, part in zip(names, top, strict=True) if part is None), None)
    if odd is not None:
        raise DataError(
            f"'{path}' must hold only train, val and test if these are its folders, "
            f"but it also holds {odd!r}; move it elsewhere."
        )
    if "train" not in top:
        both = " and ".join(dict.fromkeys(name[0] for name in names))
        raise DataError(
            f"'{path}' must hold train if {both} are its folders, but it does not; "
            f"add it, or pass the path of one of them."
        )


def _short(classes: Folders) -> dict[tuple[str, ...], str]:
    """The name of each class: its own folder, or the whole path if that is not unique."""
    distinct = list(dict.fromkeys(classes))
    last = [each[-1] for each in distinct]
    is_unique = len(set(last)) == len(last)
    return {each: each[-1] if is_unique else "/".join(each) for each in distinct}


def _superclasses(
    names_of: dict[tuple[str, ...], str], order: tuple[str, ...]
) -> tuple[str, ...] | None:
    """The folders above each class; a class at the top is its own superclass."""
    above = {name: "/".join(path[:-1]) for path, name in names_of.items()}
    found = tuple(above[name] or name for name in order)
    # With classes at the top, folders that hold one class each are not a tree, only deep.
    is_tree = all(above.values()) or len(set(found)) < len(found)
    return found if is_tree and len(set(found)) > 1 else None


def _with_parts(dataset: Dataset, part_of: list[str]) -> Dataset:
    """The data set with the parts its folders name, and missing parts made from the others."""
    indices = {
        name: torch.tensor([i for i, part in enumerate(part_of) if part == name]) for name in PARTS
    }
    lacking = [name for name in PARTS[1:] if not len(indices[name])]
    notes = {"parts": _STAND_INS[tuple(lacking)]} if lacking else {}
    if lacking == ["test"]:
        indices["test"], indices["validation"] = indices["validation"], indices["test"]
        lacking = ["validation"]
    for name in lacking:
        indices["train"], indices[name] = _fifth(dataset, indices["train"])
    return replace(dataset, parts=indices, notes=dataset.notes | notes)


def _fifth(dataset: Dataset, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Four fifths and one fifth of some examples, stratified by class, duplicates together."""
    assert dataset.groups is not None
    some = replace(
        dataset,
        inputs=torch.empty(len(indices)),
        labels=dataset.labels[indices],
        groups=dataset.groups[indices],
    )
    parts = split(some, shares=(0.8, 0.1, 0.1), stratify=True, keep_groups_together=True)
    rest = torch.cat([parts["validation"], parts["test"]]).sort().values
    return indices[parts["train"]], indices[rest]
