"""What a search may choose: a loss and the value of its similarity's parameter."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ... import _checks
from ..._imports import names_an_attribute
from ...loss.registry import BASELINE, LOSSES, WITH_SIMILARITY
from ..plan.similarities import parameter_of
from ..plan.treatment import Treatment

# parameter -> lowest, highest, and whether equal ratios count as equal steps
_RANGES = {
    "r": (0.05, 0.95, False),
    "lower_bound": (0.0, 0.95, False),
    "width": (0.2, 5.0, True),
    "temperature": (0.05, 5.0, True),
    "power": (0.2, 5.0, True),
}


# Where in the range a loss is tried besides where it begins.
_SPREAD = (1 / 6, 5 / 6, 1.0)


def _between(low: float, high: float, by_ratio: bool, share: float) -> float:
    """A part of the way from `low` to `high`, with two digits."""
    value = low * (high / low) ** share if by_ratio else low + share * (high - low)
    return round(value, 2)


@dataclass(frozen=True)
class SearchSpace:
    """Cross entropy, and each loss with any value of the parameter.

    Attributes:
        losses: those beside cross entropy.
        similarity: a name in `SIMILARITIES`, or the path of a saved one, whose parameter is the
            power it is raised to.

    Example:
        >>> space = SearchSpace(("simloss", "soft-target"), "order")
        >>> [space.treatment(choice).label for choice in space.first_choices()][:3]
        ['soft targets, r = 0.5', 'cross entropy', 'SimLoss, r = 0.5']
        >>> [space.treatment(choice).label for choice in space.first_choices()][3:]
        ['soft targets, r = 0.95', 'SimLoss, r = 0.95', 'soft targets, r = 0.2', 'SimLoss, r = 0.2']
    """

    losses: tuple[str, ...]
    similarity: str

    def __post_init__(self) -> None:
        _checks.distinct("loss", self.losses)
        for loss in self.losses:
            if not names_an_attribute(loss):
                _checks.choice("loss", loss, (*WITH_SIMILARITY, "module:class"))

    @property
    def parameter(self) -> str:
        """Its name."""
        return parameter_of(self.similarity)

    def first_choices(self) -> list[dict[str, Any]]:
        """What is always tried: cross entropy, and each loss at three values across the range.

        A strong rival comes first, because all that follow are measured by it, and cross entropy
        second, so that no search is too short for it. A loss begins where it was good untuned, if
        that is known.
        """
        low, high, by_ratio = _RANGES[self.parameter]
        middle = _between(low, high, by_ratio, 0.5)
        # A loss of the user's own comes last: what it can do is what the search is to find out.
        known = [loss for loss in self.losses if loss in LOSSES]
        known.sort(key=lambda loss: -LOSSES[loss].strength)
        losses = [*known, *(loss for loss in self.losses if loss not in known)]
        good = {loss: LOSSES[loss].values for loss in known}
        begin = {loss: good.get(loss, {}).get(self.similarity, round(middle, 2)) for loss in losses}
        first, *others = [{"loss": loss, self._name(loss): begin[loss]} for loss in losses]
        return [first, {"loss": BASELINE}, *others, *self._elsewhere(begin)]

    def _elsewhere(self, begin: dict[str, float]) -> list[dict[str, Any]]:
        """Two more values of each loss, far from where it began and from each other."""
        low, high, by_ratio = _RANGES[self.parameter]
        few, many, most = (_between(low, high, by_ratio, share) for share in _SPREAD)
        far = {loss: many if start == most else most for loss, start in begin.items()}
        return [{"loss": loss, self._name(loss): far[loss]} for loss in begin] + [
            {"loss": loss, self._name(loss): few} for loss in begin
        ]

    def suggested(self, trial: Any) -> Treatment:
        """What an optuna trial is to try; each loss has a parameter of its own."""
        loss = trial.suggest_categorical("loss", (BASELINE, *self.losses))
        if loss != BASELINE:
            low, high, by_ratio = _RANGES[self.parameter]
            trial.suggest_float(self._name(loss), low, high, log=by_ratio)
        return self.treatment(trial.params)

    def treatment(self, choice: dict[str, Any]) -> Treatment:
        """A choice as what it trains; two digits of the value are more than can be told apart."""
        if choice["loss"] == BASELINE:
            return Treatment(BASELINE)
        # As the user named it, not as the file of an earlier run does.
        loss = next((each for each in self.losses if each == choice["loss"]), choice["loss"])
        return Treatment(loss, self.similarity, round(choice[self._name(loss)], 2))

    def _name(self, loss: str) -> str:
        return f"{self.parameter} of {loss}"


def space_of(similarity: str, losses: Sequence[str]) -> SearchSpace:
    """The space of a user's wishes; cross entropy is always in it and need not be named."""
    others = tuple(loss for loss in losses if loss != BASELINE)
    if losses and not others:
        raise ValueError(
            f"`loss` must name a loss that uses similarity ({', '.join(WITH_SIMILARITY)}), "
            f"for cross entropy always takes part, but got {BASELINE!r} only."
        )
    return SearchSpace(others, similarity)
