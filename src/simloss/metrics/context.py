"""What a metric is told beside the answers and the truth; none of it may be lost on the way."""

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _checks
from ..decision import decide
from ..decision.costs import WORDS
from .registry import Metric, refuse_own_options

# What is measured, and so never told beforehand.
_MEASURED = frozenset({"answers", "truth", "probabilities"})


def decided(probabilities: Any, decision: Any, context: Mapping[str, Any]) -> Any:
    """The answers; by the positions the metric goes by, where the decision measures a distance."""
    positions = context.get("positions") if _measures_distance(decision) else None
    return decide(probabilities, decision, positions=positions)


def used(metric: Metric, context: Mapping[str, Any], decision: Any) -> dict[str, Any]:
    """The part of `context` that the metric, or the decision behind its answers, looks at."""
    return {name: value for name, value in context.items() if name in _takes(metric, decision)}


def refuse_unused(metrics: Sequence[Metric], context: Mapping[str, Any], *decisions: Any) -> None:
    """One sentence on what no metric and no decision looks at: a slip, or a wrong hope."""
    taken = {name for each in metrics for how in decisions for name in _takes(each, how)}
    for name, value in context.items():
        if name in taken:
            continue
        for metric in metrics:
            refuse_own_options(metric, {name: value})
        which = " or ".join(repr(metric.name) for metric in metrics)
        remedy = _checks.nearest_spelling(name, taken)
        raise TypeError(f"`{name}` must be something {which} takes, but it is not{remedy}.")


def _takes(metric: Metric, decision: Any) -> frozenset[str]:
    own = metric.arguments - _MEASURED - metric.options.keys()
    return own | {"positions"} if _measures_distance(decision) else own


def _measures_distance(decision: Any) -> bool:
    return isinstance(decision, str) and WORDS.get(decision) in ("absolute", "squared")
