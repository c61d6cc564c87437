"""What a metric needs besides the answers and the truth; unused options are an error."""

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _checks
from ..decision import decide
from ..decision.costs import WORDS
from .registry import Metric, refuse_own_options

# What is measured, so it is never passed in advance.
_MEASURED = frozenset({"answers", "truth", "probabilities"})


def decided(probabilities: Any, decision: Any, context: Mapping[str, Any]) -> Any:
    """The answers; if the decision measures a distance, it uses the metric's positions."""
    positions = context.get("positions") if _measures_distance(decision) else None
    return decide(probabilities, decision, positions=positions)


def used(metric: Metric, context: Mapping[str, Any], decision: Any) -> dict[str, Any]:
    """The part of `context` that the metric, or the decision behind its answers, uses."""
    return {name: value for name, value in context.items() if name in _takes(metric, decision)}


def refuse_unused(metrics: Sequence[Metric], context: Mapping[str, Any], *decisions: Any) -> None:
    """Refuse an option that no metric and no decision uses."""
    taken = {name for each in metrics for how in decisions for name in _takes(each, how)}
    for name, value in context.items():
        if name in taken:
            continue
        for metric in metrics:
            refuse_own_options(metric, {name: value})
        which = " or ".join(repr(metric.name) for metric in metrics)
        remedy = _checks.nearest_spelling(name, taken)
        raise TypeError(f"`{name}` must be an option of {which}, but it is not{remedy}.")


def _takes(metric: Metric, decision: Any) -> frozenset[str]:
    own = metric.arguments - _MEASURED - metric.options.keys()
    return own | {"positions"} if _measures_distance(decision) else own


def _measures_distance(decision: Any) -> bool:
    return isinstance(decision, str) and WORDS.get(decision) in ("absolute", "squared")
