"""Classes in an order: the further apart, the less alike."""

from collections.abc import Sequence

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .powers import PowerSimilarity


class OrderSimilarity(PowerSimilarity):
    """r^|i - j|."""

    structure = "order"

    def _distance(self, target: Tensor) -> Tensor:
        return (self._all_classes() - target.unsqueeze(-1)).abs()  # (*, C)

    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        # Two geometric series that share the diagonal: r^0 + ... + r^y and r^0 + ... + r^(C-1-y).
        r = self.tensors["r"].to(self._wide())
        left, right = target + 1, self.num_classes - target
        sums = (1 - r.pow(left)) / (1 - r) + (1 - r.pow(right)) / (1 - r) - 1
        return sums.to(dtype)


def order(num_classes: int, r: float, *, names: Sequence[str] | None = None) -> Similarity:
    r"""Similarity of ordered classes: ages, grades, ratings, bins of a number.

    .. math:: S_{ij} = r^{|i - j|}, \qquad 0^0 = 1

    Equation 2 of the paper. `r` = 0 is the identity and so cross entropy; the closer to 1, the
    more a near miss counts as right. The proper loss is proper with it. It stores one number,
    however many classes there are.

    Args:
        num_classes: C; the classes are 0, ..., C - 1 **in their order**.
        r: the reduction factor, in [0, 1).
        names: one name per class.

    Example:
        >>> order(3, r=0.5).to_dense()
        tensor([[1.0000, 0.5000, 0.2500],
                [0.5000, 1.0000, 0.5000],
                [0.2500, 0.5000, 1.0000]])
    """
    num_classes = _checks.class_count("num_classes", num_classes)
    r = _checks.fraction("r", r)
    names = _checks.class_names(names, num_classes)
    return OrderSimilarity(num_classes, {"r": torch.tensor(r, dtype=torch.float64)}, names=names)


def identity(num_classes: int, *, names: Sequence[str] | None = None) -> Similarity:
    r"""No two classes are alike: every loss becomes plain cross entropy.

    .. math:: S_{ij} = [i = j]

    Example:
        >>> identity(2).to_dense()
        tensor([[1., 0.],
                [0., 1.]])
    """
    return order(num_classes, 0.0, names=names)
