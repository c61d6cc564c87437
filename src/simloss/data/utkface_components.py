"""UTKFace as principal components, to train small nets without images."""

import os
from dataclasses import replace

from .. import _checks
from .components import averaged
from .dataset import Dataset
from .images import Cache
from .utkface import utkface

_SIZE = 60


def utkface_components(
    path: str | os.PathLike[str] | None = None,
    *,
    components: int = 120,
    size: int = 20,
    cache: Cache = None,
) -> Dataset:
    """UTKFace as a table: each face is its first principal components, fitted after the split.

    The cached images of 60 x 60 are averaged to `size` x `size`; the principal directions come
    from the training part only (:class:`simloss.data.Components`), so no test image has a say.

    Args:
        path: as for :func:`simloss.data.utkface`.
        components: the number of components.
        size: a divisor of 60; three colours of 20 x 20 are 1,200 numbers per face.
        cache: as for :func:`simloss.data.utkface`.

    Example:
        >>> utkface_components("UTKFace.tar.gz")  # doctest: +SKIP
        Dataset(UTKFace as 120 components: 23,621 examples of 1200, 90 classes)
    """
    faces = utkface(path, size=_SIZE, cache=cache)
    return replace(
        faces,
        name=f"UTKFace as {components} components",
        inputs=averaged(faces.inputs, size),
        components=_checks.class_count("components", components),
    )
