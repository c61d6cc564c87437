"""Thresholds that divide the expected class into answers, optimised for a metric."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .aims import Aim, aim_of
from .answer import in_blocks, rounding_of
from .as_cost import class_positions
from .costs import SquaredCost, wide

# The number of possible cuts between examples. With more examples, neighbours share one.
_MOST_CUTS = 1 << 14

# Scores this close count as equal, for scores up to 1.
_ROUNDING = 1e-11

# At most; the ratio stops falling after about four.
_MOST_ROUNDS = 100


@dataclass(frozen=True)
class Thresholds:
    """The result of :func:`fit_thresholds`, for `simloss.decide(p, "mean", thresholds=...)`.

    Attributes:
        values: the C - 1 thresholds that divide the expected class; two equal ones skip the class
            between them.
        metric: the metric they were fitted for.
        higher_is_better: for the metric.
        fitted: its value on the examples they were fitted on, **too good to be true**.
        held_out: its value if each example is answered by thresholds fitted without it.
        rounded: its value on the same examples if the expected class is simply rounded.
    """

    values: tuple[float, ...]
    metric: str
    higher_is_better: bool
    fitted: float
    held_out: float
    rounded: float

    @property
    def gain(self) -> float:
        """How much better than rounding they are on held-out examples; negative if worse."""
        sign = 1 if self.higher_is_better else -1
        return sign * (self.held_out - self.rounded)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "np.ndarray[Any, Any]":
        return np.array(self.values, dtype=dtype or np.float64)


def fit_thresholds(
    probabilities: Any,
    truth: Any,
    metric: str = "quadratic_kappa",
    *,
    positions: Any = None,
    cost: Any = None,
    folds: int = 5,
    seed: int = 0,
) -> Thresholds:
    r"""The thresholds on the expected class that are best for a metric.

    .. math:: \hat c = \#\{c : t_c < \mu\}, \qquad \mu = \sum_k k\, p_k

    For quadratic kappa no other use of calibrated probabilities is better: kappa is
    :math:`1 - A/B` with :math:`A = \sum_n (a_n - y_n)^2` and
    :math:`B = \sum_n (a_n - \bar y)^2 + N \operatorname{var} y`, and the expected A
    depends on the probabilities only through :math:`\mu`.

    The optimum is exact for every metric: the examples are sorted by :math:`\mu`, the best cuts
    between them are found class by class in O(N C), and a ratio such as A/B is lowered by solving
    for :math:`A - \lambda B`, with :math:`\lambda` the best ratio so far, until it stops falling
    (Dinkelbach). With more than 16,384 different :math:`\mu`, neighbours are not separated.

    **Its value on the examples it was fitted on is too good**; `held_out` answers each example with
    thresholds fitted on the other folds, and `gain` compares that with rounding.

    Args:
        probabilities: (..., C), of held-out examples, classes last and in order.
        truth: class indices, (...).
        metric: "quadratic_kappa", "accuracy", "balanced_accuracy", "mae", "mse", "macro_mae",
            "within_1_accuracy" (any number) or "mean_cost".
        positions: the position of each class, (C), for "mae", "mse" and "macro_mae"; pass it to
            :func:`simloss.decide` too.
        cost: for "mean_cost", the cost of each pair, (C, C), row = true class.
        folds: the number of parts to hold out in turn.
        seed: for the folds.

    Example:
        >>> import torch, simloss
        >>> p = torch.tensor([[0.8, 0.2, 0.0], [0.5, 0.3, 0.2], [0.3, 0.3, 0.4], [0.2, 0.3, 0.5]])
        >>> truth = torch.tensor([0, 1, 2, 2])
        >>> found = simloss.fit_thresholds(p.repeat(5, 1), truth.repeat(5))
        >>> found.rounded, found.fitted, found.held_out
        (0.55..., 1.0, 1.0)
        >>> simloss.decide(p, "mean", thresholds=found)
        tensor([0, 1, 2, 2])

    References:
        W. Dinkelbach, On Nonlinear Fractional Programming, Management Science 1967. J. Cohen,
        Weighted kappa, Psychological Bulletin 1968.
    """
    p = _checks.probabilities(probabilities)
    y = _checks.class_indices("truth", truth, p.shape[-1])
    _checks.same_shape("truth", y.shape, "probabilities", p.shape[:-1])
    y = y.reshape(-1).cpu()
    aim = aim_of(metric, p.shape[-1], positions, cost)
    folds = _folds(folds, len(y))
    at = class_positions(positions, p.shape[-1]).to(p.device, wide(p))
    mean, rounding = SquaredCost(at), rounding_of(probabilities)
    scores = in_blocks(lambda block: mean.scores(block, rounding), p).reshape(-1).cpu()  # (M)
    classes = mean.first_class.cpu()  # by rising position

    cuts = best_cuts(scores, y, aim, classes)
    shuffled = np.random.default_rng(_checks.seed("seed", seed)).permutation(len(y))
    fold = torch.from_numpy(shuffled) % folds  # (M), of nearly equal size
    return Thresholds(
        tuple(cuts.tolist()),
        aim.name,
        aim.higher_is_better,
        aim.value(classes[torch.searchsorted(cuts, scores)], y),
        aim.value(held_out_answers(scores, y, aim, classes, fold), y),
        aim.value(classes[torch.searchsorted(mean.thresholds.cpu(), scores)], y),
    )


def held_out_answers(
    scores: Tensor, truth: Tensor, aim: Aim, classes: Tensor, fold: Tensor
) -> Tensor:
    """The answer to each example by cuts fitted on the other folds, (M).

    Args:
        scores: the expected class, (M).
        truth: class indices, (M).
        aim: the metric to optimise.
        classes: by rising position, (C).
        fold: the fold of each example, (M).
    """
    answers = torch.empty_like(truth)
    for part in fold.unique():
        own = fold == part
        cuts = best_cuts(scores[~own], truth[~own], aim, classes)
        answers[own] = classes[torch.searchsorted(cuts, scores[own])]
    return answers


def _folds(folds: int, count: int) -> int:
    folds = _checks.class_count("folds", folds)
    if not 2 <= folds <= count:
        raise ValueError(
            f"`folds` must be from 2 to the number of examples, {count}, but got {folds}."
        )
    return folds


def best_cuts(scores: Tensor, truth: Tensor, aim: Aim, classes: Tensor) -> Tensor:
    """The cuts with the lowest ratio, (C - 1)."""
    edges, counts = _groups(scores, truth, len(classes))
    above, below = (table[:, classes] for table in aim.tables(truth))  # (C, C), answers in order
    totals = counts @ above, counts @ below  # (G, C): what a group adds for each answer
    best = _split(totals[0])
    ratio = _ratio(totals, best)
    for _ in range(_MOST_ROUNDS):
        at = _split(totals[0] - ratio * totals[1])  # (C - 1)
        lower = _ratio(totals, at)
        if not lower < ratio:
            break
        ratio, best = lower, at
    return edges[best]


def _groups(scores: Tensor, truth: Tensor, num_classes: int) -> tuple[Tensor, Tensor]:
    """The cuts between groups of examples, (G + 1), and how many of each class a group has."""
    # Scores that differ only by rounding are equal: no cut may lie between them.
    step = _ROUNDING * max(1.0, float(scores.abs().max()))
    values, group = (scores / step).round().unique(return_inverse=True)
    if len(values) > _MOST_CUTS:
        group = group * _MOST_CUTS // len(values)
    count = int(group.max()) + 1
    lowest = scores.new_full((count,), float("inf")).scatter_reduce(0, group, scores, "amin")
    highest = scores.new_full((count,), -float("inf")).scatter_reduce(0, group, scores, "amax")
    between = highest[:-1] + (lowest[1:] - highest[:-1]) / 2
    between = torch.where(between < lowest[1:], between, highest[:-1])  # neighbours in floats
    ends = scores.new_tensor([float("inf")])
    counts = torch.bincount(group * num_classes + truth, minlength=len(lowest) * num_classes)
    return torch.cat([-ends, between, ends]), counts.reshape(-1, num_classes).double()


def _split(totals: Tensor) -> Tensor:
    """The best split of the groups into the answers 0, ..., C - 1, (C - 1) places in [0, G].

    ``lowest[i]`` is the least that the first i groups add with the answers up to c: what the first
    j add with the answers before c, and the others with c.
    """
    sums = torch.nn.functional.pad(totals.cumsum(0), (0, 0, 1, 0))  # (G + 1, C)
    lowest, begins = sums[:, 0], []
    for column in sums.unbind(1)[1:]:
        best, at = (lowest - column).cummin(0)
        lowest = column + best
        begins.append(at)
    place, places = len(sums) - 1, []
    for at in reversed(begins):
        place = int(at[place])
        places.append(place)
    return torch.tensor(places[::-1], dtype=torch.long)


def _ratio(totals: tuple[Tensor, Tensor], places: Tensor) -> float:
    """The first table over the second, summed over the groups split like this."""
    answers = torch.searchsorted(places, torch.arange(len(totals[0])), right=True).unsqueeze(1)
    above, below = (table.gather(1, answers).sum() for table in totals)
    return float(above / below)
