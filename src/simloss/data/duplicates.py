"""Images and rows that occur more than once, pixel for pixel, cell for cell."""

import hashlib
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor


def first_equal(images: Any) -> dict[int, int]:
    """Row -> the first row with the same bytes, for rows that repeat an earlier one.

    Example:
        >>> import numpy as np
        >>> first_equal(np.array([[1, 2], [3, 4], [1, 2]], dtype=np.uint8))
        {2: 0}
    """
    return repeated(hashlib.sha256(image.tobytes()).digest() for image in images)


def repeated(digests: Iterable[Any]) -> dict[int, int]:
    """Row -> the first row with the same digest, for rows that are not the first of their kind."""
    seen: dict[Any, int] = {}
    found: dict[int, int] = {}
    for row, digest in enumerate(digests):
        first = seen.setdefault(digest, row)
        if first != row:
            found[row] = first
    return found


def groups(count: int, first_equal: dict[int, int]) -> Tensor:
    """One number per row, equal for rows that are equal, (N).

    Example:
        >>> groups(4, {2: 0})
        tensor([0, 1, 0, 3])
    """
    group = torch.arange(count)
    for row, first in first_equal.items():
        group[row] = first
    return group
