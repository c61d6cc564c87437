"""A treatment and a decision as the lines of Python that use them."""

from typing import Any

from ...decision.rules import RULES
from ...experiment.plan.alternatives import RIVALS
from ...experiment.plan.default_treatment import FOR_RIVALS, saved_rule
from ...experiment.plan.similarities import SIMILARITIES
from ...loss.registry import BASELINE, BY_RULE, LOSSES


def snippet(treatment: dict[str, Any], rule: str) -> str | None:
    """The loss and the decision; None for what is not one expression each.

    Example:
        >>> print(snippet({"loss": "simloss", "similarity": "order", "value": 0.5}, "median"))
        simloss.SimLoss(simloss.similarity.order(C, r=0.5)), then simloss.decide(p, "median")

    Smoothness by the rule is written ``examples=n``, for n training examples.
    """
    loss, decision = _loss(treatment), RULES[rule].code if rule in RULES else None
    return f"{loss}, then {decision}" if loss and decision else None


def trained_how(treatment: dict[str, Any], rule: str, other: str) -> str:
    """What `simloss train --from` does: on which data, and by `other` if no model has the rule.

    Example:
        >>> trained_how({"loss": "soft-target"}, "median", "median")
        'on all the data'
        >>> trained_how({"loss": "boosted-regression"}, "nearest", "median")
        'on 80 % of the data, to answer by the median'
    """
    share = f"{100 * FOR_RIVALS[0]:g} % of" if treatment["loss"] in RIVALS else "all"
    saved = saved_rule(rule, other)
    return f"on {share} the data" + (f", to answer by {RULES[saved].answer}" * (saved != rule))


def _loss(treatment: dict[str, Any]) -> str | None:
    known, kind = LOSSES.get(treatment["loss"]), treatment.get("similarity")
    given, more = treatment.get("options") or {}, []
    if given == {"smoothness": BY_RULE}:
        more = ["examples=n"]  # n: so many training examples
        if treatment["loss"] == BASELINE:
            known, more = LOSSES["simloss"], ["cross_entropy_share=1.0", *more]
    elif given:
        return None
    if known is None:
        return None
    if not known.uses_similarity:
        return known.code()
    found = SIMILARITIES.get(kind) if kind else None
    if found is None or found.code is None:
        return None
    value = treatment.get("value")
    similarity = found.code.format(found.default if value is None else value)
    return known.code(f"simloss.similarity.{similarity}", *more)
