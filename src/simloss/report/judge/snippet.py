"""A treatment and a decision as the lines of Python that use them."""

from typing import Any

from ...decision.rules import RULES
from ...experiment.plan.similarities import SIMILARITIES
from ...loss.registry import LOSSES


def snippet(treatment: dict[str, Any], rule: str) -> str | None:
    """The loss and the decision; None for what is not one expression each.

    Example:
        >>> print(snippet({"loss": "simloss", "similarity": "order", "value": 0.5}, "median"))
        simloss.SimLoss(simloss.similarity.order(C, r=0.5)), then simloss.decide(p, "median")
    """
    loss, decision = _loss(treatment), RULES[rule].code if rule in RULES else None
    return f"{loss}, then {decision}" if loss and decision else None


def _loss(treatment: dict[str, Any]) -> str | None:
    known, kind = LOSSES.get(treatment["loss"]), treatment.get("similarity")
    if known is None or treatment.get("options"):
        return None
    if not known.uses_similarity:
        return known.code()
    code = SIMILARITIES[kind].code if kind in SIMILARITIES else None
    return code and known.code(f"simloss.similarity.{code.format(treatment['value'])}")
