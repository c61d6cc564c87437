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
    """By how much the treatment is better in each run, (n), in steps of rounding.

    Whole numbers, so that differences that agree up to rounding are equal.
    """
    better = treatment - baseline if higher_is_better else baseline - treatment
    size = max(np.abs(baseline).max(), np.abs(treatment).max())
    return np.asarray(np.round(better / (_ROUNDING * size))) if size else np.zeros_like(better)


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
        return _flipped(differing) if len(differing) > 1 else 1.0
    return float(stats.wilcoxon(differing, method="exact").pvalue)


def _flipped(better: Array) -> float:
    """Two-sided p by flipping signs in all 2^n ways: the share at least as extreme as seen."""
    stats = _checks.installed("scipy.stats", "cli")
    ranks = signed_ranks(better)  # (n)

    def statistic(signs: Array, axis: int) -> Any:
        return np.moveaxis(signs, axis, -1) @ ranks

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
