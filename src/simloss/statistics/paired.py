"""One treatment against the baseline, run by run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from .. import _checks
from .signed_rank import Array, p_value, rank_biserial, steps

# The level of significance of the paper and its marks.
LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """The result of :func:`paired_comparison`.

    Attributes:
        runs: the number of pairs.
        wins: in how many of them the treatment is better.
        higher_is_better: which way is better.
        baseline: the mean of the baseline.
        treatment: the mean of the treatment.
        difference: treatment - baseline.
        interval: the 95 % interval of `difference`; NaN with one run or if not drawn.
        effect_size: matched-pairs rank-biserial correlation, **positive if the treatment is
            better**: 1 if in every run, -1 if in none.
        p_value: two-sided, for this comparison alone.
        adjusted_p_value: after Holm's correction for all comparisons made.
        comparisons: the number of comparisons.
    """

    runs: int
    wins: int
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
        """Whether the treatment is better on average, by any amount."""
        return self.difference > 0 if self.higher_is_better else self.difference < 0

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p is at most 5 %."""
        return self.adjusted_p_value <= LEVEL

    @property
    def mark(self) -> str:
        """The paper's mark: "+" significantly better, "-" significantly worse, "" neither.

        If the mean and the ranks point in different directions, there is no mark.
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

    Wilcoxon's signed-rank test, two-sided and exact, also for tied differences: it tries all
    patterns of signs (from 15 runs on, 16,384 random ones). Runs without a difference are left
    out. The interval is scipy's bias-corrected bootstrap of the mean difference, always with the
    same seed. Differences that agree up to rounding count as equal.

    Runs are taken to be independent, which runs on splits of one data set are not:
    :func:`resampled_comparison` is for those. Runs that share one split tell of the noise of
    training only.

    Args:
        baseline: one value per run.
        treatment: one value per run, **the same runs in the same order**.
        higher_is_better: for the metric.
        interval: whether to compute the bootstrap interval, the slow part; else it is NaN.

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
    """The comparison of two sets of runs whose p is known."""
    better = steps(baseline, treatment, higher_is_better)
    change = np.where(better == 0, 0.0, treatment - baseline)
    is_constant = bool((better == better[0]).all())
    return Comparison(
        runs=len(baseline),
        wins=int((better > 0).sum()),
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
    """Two checked arrays of one value per run, (n)."""
    first, second = values("baseline", baseline), values("treatment", treatment)
    if len(first) != len(second):
        raise ValueError(
            f"`treatment` must have the same runs as `baseline`, but got {len(second)} "
            f"and {len(first)}; leave out runs that either lacks."
        )
    return first, second


def values(name: str, given: Any) -> Array:
    """One finite value per run, (n)."""
    if isinstance(given, Tensor):
        given = given.detach().cpu().double()
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"`{name}` must be one number per run, but got {given!r}.") from None
    if array.ndim != 1 or not len(array):
        raise ValueError(
            f"`{name}` must be one number per run, at least one, but got shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"`{name}` must be finite, but got {array[~np.isfinite(array)][0]}; "
            f"leave out failed runs, in the baseline and in every treatment."
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
