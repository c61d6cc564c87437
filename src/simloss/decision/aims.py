"""Metrics to optimise: those that are one sum over examples divided by another."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .as_cost import class_positions, cost_matrix

Tables = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Aim:
    """A metric as the ratio of two sums over examples; lower is better.

    Attributes:
        name: its name in :mod:`simloss.metrics`.
        higher_is_better: whether the metric is 1 minus the ratio; else it is the ratio.
        costs: the cost of each answer, (C, C), row = true class.
        pooled: (costs, examples of each class, (C)) -> what an example adds to either sum, (C, C).
    """

    name: str
    higher_is_better: bool
    costs: Tensor
    pooled: Callable[[Tensor, Tensor], Tables]

    def tables(self, truth: Tensor) -> Tables:
        """What an example of class k answered c adds to the sums, if these are all examples."""
        return self.pooled(self.costs, torch.bincount(truth, minlength=len(self.costs)))

    def value(self, answers: Tensor, truth: Tensor) -> float:
        """The metric."""
        above, below = (table[truth, answers].sum() for table in self.tables(truth))
        ratio = float(above / below)
        return 1 - ratio if self.higher_is_better else ratio


def _mean(costs: Tensor, counts: Tensor) -> Tables:
    return costs, torch.ones_like(costs)


def _mean_over_classes(costs: Tensor, counts: Tensor) -> Tables:
    weights = 1 / counts.clamp(min=1).to(costs).unsqueeze(1)  # (C, 1)
    return costs * weights, weights.expand_as(costs)


def _beyond_chance(costs: Tensor, counts: Tensor) -> Tables:
    """Squared errors, divided by those of shuffled answers."""
    classes, shares = torch.arange(len(costs)).to(costs), counts.to(costs) / counts.sum()
    mean = classes @ shares
    variance = (classes - mean).square() @ shares
    if variance == 0:  # one class only: no agreement by chance
        return _mean(costs, counts)
    return costs, ((classes - mean).square() + variance).expand_as(costs)


# Name -> whether higher is better, the cost of a distance, and how the costs are pooled.
_OF_DISTANCE: dict[str, tuple[bool, Callable[[Tensor], Tensor], Callable[..., Tables]]] = {
    "quadratic_kappa": (True, torch.square, _beyond_chance),
    "accuracy": (True, torch.sign, _mean),
    "balanced_accuracy": (True, torch.sign, _mean_over_classes),
    "mae": (False, torch.abs, _mean),
    "mse": (False, torch.square, _mean),
    "macro_mae": (False, torch.abs, _mean_over_classes),
}
BY_POSITION = ("mae", "mse", "macro_mae")
_WITHIN = re.compile(r"within_(\d{1,9})_accuracy")


def aim_of(metric: str, num_classes: int, positions: Any, cost: Any) -> Aim:
    """The metric with this name, for this many classes."""
    if positions is not None and metric not in BY_POSITION:
        raise ValueError(
            f"`positions` must be used with a metric of distances, {', '.join(BY_POSITION)}, "
            f"but got {metric!r}."
        )
    if (cost is not None) != (metric == "mean_cost"):
        raise ValueError(f"`cost` must be used with the metric 'mean_cost', but got {metric!r}.")
    if metric == "mean_cost":
        return Aim(metric, False, cost_matrix(cost, num_classes).cpu().double(), _mean)
    at = class_positions(positions, num_classes).cpu().double()
    distances = (at - at.unsqueeze(1)).abs()  # (C, C)
    if within := _WITHIN.fullmatch(str(metric)):
        return Aim(metric, True, (distances > int(within[1])).double(), _mean)
    known = (*_OF_DISTANCE, "within_1_accuracy", "mean_cost")
    higher_is_better, of_distance, pooled = _OF_DISTANCE.get(metric) or _unknown(metric, known)
    return Aim(metric, higher_is_better, of_distance(distances), pooled)


def _unknown(metric: str, known: tuple[str, ...]) -> Any:
    remedy = _checks.nearest_spelling(str(metric), known)
    raise ValueError(
        f"`metric` must be one that thresholds can be fitted for, but got {metric!r}{remedy}; "
        f"they are {', '.join(known)}."
    )
