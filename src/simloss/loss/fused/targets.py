"""The targets of a batch, in parts: class indices, or how much each class counts in a row."""

from typing import NamedTuple

import torch
from torch import Tensor

from ..problem import Problem
from .parts import classes_last, places


class Targets(NamedTuple):
    """What each of M rows is measured against, and what it weighs.

    Attributes:
        y: class indices, (M), 0 where a row does not count; or None.
        probabilities: class probabilities, (N, C) or (N, L, C); or None.
        weight: of each class, (C), or None; with indices and no smoothing it is in `rows`.
        smoothing: the share of the uniform distribution.
        counts: whether a row counts, (M); None if all do.
        rows: what a row weighs in the sum, (M); None if each weighs 1.
        divisor: what the sum is divided by for the mean.
    """

    y: Tensor | None
    probabilities: Tensor | None
    weight: Tensor | None
    smoothing: float
    counts: Tensor | None
    rows: Tensor | None
    divisor: Tensor | float

    def part(self, where: slice | Tensor, dtype: torch.dtype, num_classes: int) -> Tensor:
        """Class indices (m), or how much each class counts, (m, C), of some rows."""
        if self.y is not None and not self.smoothing:
            return self.y if _is_all(where, self.y) else self.y[where]
        uniform = self.smoothing / num_classes
        if self.y is None:
            assert self.probabilities is not None
            t = _rows(self.probabilities, where).to(dtype) * (1 - self.smoothing) + uniform
            return t if self.weight is None else t * self.weight
        y = self.y[where].unsqueeze(1)
        t = torch.full((y.shape[0], num_classes), uniform, dtype=dtype, device=y.device)
        t.scatter_add_(1, y, t.new_full((1, 1), 1 - self.smoothing).expand_as(y))
        return t if self.weight is None else t.mul_(self.weight)


def targets_of(problem: Problem) -> Targets:
    """The targets of a problem; where values can be read, only what there is to weigh."""
    weight = None if problem.weight is None else problem.weight.to(problem.dtype)
    example = problem.example_weight
    example = None if example is None else example.to(problem.dtype)
    smoothing = problem.label_smoothing
    if not problem.has_indices:
        given = classes_last(problem.target)
        divisor = float(given.shape[:-1].numel()) if example is None else example.sum()
        return Targets(None, given, weight, smoothing, None, example, divisor)
    y = problem.target
    if y.ndim != 1 or y.dtype != torch.long:
        y = y.reshape(-1).long()
    counts = None if problem.all_count() else y != problem.ignore_index
    if counts is not None:
        y = torch.where(counts, y, 0)
    rows = example if weight is None else _times(weight[y], example)
    if counts is not None:
        rows = counts.to(problem.dtype) if rows is None else torch.where(counts, rows, 0.0)
    divisor = float(y.numel()) if rows is None else _not_zero(rows.sum())
    if not smoothing:
        return Targets(y, None, None, 0.0, counts, rows, divisor)
    # The weight of the classes is in what each class counts, so a row itself weighs the rest.
    rows = None if counts is None else counts.to(problem.dtype)
    return Targets(y, None, weight, smoothing, counts, _times(rows, example), divisor)


def _is_all(where: slice | Tensor, of: Tensor) -> bool:
    return isinstance(where, slice) and where.start == 0 and where.stop >= of.shape[0]


def _not_zero(divisor: Tensor) -> Tensor:
    """NaN where nothing counts, as in torch."""
    return torch.where(divisor == 0, float("nan"), divisor)


def _times(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    return a * b


def _rows(view: Tensor, where: slice | Tensor) -> Tensor:
    """Some rows of a view (N, C) or (N, L, C), (m, C)."""
    if view.ndim == 2:
        return view[where]
    if isinstance(where, slice):
        where = torch.arange(where.start, where.stop, device=view.device)
    return view[places(view, where)]
