"""Several comparisons at once: Holm's correction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from .. import _checks
from .paired import Comparison, paired_comparison

Key = TypeVar("Key")


def holm(p_values: Sequence[float]) -> list[float]:
    r"""Holm's correction: p-values to be read as if only one comparison had been made.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (k - j + 1)\, p_{(j)})

    where the k p-values are in rising order. The chance that any comparison without an effect is
    called significant then stays at 5 %.

    Args:
        p_values: those of all comparisons shown, in any order.

    Example:
        >>> from simloss import statistics
        >>> statistics.holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    known = [_checks.share("p_values", p) for p in p_values]
    adjusted, highest = [0.0] * len(known), 0.0
    for tried, i in enumerate(sorted(range(len(known)), key=known.__getitem__)):
        highest = max(highest, min(1.0, (len(known) - tried) * known[i]))
        adjusted[i] = highest
    return adjusted


def corrected(comparisons: Mapping[Key, Comparison]) -> dict[Key, Comparison]:
    """The same comparisons, each corrected for all of them."""
    adjusted = holm([each.p_value for each in comparisons.values()])
    return {
        name: replace(each, adjusted_p_value=p, comparisons=len(comparisons))
        for (name, each), p in zip(comparisons.items(), adjusted, strict=True)
    }


def paired_comparisons(
    baseline: Any, treatments: Mapping[Key, Any], *, higher_is_better: bool
) -> dict[Key, Comparison]:
    """Several treatments against one baseline, with Holm's correction over all of them.

    Args:
        baseline: one value per run.
        treatments: name -> one value per run, the same runs in the same order.
        higher_is_better: for the metric.

    Example:
        >>> from simloss import statistics
        >>> found = statistics.paired_comparisons(
        ...     [1, 2, 3, 4, 5, 6],
        ...     {"a": [2, 4, 6, 8, 10, 12], "b": [1, 3, 2, 4, 6, 5]},
        ...     higher_is_better=True,
        ... )
        >>> {name: (each.p_value, each.adjusted_p_value) for name, each in found.items()}
        {'a': (0.03125, 0.0625), 'b': (1.0, 1.0)}
    """
    return corrected(
        {
            name: paired_comparison(baseline, values, higher_is_better=higher_is_better)
            for name, values in treatments.items()
        }
    )


def smallest_p_value(runs: int) -> float:
    """The smallest two-sided p that Wilcoxon's test can reach with this many runs.

    Example:
        >>> from simloss import statistics
        >>> [statistics.smallest_p_value(n) for n in (1, 3, 5, 10)]
        [1.0, 0.25, 0.0625, 0.001953125]
    """
    return float(2.0 ** (1 - _checks.class_count("runs", runs)))
