"""Classes in a circle: hours, weekdays, months, directions."""

from collections.abc import Sequence

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .powers import PowerSimilarity


class CircularSimilarity(PowerSimilarity):
    """Powers of one number, as in an order, but the last class is next to the first."""

    structure = "circular"

    def _distance(self, target: Tensor) -> Tensor:
        distance = (self._all_classes() - target.unsqueeze(-1)).abs()
        return torch.minimum(distance, self.num_classes - distance)  # (*, C)

    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        # Every row holds the same numbers, in a different order.
        one = self._similarities(self._all_classes()[:1], self._wide()).sum()
        return one.expand(target.shape).to(dtype)


def circular(num_classes: int, r: float, *, names: Sequence[str] | None = None) -> Similarity:
    r"""Similarity of classes in a circle: hours, weekdays, months, compass directions.

    .. math:: S_{ij} = r^{\min(|i - j|,\; C - |i - j|)}, \qquad 0^0 = 1

    Like :func:`order`, but 23 o'clock is next to 0 o'clock. It stores one number.

    Args:
        num_classes: C; the classes are 0, ..., C - 1 in their order around the circle.
        r: the reduction factor, in [0, 1).
        names: one name per class.

    Example:
        >>> circular(4, r=0.5).to_dense()
        tensor([[1.0000, 0.5000, 0.2500, 0.5000],
                [0.5000, 1.0000, 0.5000, 0.2500],
                [0.2500, 0.5000, 1.0000, 0.5000],
                [0.5000, 0.2500, 0.5000, 1.0000]])
    """
    num_classes = _checks.class_count("num_classes", num_classes)
    r = _checks.fraction("r", r)
    names = _checks.class_names(names, num_classes)
    return CircularSimilarity(num_classes, {"r": torch.tensor(r, dtype=torch.float64)}, names=names)
