"""What to train with before anything is tuned, by what our own results found best."""

from ...loss.registry import BASELINE, LOSSES
from .alternatives import RIVALS
from .similarities import SIMILARITIES
from .treatment import Treatment, check_command_loss


def start(loss: str | None, similarity: str, value: float | None) -> Treatment:
    """The treatment with what is not given filled in.

    Without a loss that is cross entropy, to be answered by the decision that suits the classes: no
    setting that was registered before the tables were run was better over all of them
    (docs/results.md). With a value it is the blended loss, the least risky of ours untuned.

    Example:
        >>> start(None, "order", None).label, start(None, "order", 0.5).label
        ('cross entropy', 'blended proper SimLoss, r = 0.5')
        >>> start("blended", "order", None).label, start("soft-target", "words", None).label
        ('blended proper SimLoss, r = 0.95', 'soft targets (words), l = 0.6')
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
