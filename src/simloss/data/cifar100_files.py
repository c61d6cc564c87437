"""The files of CIFAR-100, in either of their two official formats."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from .archive import source
from .cifar100_pickle import read_pickle
from .errors import DataError

_BINARY = ("train.bin", "test.bin", "fine_label_names.txt", "coarse_label_names.txt")
_PYTHON = ("train", "test", "meta")
_KINDS = ("fine", "coarse")
_PIXELS = 3 * 32 * 32
_RECORD = 2 + _PIXELS  # coarse label, fine label, image

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Cifar100Files:
    """The content of the files.

    Attributes:
        images: uint8, (N, 3, 32, 32), the training images first.
        fine: (N).
        coarse: (N).
        num_train: how many of the images are training images.
        fine_names: in the order of the labels.
        coarse_names: in the order of the labels.
    """

    images: Tensor
    fine: Tensor
    coarse: Tensor
    num_train: int
    fine_names: tuple[str, ...]
    coarse_names: tuple[str, ...]

    def superclasses(self) -> tuple[str, ...]:
        """The name of the superclass of each fine class that has images, '' for others."""
        pairs = (self.fine * len(self.coarse_names) + self.coarse).unique().tolist()
        names = [""] * len(self.fine_names)
        for fine, coarse in (divmod(pair, len(self.coarse_names)) for pair in pairs):
            if names[fine]:
                raise DataError(
                    f"CIFAR-100's class {self.fine_names[fine]!r} must have one superclass, but "
                    f"its images have {names[fine]!r} and {self.coarse_names[coarse]!r}."
                )
            names[fine] = self.coarse_names[coarse]
        return tuple(names)


def read_files(path: Path) -> Cifar100Files:
    """The binary files in the folder or archive at `path`, or the python ones."""
    wanted = {*_BINARY, *_PYTHON}
    found: dict[str, bytes] = {}
    for member in source(path).members():
        name = PurePosixPath(member.name).name
        if name in wanted:
            found[name] = member.read()
    if found.keys() >= set(_BINARY):
        return _from_binary(path, found)
    if found.keys() >= set(_PYTHON):
        return _from_python(path, found)
    missing = [name for name in _BINARY if name not in found]
    raise DataError(
        f"'{path}' must hold the files of cifar-100-binary, but {_listed(missing)} missing."
    )


def _from_binary(path: Path, found: dict[str, bytes]) -> Cifar100Files:
    records = [_records(path, name, found[name]) for name in ("train.bin", "test.bin")]
    together = np.concatenate(records)
    names = (found[name].decode(errors="replace").split() for name in _BINARY[2:])
    return _checked(path, len(records[0]), together[:, 2:], together[:, 1], together[:, 0], *names)


def _records(path: Path, name: str, data: bytes) -> Bytes:
    if len(data) % _RECORD or not data:
        raise DataError(
            f"'{name}' in '{path}' must hold records of {_RECORD:,} bytes, but it has "
            f"{len(data):,} bytes; it is incomplete: download it again."
        )
    return np.frombuffer(data, np.uint8).reshape(-1, _RECORD)


def _from_python(path: Path, found: dict[str, bytes]) -> Cifar100Files:
    train, test, meta = (read_pickle(name, found[name]) for name in _PYTHON)
    try:
        parts = [_unpacked(part) for part in (train, test)]
        images, fine, coarse = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        names = ([name.decode() for name in meta[f"{kind}_label_names"]] for kind in _KINDS)
        return _checked(path, len(parts[0][0]), images, fine, coarse, *names)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"'{path}' does not have the content of cifar-100-python ({error!r}); "
            f"pass cifar-100-binary.tar.gz instead."
        ) from None


def _unpacked(part: dict[str, Any]) -> tuple[Bytes, Bytes, Bytes]:
    fine, coarse = (np.array(part[f"{kind}_labels"], np.uint8) for kind in _KINDS)
    return part["data"].reshape(len(fine), _PIXELS), fine, coarse


def _checked(
    path: Path,
    num_train: int,
    images: Bytes,
    fine: Bytes,
    coarse: Bytes,
    fine_names: list[str],
    coarse_names: list[str],
) -> Cifar100Files:
    for kind, labels, names in (("fine", fine, fine_names), ("coarse", coarse, coarse_names)):
        if len(labels) != len(images):
            raise DataError(
                f"'{path}' must have a {kind} label for every image, but there are "
                f"{len(labels):,} labels and {len(images):,} images."
            )
        if labels.max() >= len(names):
            raise DataError(
                f"'{path}' must have a name for every {kind} label, but there are {len(names)} "
                f"names and a label {labels.max()}."
            )
    return Cifar100Files(
        images=torch.from_numpy(np.ascontiguousarray(images)).view(-1, 3, 32, 32),
        fine=torch.from_numpy(fine.astype(np.int64)),
        coarse=torch.from_numpy(coarse.astype(np.int64)),
        num_train=num_train,
        fine_names=tuple(fine_names),
        coarse_names=tuple(coarse_names),
    )


def _listed(names: list[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"{quoted} {'is' if len(names) == 1 else 'are'}"
