"""What to train with before anything is tuned, by what our own results found best."""

from ...loss.registry import BASELINE, LOSSES
from .alternatives import RIVALS
from .similarities import SIMILARITIES
from .treatment import Treatment, check_command_loss


def start(loss: str | None, similarity: str, value: float | None) -> Treatment:
    """The treatment with what is not given filled in.

    Without a loss that is the blended one where it has been tried; where it has not, or where the
    similarity may be none that it is proper for, soft targets.

    Example:
        >>> start(None, "order", None).label, start(None, "words", None).label
        ('blended proper SimLoss, r = 0.95', 'soft targets (words), l = 0.6')
    """
    loss = loss or ("blended" if similarity in LOSSES["blended"].values else "soft-target")
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
