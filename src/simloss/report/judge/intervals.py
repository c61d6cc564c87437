"""Intervals for figures: of differences paired by seed, as the verdict has them."""

import math

from ...statistics import resampled_comparison
from .results import BySeed

Interval = tuple[float, float]


def intervals(baseline: BySeed | None, rows: list[BySeed], test_to_train: float) -> list[Interval]:
    """The 95 % interval in which each row's mean lies, as the figures draw it.

    With a baseline it is the baseline's mean plus the interval of the paired difference: one that
    does not touch the baseline's line differs from it. Seeds vary together, so an interval of the
    mean by itself would be far too wide for that. (NaN, NaN) where fewer than two runs are shared.
    """
    return [_interval(baseline, row, test_to_train) for row in rows]


def _interval(baseline: BySeed | None, row: BySeed, test_to_train: float) -> Interval:
    alone = baseline is None or row is baseline
    against = dict.fromkeys(row, 0.0) if alone else baseline
    assert against is not None
    seeds = sorted(row.keys() & against.keys())
    if len(seeds) < 2:
        return (math.nan, math.nan)
    found = resampled_comparison(
        [against[seed] for seed in seeds],
        [row[seed] for seed in seeds],
        higher_is_better=True,
        test_to_train=test_to_train,
    )
    start = math.fsum(against.values()) / len(against)
    return (start + found.interval[0], start + found.interval[1])
