"""Which metrics are shown together, and many metrics at once."""

from collections.abc import Iterable
from typing import Any

from .registry import METRICS, Metric, find

# Always shown with a metric that counts some errors as less bad: such a metric can be improved
# at the price of probabilities that are no longer calibrated.
_BESIDE_COST = ("nll", "calibration_error")


def columns(names: str | Iterable[str], *, probabilities: bool = True) -> list[str]:
    """The metrics to show if these are requested: each with those without which it misleads.

    A metric of the errors alone (FSA, severity) brings accuracy and the height over all
    examples, which come before it. Any metric of order, tree, cost or similarity brings NLL and
    calibration error, which come last, if there are probabilities.

    Args:
        names: one metric or several, in the order wanted.
        probabilities: whether probabilities are available.

    Example:
        >>> from simloss import metrics
        >>> metrics.columns(["fsa"])
        ['accuracy', 'mean_height', 'failed_superclass_accuracy', 'nll', 'calibration_error']
        >>> metrics.columns(["mae", "accuracy"], probabilities=False)
        ['mae', 'accuracy']
    """
    wanted = [find(name) for name in ([names] if isinstance(names, str) else names)]
    found: list[str] = []
    for metric in wanted:
        found += [*metric.companions, metric.name]
    if probabilities and any(metric.is_graded for metric in wanted):
        found += _BESIDE_COST
    return list(dict.fromkeys(found))


def evaluate(
    answers: Any,
    truth: Any,
    names: str | Iterable[str] | None = None,
    *,
    probabilities: Any = None,
    cost: Any = None,
    tree: Any = None,
    similarity: Any = None,
    positions: Any = None,
    ordered: bool = False,
) -> dict[str, float]:
    """Several metrics at once, each with its companions (:func:`columns`).

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        names: the metric or metrics wanted; by default every one that the arguments allow.
        probabilities: (..., C).
        cost: for :func:`mean_cost`.
        tree: a :class:`simloss.Tree`, or the superclass of each class.
        similarity: for :func:`mean_similarity`.
        positions: the position of each class, for the errors of ordered classes.
        ordered: whether the classes are ordered, as they are with positions; without `names`
            this adds the metrics of ordered classes.

    Returns:
        name -> value, in the order of the columns.

    Example:
        >>> from simloss import metrics
        >>> metrics.evaluate([0, 2, 2], [0, 1, 2], ["mae"], probabilities=[[0.8, 0.1, 0.1]] * 3)
        {'mae': 0.33..., 'nll': 1.60..., 'calibration_error': 0.46...}
    """
    given = {
        "probabilities": probabilities,
        "cost": cost,
        "tree": tree,
        "similarity": similarity,
        "positions": positions,
    }
    context = {name: value for name, value in given.items() if value is not None}
    if names is None:
        names = [
            metric.name for metric in METRICS.values() if _is_possible(metric, context, ordered)
        ]
    shown = columns(names, probabilities=probabilities is not None)
    return {name: find(name)(answers, truth, **context) for name in shown}


def _is_possible(metric: Metric, context: dict[str, Any], ordered: bool) -> bool:
    return metric.needs <= context.keys() | (
        {"order"} if ordered or "positions" in context else set()
    )
