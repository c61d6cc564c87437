"""CIFAR-100 (Krizhevsky, 2009)."""

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import torch
from torch import Tensor

from .. import _checks
from .._disk import expanded
from .cifar100_files import read_files
from .dataset import Dataset
from .download import download as download_file
from .duplicates import first_equal, groups
from .errors import DataError, MissingDataError
from .image_cache import cache_folder
from .rows import rows
from .source import Progress
from .split import indices_by_label

PAPER_DROPS = ("aquarium_fish", "keyboard", "pickup_truck", "sweet_pepper")
"""The four classes that the paper leaves out because they lack a word vector."""

ARCHIVE = "cifar-100-binary.tar.gz"
ADDRESS = f"https://www.cs.toronto.edu/~kriz/{ARCHIVE}"
MD5 = "03b5dce01913d631647c71ecec9e9cb8"

# What the given folder may hold; the first that exists is read.
_PLACES = (".", "cifar-100-binary", ARCHIVE, "cifar-100-python", "cifar-100-python.tar.gz")


def cifar100(
    path: str | os.PathLike[str] | None = None,
    *,
    drop: Sequence[str] = PAPER_DROPS,
    validation: float = 0.1,
    seed: int = 0,
    download: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """The objects of CIFAR-100, 32 x 32 pixels, in the paper's 96 classes with superclasses.

    Its parts are fixed: "test" is the official one, "validation" is drawn by `seed` from each
    class of the official training images, "train" is the rest: 450, 50 and 100 images per class.

    Args:
        path: the official archive (cifar-100-binary.tar.gz, or cifar-100-python.tar.gz, which is
            read without running any code in it), the folder it unpacks to, or a folder that
            holds either. None for the cache folder, where downloads go.
        drop: names of classes to leave out; `()` keeps all 100.
        validation: the share of each class's training images that becomes the validation part.
        seed: for drawing that share.
        download: download the archive (161 MB) if it does not exist.
        progress: called with the bytes downloaded so far and the total number of bytes.

    Example:
        >>> cifar100("cifar-100-binary.tar.gz")  # doctest: +SKIP
        Dataset(CIFAR-100: 57,600 examples of 3 x 32 x 32, 96 classes)
    """
    validation = _checks.fraction("validation", validation)
    files = read_files(_place(path, download, progress))
    kept = _kept_classes(files.fine_names, drop)
    class_of = torch.full((len(files.fine_names),), -1)
    class_of[kept] = torch.arange(len(kept))
    stays = (class_of[files.fine] >= 0).nonzero().flatten()
    images, labels = rows(files.images, stays), class_of[files.fine[stays]]
    parts = _parts(labels, int((stays < files.num_train).sum()), validation, seed)
    repeated = first_equal(images.numpy())
    superclasses = files.superclasses()
    return Dataset(
        name="CIFAR-100",
        inputs=images,
        labels=labels,
        class_names=tuple(files.fine_names[at] for at in kept),
        superclasses=tuple(superclasses[at] for at in kept),
        groups=groups(len(labels), repeated),
        parts=parts,
        notes={
            "images": len(labels),
            "dropped_classes": sorted(set(drop)),
            "validation_seed": seed,
            "duplicates": len(repeated),
            "test_images_also_in_training": _across(parts["test"], repeated),
        },
    )


def _place(path: str | os.PathLike[str] | None, download: bool, progress: Progress | None) -> Path:
    """The archive, or the folder that holds the files; downloaded if requested."""
    named = cache_folder() if path is None else expanded(path)
    for place in (named / place for place in _PLACES):
        if place.is_file() or (place / "train.bin").is_file() or (place / "meta").is_file():
            return place
    is_archive = named.name.endswith(".gz")
    if download:
        target = named if is_archive else named / ARCHIVE
        return download_file(ADDRESS, target, md5=MD5, progress=progress)
    if named.is_dir() and path is not None:
        return named  # the reader reports what is missing there
    raise MissingDataError(
        f"CIFAR-100 was not found at '{named}': download {ADDRESS} and pass its "
        f"path, or pass download=True (simloss reproduce cifar100 --download)."
    )


def _kept_classes(names: tuple[str, ...], drop: Sequence[str]) -> list[int]:
    """Indices of the classes that are not dropped, in order."""
    if isinstance(drop, str):
        raise TypeError(f"`drop` must be a list of class names, but got {drop!r}.")
    for name in drop:
        if name not in names:
            near = get_close_matches(str(name), names, n=1, cutoff=0.0)
            raise DataError(
                f"`drop` must name classes of CIFAR-100, but got {name!r}; the closest is "
                f"{near[0]!r}."
            )
    kept = [at for at, name in enumerate(names) if name not in drop]
    if len(kept) < 2:
        raise DataError(f"`drop` must leave at least two classes, but it leaves {len(kept)}.")
    return kept


def _parts(labels: Tensor, num_train: int, validation: float, seed: int) -> dict[str, Tensor]:
    """The official test images, and the share `validation` of each class of the others."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.zeros(len(labels), dtype=torch.bool)
    for of_class in indices_by_label(labels[:num_train]):
        drawn = torch.randperm(len(of_class), generator=generator)
        chosen[of_class[drawn[: round(validation * len(of_class))]]] = True
    is_train = torch.arange(len(labels)) < num_train
    masks = {"train": is_train & ~chosen, "validation": chosen, "test": ~is_train}
    parts = {name: mask.nonzero().flatten() for name, mask in masks.items()}
    for name, indices in parts.items():
        if len(indices) == 0:
            raise DataError(f"The {name} part of CIFAR-100 is empty; change `validation`.")
    return parts


def _across(test: Tensor, repeated: dict[int, int]) -> int:
    """How many test images equal a training image pixel for pixel; training images come first."""
    first_test = int(test[0])
    return sum(row >= first_test > first for row, first in repeated.items())
