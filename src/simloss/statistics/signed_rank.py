"""The signed-rank statistic of Wilcoxon's test, exact also with ties."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _checks

Array = NDArray[np.float64]

# Up to this many sign patterns, all are tried; beyond, this many are drawn. 2^14: 14 runs.
PATTERNS = 1 << 14

# Differences this close, relative to the values, are tied: they differ only by rounding.
_ROUNDING = 1e-12


def steps(baseline: Array, treatment: Array, higher_is_better: bool) -> Array:
    """By how much the treatment is better in each run, (n) or (n, R), in steps of rounding.

    Whole numbers, so that differences that agree up to rounding are equal. The step is that of
    the treatment with the smallest values: the others still differ beside one that diverged.
    """
    better = treatment - baseline if higher_is_better else baseline - treatment
    sizes = np.maximum(np.abs(baseline).max(), np.abs(treatment).max(0))  # () or (R)
    step = _ROUNDING * np.min(sizes, where=sizes > 0, initial=np.inf)
    return np.asarray(np.round(better / step))


def chosen(totals: Array, runs: int) -> NDArray[np.intp]:
    """The first treatment whose total over the runs is largest up to rounding, (..., R) -> (...).

    Rounding changes each run by at most one step.
    """
    return np.asarray((totals >= totals.max(-1, keepdims=True) - runs).argmax(-1))


def signed_ranks(better: Array) -> Array:
    """Each run's rank by the size of its difference, with its sign, (n, ...); 0 for no difference.

    Runs without a difference are left out of the ranking (Wilcoxon's own rule); equal sizes share
    the mean of their ranks.
    """
    stats = _checks.installed("scipy.stats", "cli")
    sizes = np.where(better == 0, np.nan, np.abs(better))
    ranks = stats.rankdata(sizes, axis=0, nan_policy="omit")
    return np.asarray(np.where(better == 0, 0.0, np.sign(better) * ranks))


def rank_biserial(better: Array) -> float:
    """Matched-pairs rank-biserial correlation of one treatment, from -1 to 1.

    The rank sum of the runs where it is better, minus that where it is worse, over their total; 1
    means better in every run. It is 0 if no run differs.
    """
    ranks = signed_ranks(better)
    total = np.abs(ranks).sum()
    return float(ranks.sum() / total) if total else 0.0


def p_value(better: Array) -> float:
    """Two-sided Wilcoxon signed-rank p of one treatment, (n); 1 if no run differs."""
    differing = better[better != 0]
    if not len(differing):
        return 1.0
    if 1 << len(differing) > PATTERNS:  # random patterns: p also depends on the order of the runs
        return _wilcoxon(differing)
    ranks = signed_ranks(differing)
    key = (*np.sort(np.abs(ranks)).tolist(), abs(float(ranks.sum())))
    if key not in _known_p:
        _known_p[key] = _wilcoxon(differing)
    return _known_p[key]


# The ranks and the size of their signed sum -> p, which depends on nothing else. Thousands of
# comparisons share the same few values.
_known_p: dict[tuple[float, ...], float] = {}


def _wilcoxon(differing: Array) -> float:
    stats = _checks.installed("scipy.stats", "cli")
    has_ties = len(np.unique(np.abs(differing))) < len(differing)
    if has_ties:  # scipy's exact table does not cover ties
        return _flipped(differing[:, None], differing[:, None])
    return float(stats.wilcoxon(differing, method="exact").pvalue)


def p_value_of_best(chosen_by: Array, better: Array) -> float:
    """Two-sided p of the best of several treatments, including the choice.

    Args:
        chosen_by: by how much each is better on validation data, (n, R): the one with the largest
            mean is chosen.
        better: by how much each is better on test data, (n, R).

    If nothing helped, all differences of a run could as well have the other sign. So the signs
    of whole runs are flipped in all 2^n ways; each time the choice is repeated and its signed-rank
    sum computed. p is the share of ways at least as extreme as the actual one. With one treatment
    this is Wilcoxon's test.
    """
    return _flipped(chosen_by, better)


def _flipped(chosen_by: Array, better: Array) -> float:
    if len(better) == 1:
        return 1.0  # either sign is equally extreme
    stats = _checks.installed("scipy.stats", "cli")
    ranks = signed_ranks(better)  # (n, R)

    def statistic(signs: Array, axis: int) -> Any:
        signs = np.moveaxis(signs, axis, -1)  # (..., n)
        best = chosen(signs @ chosen_by, len(better))  # (...)
        return np.take_along_axis(signs @ ranks, best[..., None], -1)[..., 0]

    return float(
        stats.permutation_test(
            (np.ones(len(better)),),
            statistic,
            permutation_type="samples",
            vectorized=True,
            n_resamples=PATTERNS,
            batch=1 << 10,
            rng=np.random.default_rng(0),
        ).pvalue
    )
