"""A treatment and a decision as the lines of Python that use them."""

from typing import Any

from ...experiment.plan.treatment import BASELINE, BLENDED_SHARE

_LOSSES = {
    "simloss": "simloss.SimLoss({S})",
    "proper": "simloss.ProperSimLoss({S})",
    "soft-target": "simloss.SoftTargetLoss({S})",
    "blended": f"simloss.ProperSimLoss({{S}}, cross_entropy_share={BLENDED_SHARE:g})",
}
_SIMILARITIES = {
    "order": "order(C, r={:g})",
    "words": "words(names, lower_bound={:g})",
    "words-angle": 'words(names, kernel="angle", temperature={:g})',
    "tree": "tree(tree, temperature={:g})",
}
_DECISIONS = {
    "argmax": "simloss.decide(p)",
    "median": 'simloss.decide(p, "median")',
    "mean": 'simloss.decide(p, "mean")',
    "tree": "simloss.decide(p, tree)",
}


def in_code(treatment: dict[str, Any], rule: str) -> str | None:
    """The loss and the decision; None for what is not one expression each.

    Example:
        >>> print(in_code({"loss": "simloss", "similarity": "order", "value": 0.5}, "median"))
        simloss.SimLoss(simloss.similarity.order(C, r=0.5)), then simloss.decide(p, "median")
    """
    loss = _loss(treatment)
    return f"{loss}, then {_DECISIONS[rule]}" if loss and rule in _DECISIONS else None


def _loss(treatment: dict[str, Any]) -> str | None:
    if treatment.get("options"):
        return None
    if treatment["loss"] == BASELINE:
        return "torch.nn.CrossEntropyLoss()"
    form, kind = _LOSSES.get(treatment["loss"]), treatment.get("similarity")
    if form is None or kind not in _SIMILARITIES:
        return None
    return form.format(S=f"simloss.similarity.{_SIMILARITIES[kind].format(treatment['value'])}")
