"""One treatment against the baseline, run by run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from .. import _checks
from .signed_rank import Array, p_value, rank_biserial, steps

# What the paper and its marks call significant.
LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """What :func:`paired_comparison` finds.

    Attributes:
        runs: the number of pairs.
        higher_is_better: which way is up.
        baseline: the mean of the baseline.
        treatment: the mean of the treatment.
        difference: treatment - baseline.
        interval: the 95 % bootstrap interval of `difference`; NaN with one run or if not drawn.
        effect_size: matched-pairs rank-biserial correlation, **positive where the treatment is
            better**: 1 says in every run, -1 in none.
        p_value: two-sided, of this comparison alone.
        adjusted_p_value: after Holm's correction for all comparisons made.
        comparisons: how many those are.
    """

    runs: int
    higher_is_better: bool
    baseline: float
    treatment: float
    difference: float
    interval: tuple[float, float]
    effect_size: float
    p_value: float
    adjusted_p_value: float
    comparisons: int = 1

    @property
    def is_better(self) -> bool:
        """Whether the treatment is better on average, by however little."""
        return self.difference > 0 if self.higher_is_better else self.difference < 0

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p is at most 5 %."""
        return self.adjusted_p_value <= LEVEL

    @property
    def mark(self) -> str:
        """The paper's mark: "+" significantly better, "-" significantly worse, "" neither.

        Where the mean and the ranks point in different ways there is no mark.
        """
        if not self.is_significant or not self.difference:
            return ""
        if self.is_better != (self.effect_size > 0):
            return ""
        return "+" if self.is_better else "-"


def paired_comparison(
    baseline: Sequence[float] | Any,
    treatment: Sequence[float] | Any,
    *,
    higher_is_better: bool,
    interval: bool = True,
) -> Comparison:
    """Whether a treatment differs from the baseline, over runs paired by their seed.

    Wilcoxon's signed-rank test, two-sided and exact: with tied differences too, by trying all
    patterns of signs (from 15 runs on, 16,384 drawn ones). Runs without a difference are left out
    of it. The interval is scipy's bias-corrected bootstrap of the mean difference, always drawn
    from the same seed. Differences that agree but for rounding are equal.

    Runs that share one split of the data tell of the noise of training only; draw a new split for
    every seed to say something about the method.

    Args:
        baseline: one value a run.
        treatment: one value a run, **the same runs in the same order**.
        higher_is_better: of the metric.
        interval: whether to draw the bootstrap interval, the slow part; else it is NaN.

    Example:
        >>> from simloss import statistics
        >>> cross_entropy = [7.4, 7.3, 7.5, 7.6, 7.2, 7.4]
        >>> simloss = [7.0, 7.1, 7.2, 7.1, 7.1, 7.2]
        >>> found = statistics.paired_comparison(cross_entropy, simloss, higher_is_better=False)
        >>> found.p_value, found.mark, round(found.difference, 3), found.effect_size
        (0.03125, '+', -0.283, 1.0)
    """
    first, second = paired_values(baseline, treatment)
    p = p_value(steps(first, second, higher_is_better))
    return comparison_of(first, second, higher_is_better, p, interval)


def comparison_of(
    baseline: Array, treatment: Array, higher_is_better: bool, p: float, interval: bool = True
) -> Comparison:
    """Everything about a pair of runs whose p is known."""
    better = steps(baseline, treatment, higher_is_better)
    change = np.where(better == 0, 0.0, treatment - baseline)
    is_constant = bool((better == better[0]).all())
    return Comparison(
        runs=len(baseline),
        higher_is_better=bool(higher_is_better),
        baseline=float(baseline.mean()),
        treatment=float(treatment.mean()),
        difference=float(change.mean()),
        interval=_interval(change, is_constant) if interval else (math.nan, math.nan),
        effect_size=rank_biserial(better),
        p_value=p,
        adjusted_p_value=p,
    )


def paired_values(baseline: Any, treatment: Any) -> tuple[Array, Array]:
    """Two checked arrays of one value a run, (n)."""
    first, second = values("baseline", baseline), values("treatment", treatment)
    if len(first) != len(second):
        raise ValueError(
            f"`treatment` must have the same runs as `baseline`, but got {len(second)} "
            f"and {len(first)}; leave out the runs that either lacks."
        )
    return first, second


def values(name: str, given: Any) -> Array:
    """One finite value a run, (n)."""
    if isinstance(given, Tensor):
        given = given.detach().cpu().double()
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"`{name}` must be one number a run, but got {given!r}.") from None
    if array.ndim != 1 or not len(array):
        raise ValueError(
            f"`{name}` must be one number a run, at least one, but got shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"`{name}` must be finite, but got {array[~np.isfinite(array)][0]}; "
            f"leave out the runs that failed, in the baseline and in every treatment."
        )
    return array


def _interval(change: Array, is_constant: bool) -> tuple[float, float]:
    if len(change) == 1:
        return (math.nan, math.nan)
    if is_constant:
        return (float(change[0]), float(change[0]))
    stats = _checks.installed("scipy.stats", "cli")
    found = stats.bootstrap((change,), np.mean, rng=np.random.default_rng(0)).confidence_interval
    return (float(found.low), float(found.high))
