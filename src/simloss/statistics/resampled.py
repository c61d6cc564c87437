"""Runs on splits of one data set: they share examples, so they count for less than their number."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _checks
from .paired import LEVEL, Comparison, comparison_of, paired_values
from .signed_rank import Array, steps

# Test examples for each training example, as a split has them by default: 20 % and 60 %.
TEST_TO_TRAIN = 1 / 3
# Of Nadeau and Bengio's correction. With the whole of it, the verdict on data sets without any
# effect errs in less than 1 %, with none in up to 30 %, with half in 2 to 4 %: docs/verdict.md.
_TAKEN = 0.5
_MOST_RUNS = 100


def resampled_comparison(
    baseline: Any, treatment: Any, *, higher_is_better: bool, test_to_train: float = TEST_TO_TRAIN
) -> Comparison:
    r"""Whether a treatment differs from the baseline, over runs that each split one data set anew.

    .. math::

        t = \frac{\bar d}{s \sqrt{\frac1n + \frac12 \frac{n_{test}}{n_{train}}}}

    with d the paired differences of n runs and s their standard deviation. Student's t with n - 1
    degrees of freedom gives p and the interval. Without the second term it is the paired t-test,
    which takes runs that share their examples for independent ones and errs the more, the more
    runs there are. With it the interval does not shrink to nothing however many runs are added: one
    data set can tell only so much. Nadeau and Bengio (2003) add twice as much; half of it is what
    a simulation of the whole verdict asks for (docs/verdict.md).

    Args:
        baseline: one value per run.
        treatment: one value per run, **the same runs in the same order**.
        higher_is_better: of the metric.
        test_to_train: test examples for each training example; 0 for independent runs.

    Example:
        >>> from simloss import statistics
        >>> cross_entropy = [7.4, 7.3, 7.5, 7.6, 7.2, 7.4]
        >>> simloss = [7.0, 7.0, 7.2, 7.2, 6.9, 7.2]
        >>> found = statistics.resampled_comparison(cross_entropy, simloss, higher_is_better=False)
        >>> round(found.difference, 3), found.wins, round(found.p_value, 4), found.mark
        (-0.317, 6, 0.0008, '+')
        >>> plain = statistics.paired_comparison(cross_entropy, simloss, higher_is_better=False)
        >>> found.interval[0] < plain.interval[0] < plain.interval[1] < found.interval[1]
        True
    """
    first, second = paired_values(baseline, treatment)
    change = np.where(steps(first, second, higher_is_better) == 0, 0.0, second - first)
    error = _standard_error(change, test_to_train)
    found = comparison_of(first, second, higher_is_better, _p_value(change, error), interval=False)
    reach = _reach(len(change)) * error
    ends = (float(change.mean() - reach), float(change.mean() + reach))
    return replace(found, interval=ends)


def runs_to_tell(
    baseline: Any, treatment: Any, *, test_to_train: float = TEST_TO_TRAIN
) -> int | None:
    """With how many runs a difference of this size and spread would be told; None with none.

    Example:
        >>> from simloss import statistics
        >>> statistics.runs_to_tell([7.4, 7.3, 7.5], [7.2, 7.2, 7.2])
        5
        >>> statistics.runs_to_tell([7.4, 7.3, 7.5], [7.5, 7.1, 7.5]) is None
        True
    """
    first, second = paired_values(baseline, treatment)
    change = second - first
    if len(change) < 2:
        return None
    size, spread = abs(float(change.mean())), float(change.std(ddof=1))
    for runs in range(2, _MOST_RUNS + 1):
        if size > 0 and size >= _reach(runs) * spread * _inflation(runs, test_to_train):
            return runs
    return None


def shrunken(found: Comparison) -> float:
    """The difference to be expected of fresh data, of one that was told apart.

    What is told apart is what luck has helped: simulated, differences just large enough to be told
    are claimed at 1.4 times their size. Shrunk by 1 - 1 / t^2 (James and Stein) it is 1.2 times.

    Example:
        >>> found = resampled_comparison([7.4, 7.3, 7.5], [7.2, 7.2, 7.2], higher_is_better=False)
        >>> round(found.difference, 3), round(shrunken(found), 3)
        (-0.2, -0.175)
    """
    low, high = found.interval
    if math.isnan(low) or not found.difference:
        return found.difference
    error = (high - low) / 2 / _reach(found.runs)
    return found.difference * max(0.0, 1 - (error / found.difference) ** 2)


def _inflation(runs: int, test_to_train: float) -> float:
    """The standard error of a mean of runs, in standard deviations."""
    return math.sqrt(1 / runs + _TAKEN * _checks.at_least_zero("test_to_train", test_to_train))


def _standard_error(change: Array, test_to_train: float) -> float:
    """Of the mean difference; NaN with one run."""
    if len(change) < 2:
        return math.nan
    return float(change.std(ddof=1)) * _inflation(len(change), test_to_train)


def _p_value(change: Array, error: float) -> float:
    """Two-sided; 1 with one run or where no run differs."""
    if math.isnan(error) or not change.any():
        return 1.0
    stats = _checks.installed("scipy.stats", "cli")
    if error == 0:
        return 0.0
    return float(2 * stats.t.sf(abs(change.mean()) / error, len(change) - 1))


def _reach(runs: int) -> float:
    """How many standard errors the interval reaches to each side."""
    if runs < 2:
        return math.nan
    stats = _checks.installed("scipy.stats", "cli")
    return float(stats.t.ppf(1 - LEVEL / 2, runs - 1))
