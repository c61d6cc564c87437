"""Folders whose names are classes, in the parts train, val and test or not."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import torch
from torch import Tensor

from .class_order import class_order as order_of
from .dataset import Dataset
from .errors import DataError
from .split import PARTS, split
from .target import class_notes, refuse_two_spellings

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


def dataset_of_folders(
    path: Path,
    files: Sequence[str],
    class_order: Sequence[str] | None,
    *,
    what: str,
    groups: Tensor,
    notes: dict[str, Any],
    **inputs: Any,
) -> Dataset:
    """The data set of files by their names below `path`: their folders are their classes.

    `what` the files are goes into errors; `inputs` are the fields of the data set that hold them.
    """
    names = _without_common_folder([PurePosixPath(name).parent.parts for name in files])
    part_of, classes = _parts_and_classes(path, names, what)
    names_of = _short(classes)
    if class_order is None:
        refuse_two_spellings(f"'{path}'", names_of.values())
    order = order_of([names_of[each] for each in classes], class_order)
    if len(order.names) < 2:
        raise DataError(
            f"'{path}' must hold a folder of {what} for each of at least two classes, "
            f"but it holds only {order.names[0]!r}."
        )
    place = {name: i for i, name in enumerate(order.names)}
    labels = torch.tensor([place[names_of[each]] for each in classes])
    made = Dataset(
        name=path.name.split(".")[0] or what,
        labels=labels,
        class_names=order.names,
        superclasses=_superclasses(names_of, order.names),
        groups=groups,
        notes={**class_notes(order, labels), **notes},
        **inputs,
    )
    return made if part_of is None else _with_parts(made, part_of)


def _without_common_folder(names: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The names without common folders that are not a class, such as those of an archive."""
    while len(first := {name[0] for name in names}) == 1 and min(map(len, names)) > 1:
        if next(iter(first)).lower() in _PART_NAMES:
            break
        names = [name[1:] for name in names]
    return names


Folders = list[tuple[str, ...]]


def _parts_and_classes(path: Path, names: Folders, what: str) -> tuple[list[str] | None, Folders]:
    """The part of each file if the folders at the top are parts, and the folders below."""
    top = [_PART_NAMES.get(name[0].lower()) for name in names]
    if len(set(top) - {None}) > 1:
        _check_parts(path, top, names)
    elif not all(top) or "train" not in top:
        return None, names  # a class may be called "test"
    if min(map(len, names)) < 2:
        raise DataError(
            f"'{path}' must hold the classes as folders in train, val and test, "
            f"but there are {what} beside them."
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
        texts=None,
        labels=dataset.labels[indices],
        groups=dataset.groups[indices],
    )
    parts = split(some, shares=(0.8, 0.1, 0.1), stratify=True, keep_groups_together=True)
    rest = torch.cat([parts["validation"], parts["test"]]).sort().values
    return indices[parts["train"]], indices[rest]
