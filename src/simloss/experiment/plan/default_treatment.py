"""What to train with before anything is tuned, by what our own results found best."""

from ...decision.rules import RULES
from ...loss.registry import BASELINE, LOSSES
from .alternatives import RIVALS
from .similarities import SIMILARITIES
from .treatment import Treatment, check_command_loss

# Of what `simloss train --from` trains: rivals stop by a validation part, and a regression learns
# there how far off it is.
FOR_RIVALS = (0.8, 0.15, 0.05)


def default_treatment(loss: str | None, similarity: str, value: float | None) -> Treatment:
    """The treatment with what is not given filled in.

    Without a loss that is cross entropy, to be answered by the decision that suits the classes: no
    setting that was registered before the tables were run was better over all of them
    (docs/results.md). With a value it is the blended loss, the least risky of ours untuned.

    Example:
        >>> [default_treatment(None, "order", value).label for value in (None, 0.5)]
        ['cross entropy', 'blended proper SimLoss, r = 0.5']
        >>> [default_treatment(loss, "words", None).label for loss in ("simloss", "soft-target")]
        ['SimLoss (words), l = 0.6', 'soft targets (words), l = 0.6']
    """
    loss = loss or (BASELINE if value is None else "blended")
    if loss in RIVALS:
        return Treatment(loss)
    check_command_loss(loss)
    if loss == BASELINE:
        return Treatment(BASELINE)
    if value is None and loss in LOSSES:
        value = LOSSES[loss].values.get(similarity)
    if value is None:
        value = SIMILARITIES[similarity].default if similarity in SIMILARITIES else 1.0
    return Treatment(loss, similarity, value)


def with_baseline(chosen: Treatment) -> tuple[Treatment, ...]:
    """What a configuration holds for one net: cross entropy always, and last the net to train."""
    baseline = Treatment(BASELINE)
    return (baseline,) if chosen == baseline else (baseline, chosen)


def saved_rule(rule: str, other: str) -> str:
    """The decision a saved model answers by: `rule`, or else `other`, the run's.

    A model answers from probabilities. So a regression that was best by its nearest class gets the
    decision of the run: its probabilities lie around the same prediction.
    """
    return rule if rule in RULES else other
