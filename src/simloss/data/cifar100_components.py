"""CIFAR-100 as principal components, to train small nets without images."""

import os
from dataclasses import replace

from .. import _checks
from .cifar100 import cifar100
from .components import averaged
from .dataset import Dataset


def cifar100_components(
    path: str | os.PathLike[str] | None = None, *, components: int = 120, size: int = 16
) -> Dataset:
    """CIFAR-100 as a table, in the paper's 96 classes: each image is its principal components.

    Like :func:`simloss.data.utkface_components` for faces. All images form one pool, split anew
    for every seed: the official test part says little about how much results depend on the split.

    Args:
        path: as for :func:`simloss.data.cifar100`.
        components: the number of components.
        size: a divisor of 32.

    Example:
        >>> cifar100_components("cifar-100-binary.tar.gz")  # doctest: +SKIP
        Dataset(CIFAR-100 as 120 components: 57,600 examples of 768, 96 classes)
    """
    objects = cifar100(path)
    return replace(
        objects,
        name=f"CIFAR-100 as {components} components",
        inputs=averaged(objects.inputs, size),
        parts=None,
        components=_checks.class_count("components", components),
    )
