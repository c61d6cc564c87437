"""The race of a search: how a trial went, and when to give it up."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from ..plan.treatment import Treatment

# Validation curves of one and the same treatment cross; so much, as a share, is no difference.
_SLACK = 0.01


@dataclass
class Trial:
    """One treatment, one net per seed, one after the other.

    Attributes:
        treatment: what was tried.
        curves: for each seed and epoch, the mean over the seeds so far, each with its best epoch
            yet; lower is better.
        gave_up: whether it ended before its time.
        error: why it could not be trained.
    """

    treatment: Treatment
    curves: list[list[float]] = field(default_factory=list)
    gave_up: bool = False
    error: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether all its nets were trained to their end."""
        return bool(self.curves) and not self.gave_up

    @property
    def epochs(self) -> int:
        """Of all its nets."""
        return sum(map(len, self.curves))

    @property
    def value(self) -> float:
        """Its latest value."""
        return self.curves[-1][-1] if self.curves else float("nan")

    def value_at(self, seed: int, epoch: int) -> float | None:
        """What it had then; None if it did not get there. A net that stopped early stays put."""
        if len(self.curves) <= seed:
            return None
        curve, is_last = self.curves[seed], len(self.curves) == seed + 1
        if epoch > len(curve) and self.gave_up and is_last:
            return None
        return curve[min(epoch, len(curve)) - 1]


def is_behind(trial: Trial, others: Iterable[Trial], patience: int) -> bool:
    """Whether a trial is worse than the median of all that got as far, and will be for some time.

    Those that got far are the good ones, so the further a trial gets, the better it must be, as in
    successive halving. What is judged is where it will be if the next epochs, half of `patience`,
    bring as much as the last. In the first two times `patience` epochs of a net, nothing is.

    Example:
        >>> past = [Trial(Treatment("cross-entropy"), [[5.0, 4.0, end]]) for end in (1.0, 2.0, 3.0)]
        >>> is_behind(Trial(Treatment("cross-entropy"), [[5.0, 2.6, 2.5]]), past, patience=1)
        True
        >>> is_behind(Trial(Treatment("cross-entropy"), [[5.0, 4.0, 1.5]]), past, patience=1)
        False
    """
    curve = trial.curves[-1]
    seed, epoch = len(trial.curves) - 1, len(curve)
    if epoch < 2 * patience:
        return False
    values = [value for other in others if (value := other.value_at(seed, epoch)) is not None]
    if not values:
        return False
    allowed = median(values)
    coming = curve[max(0, epoch - 1 - patience // 2)] - curve[-1]
    return trial.value - coming > allowed + _SLACK * abs(allowed)
