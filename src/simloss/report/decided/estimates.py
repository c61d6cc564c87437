"""Means over examples, with intervals."""

import math
from dataclasses import dataclass

from torch import Tensor

from ... import _checks

_LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over examples, with its 95 % interval by Student's t."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Tensor, scale: float = 1.0) -> "Estimate":
        """The mean of one number per example, (N), each divided by `scale`."""
        stats = _checks.installed("scipy.stats", "cli")
        if scale == 0:
            return cls(math.nan, math.nan, math.nan)
        mean, count = float(values.mean()), len(values)
        error = float(values.std()) / math.sqrt(count) if count > 1 else math.nan
        reach = float(stats.t.ppf((1 + _LEVEL) / 2, max(1, count - 1))) * error
        return cls(mean / scale, (mean - reach) / scale, (mean + reach) / scale)


def change(costs: Tensor, baseline: Tensor) -> Estimate:
    """How much more the first costs than the second on the same examples, as a share of it."""
    return Estimate.of(costs - baseline, float(baseline.mean()))
