"""When to give up a trial: the median rule, over seeds and epochs."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

# Validation curves of one and the same treatment cross; so much, as a share, is no difference.
_SLACK = 0.01


@dataclass
class Trial:
    """How a trial went: one net per seed, one after the other.

    Attributes:
        curves: for each seed and epoch, the mean over the seeds so far, each with its best epoch
            yet; lower is better.
        gave_up: whether it ended before its time.
    """

    curves: list[list[float]] = field(default_factory=list)
    gave_up: bool = False

    @property
    def epochs(self) -> int:
        """Of all its nets."""
        return sum(map(len, self.curves))

    @property
    def value(self) -> float:
        """Its latest value."""
        return self.curves[-1][-1]

    def has_ended(self, seed: int) -> bool:
        """Whether the net of that seed was trained to its end."""
        return len(self.curves) > seed + self.gave_up

    def value_at(self, seed: int, epoch: int) -> float | None:
        """What it had then; None if it did not get there. A net that stopped early stays put."""
        if len(self.curves) <= seed:
            return None
        curve, is_last = self.curves[seed], len(self.curves) == seed + 1
        if epoch > len(curve) and self.gave_up and is_last:
            return None
        return curve[min(epoch, len(curve)) - 1]


def is_behind(trial: Trial, others: Iterable[Trial], head_start: int) -> bool:
    """Whether a trial is worse than the median of all trials that got as far.

    Those that got far are the good ones, so the further a trial gets, the better it must be, as in
    successive halving. In the first epochs of a net, `head_start`, nothing is judged.

    Example:
        >>> past = [Trial([[5.0, 4.0, last]]) for last in (1.0, 2.0, 3.0)]
        >>> is_behind(Trial([[5.0, 4.0, 2.5]]), past, head_start=2)
        True
        >>> is_behind(Trial([[5.0, 4.0, 1.5]]), past, head_start=2)
        False
    """
    seed, epoch = len(trial.curves) - 1, len(trial.curves[-1])
    if epoch < head_start:
        return False
    values = [value for other in others if (value := other.value_at(seed, epoch)) is not None]
    if not values:
        return False
    allowed = median(values)
    return trial.value > allowed + _SLACK * abs(allowed)


def is_beaten(trial: Trial, others: Iterable[Trial]) -> bool:
    """Whether a trial that has ended its latest seed is no better than another was by then.

    Example:
        >>> is_beaten(Trial([[3.0, 2.0]]), [Trial([[3.0, 1.9], [2.0]])])
        True
        >>> is_beaten(Trial([[3.0, 2.0]]), [Trial([[1.0]], gave_up=True)])
        False
    """
    seed = len(trial.curves) - 1
    ends = (other.curves[seed][-1] for other in others if other.has_ended(seed))
    return any(end <= trial.value for end in ends)
