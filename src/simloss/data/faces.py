"""Faces whose class is an age: shared by UTKFace and AFAD."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from .._disk import expanded
from .dataset import Dataset
from .duplicates import groups
from .errors import MissingDataError
from .images import Images


def existing_path(path: str | os.PathLike[str] | None, remedy: str) -> Path:
    """`path`, if it exists; otherwise an error that ends with `remedy`."""
    if path is None:
        raise MissingDataError(f"`path` (of a command, --data) must be given: {remedy}.")
    found = expanded(path)
    if not found.exists():
        raise MissingDataError(f"Nothing was found at '{found}': {remedy}.")
    return found


def face_dataset(
    name: str, images: Images, ages: Sequence[int], classes: Sequence[int], notes: dict[str, Any]
) -> Dataset:
    """A data set with one age per image; `classes` are the ages that occur, in order."""
    class_of = {age: at for at, age in enumerate(classes)}
    other_age = sum(ages[row] != ages[first] for row, first in images.first_equal.items())
    return Dataset(
        name=name,
        inputs=images.inputs,
        labels=torch.tensor([class_of[age] for age in ages]),
        class_names=tuple(str(age) for age in classes),
        groups=groups(len(ages), images.first_equal),
        notes={
            "unit": "years",
            "images": len(ages),
            "left_out": images.left_out,
            "duplicates": len(images.first_equal),
            "duplicates_of_another_age": other_age,
            "cache": images.cache,
            **notes,
        },
    )
