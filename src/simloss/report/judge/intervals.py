"""Bootstrap intervals for figures: many at once, of differences paired by seed."""

import math

import numpy as np
from numpy.typing import NDArray

from ... import _checks
from .results import BySeed

Interval = tuple[float, float]

_RESAMPLES = 2000
# Numbers a resampling holds at once.
_ENTRIES = 20_000_000


def intervals(baseline: BySeed | None, rows: list[BySeed]) -> list[Interval]:
    """The 95 % interval in which each row's mean lies, as the figures draw it.

    With a baseline it is the baseline's mean plus the interval of the paired difference: one that
    does not touch the baseline's line differs from it. Seeds vary together, so an interval of the
    mean by itself would be far too wide for that. (NaN, NaN) where fewer than two runs are shared.
    """
    samples = [_differences(baseline, row) for row in rows]
    found: list[Interval] = [(math.nan, math.nan)] * len(rows)
    for size in {len(sample) for sample in samples if len(sample) > 1}:
        places = [i for i, sample in enumerate(samples) if len(sample) == size]
        lows, highs = _of_means(np.array([samples[i] for i in places]))
        for i, low, high in zip(places, lows, highs, strict=True):
            start = _start(baseline, rows[i])
            found[i] = (start + float(low), start + float(high))
    return found


def _differences(baseline: BySeed | None, row: BySeed) -> list[float]:
    if baseline is None or row is baseline:
        return [row[seed] for seed in sorted(row)]
    return [row[seed] - baseline[seed] for seed in sorted(row.keys() & baseline.keys())]


def _start(baseline: BySeed | None, row: BySeed) -> float:
    """Where the differences are counted from: the mean of the baseline."""
    if baseline is None or row is baseline:
        return 0.0
    return math.fsum(baseline.values()) / len(baseline)


def _of_means(samples: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of the interval of each row's mean, (T, n) -> (T) and (T)."""
    stats = _checks.installed("scipy.stats", "cli")
    found = stats.bootstrap(
        (samples,),
        np.mean,
        axis=-1,
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=max(1, _ENTRIES // samples.size),
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return found.low, found.high
