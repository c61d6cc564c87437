"""What a search may choose, and what it tries next: a loss and its similarity's parameter."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ... import _checks
from ..._imports import names_an_attribute
from ...loss.registry import BASELINE, LOSSES, WITH_SIMILARITY
from ..plan.similarities import parameter_of
from ..plan.treatment import Treatment, smooth_treatments
from .race import Trial

# parameter -> its values from hardly any similarity to the most, and whether ratios are steps
_RANGES = {
    "r": (0.05, 0.95, False),
    "lower_bound": (0.95, 0.0, False),
    "width": (0.2, 5.0, True),
    "temperature": (0.05, 5.0, True),
    "power": (5.0, 0.2, True),
}

# Values closer than this share of the range cannot be told apart.
_FINEST = 1 / 20


@dataclass(frozen=True)
class SearchSpace:
    """Cross entropy, and each loss with any value of the parameter.

    Attributes:
        losses: those beside cross entropy.
        similarity: a name in `SIMILARITIES`, or the path of a saved one, whose parameter is the
            power it is raised to.
        smooth: whether the smooth losses, which have nothing to tune, are tried as well.

    Example:
        >>> space = SearchSpace(("simloss", "soft-target"), "order")
        >>> [treatment.label for treatment in space.first()]
        ['soft targets, r = 0.5', 'cross entropy', 'SimLoss, r = 0.5']
        >>> past = [Trial(space.first()[i], [[error]]) for i, error in enumerate((1.0, 3.0, 2.0))]
        >>> space.following(past).label
        'soft targets, r = 0.95'
    """

    losses: tuple[str, ...]
    similarity: str
    smooth: bool = False

    def __post_init__(self) -> None:
        _checks.distinct("loss", self.losses)
        for loss in self.losses:
            if not names_an_attribute(loss):
                _checks.choice("loss", loss, (*WITH_SIMILARITY, "module:class"))

    @property
    def parameter(self) -> str:
        """Its name."""
        return parameter_of(self.similarity)

    def first(self) -> list[Treatment]:
        """What is always tried: cross entropy, and each loss once.

        A strong rival comes first, because all that follow are measured by it, and cross entropy
        second, so that no search is too short for it. A loss begins where it was good untuned, if
        that is known, else in the middle of the range.
        """
        # A loss of the user's own comes last: what it can do is what the search is to find out.
        known = [loss for loss in self.losses if loss in LOSSES]
        known.sort(key=lambda loss: -LOSSES[loss].strength)
        losses = [*known, *(loss for loss in self.losses if loss not in known)]
        good = {loss: LOSSES[loss].values.get(self.similarity) for loss in known}
        first, *others = [self._at(loss, good.get(loss) or self._value(0.5)) for loss in losses]
        smooth = smooth_treatments(self.similarity) if self.smooth else []
        return [first, Treatment(BASELINE), *others, *smooth]

    def following(self, past: Sequence[Trial]) -> Treatment | None:
        """What to try next: a value beside the best one of the best loss; None if all are tried."""
        first = self.first()
        if len(past) < len(first):
            return first[len(past)]
        tuned = [trial for trial in past if trial.curves and self._is_tuned(trial.treatment)]
        best: dict[str, float] = {}
        for trial in sorted(tuned, key=lambda trial: (trial.gave_up, trial.value)):
            best.setdefault(trial.treatment.loss, trial.treatment.value or 0.0)
        for loss, value in best.items():
            tried = [each.treatment.value or 0.0 for each in past if each.treatment.loss == loss]
            if (other := self._beside(value, tried)) is not None:
                return self._at(loss, other)
        return None

    def _beside(self, best: float, tried: Sequence[float]) -> float | None:
        """The far end of the range, then the middle of the wider gap next to the best value.

        The best value may be the most similarity there is, and few steps get there.
        """
        here, shares = self._share(best), [self._share(each) for each in tried]
        above = min((each for each in shares if each > here), default=here)
        if above == here < 1 - _FINEST:
            return self._value(1.0)
        below = max((each for each in shares if each < here), default=0.0)
        down, up = here - below, above - here
        if max(down, up) <= _FINEST:
            return None
        return self._value(here + up / 2 if up > 0.9 * down else here - down / 2)

    def _value(self, share: float) -> float:
        """So far along the range, with two digits."""
        low, high, by_ratio = _RANGES[self.parameter]
        value = low * (high / low) ** share if by_ratio else low + share * (high - low)
        return round(value, 2)

    def _share(self, value: float) -> float:
        """How far along the range; one that was good untuned may lie outside."""
        low, high, by_ratio = _RANGES[self.parameter]
        if by_ratio:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return min(1.0, max(0.0, (value - low) / (high - low)))

    def _at(self, loss: str, value: float) -> Treatment:
        return Treatment(loss, self.similarity, value)

    def _is_tuned(self, treatment: Treatment) -> bool:
        return treatment.loss in self.losses and not treatment.options


def space_of(similarity: str, losses: Sequence[str] | None = None) -> SearchSpace:
    """The space of a user's wishes; cross entropy is always in it and need not be named."""
    if not losses:
        return SearchSpace(WITH_SIMILARITY, similarity, smooth=True)
    others = tuple(loss for loss in losses if loss != BASELINE)
    if not others:
        raise ValueError(
            f"`loss` must name a loss that uses similarity ({', '.join(WITH_SIMILARITY)}), "
            f"for cross entropy always takes part, but got {BASELINE!r} only."
        )
    return SearchSpace(others, similarity)
