"""What is compared: a loss, a similarity, and the value of its one parameter."""

from dataclasses import asdict, dataclass, field
from typing import Any

from torch import nn

from ... import _checks
from ..._imports import imported, names_an_attribute, users_own
from ...data import Dataset
from ...loss.registry import BASELINE, BY_RULE, LOSSES, NamedLoss
from ...similarity import Similarity
from .alternatives import ALTERNATIVES, RIVALS, Alternative
from .similarities import parameter_of, short_name, similarity_of

# Every loss that a treatment can name beside a user's own `module:class`.
KNOWN: dict[str, NamedLoss | Alternative] = {**LOSSES, **ALTERNATIVES, **RIVALS}
_WITHOUT_SIMILARITY = {**ALTERNATIVES, **RIVALS}
_SHARES = ("cross_entropy_share", "label_smoothing")
_SYMBOLS = {"lower_bound": "l", "temperature": "t"}


@dataclass(frozen=True)
class Treatment:
    """A loss, the kind of similarity it uses, and that similarity's parameter.

    Attributes:
        loss: a name in `simloss.loss.registry.LOSSES` ("cross-entropy", "simloss", ...), a user's
            `module:class`, made from a similarity, or one of `ALTERNATIVES` or `RIVALS`.
        similarity: a name in `SIMILARITIES`, the path of a saved one, or a user's `module:factory`,
            called with the class names; None for cross entropy and the alternatives.
        value: the parameter: r of an order, the lower bound of words, a temperature; the power of a
            similarity that is saved or the user's own; an alternative's own parameter.
        options: keywords of the loss (`cross_entropy_share`, `label_smoothing`, `smoothness`) and
            `normalized: true` for the appendix's form; of cross entropy, `label_smoothing`, and
            with a similarity `smoothness`. "rule" sets the smoothness by the number of examples.

    Example:
        >>> Treatment("simloss", "order", 0.8).label
        'SimLoss, r = 0.8'
        >>> Treatment("cross-entropy", "order", options={"smoothness": "rule"}).label
        'cross entropy + smooth'
    """

    loss: str
    similarity: str | None = None
    value: float | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.loss in _WITHOUT_SIMILARITY:
            return self._check_alternative()
        if not names_an_attribute(self.loss):
            # With a similarity, as the commands give every loss, the alternatives are no choice.
            others = _WITHOUT_SIMILARITY if self.similarity is None else ()
            known = (*LOSSES, *others, "module:class")
            _checks.choice("loss", self.loss, known)
        if self.loss != BASELINE and self.similarity is None:
            raise ValueError(f"`loss` {self.loss!r} needs a similarity, but got none.")
        if self.loss == BASELINE:
            self._check_baseline()
        if self.value is not None:
            _checks.real("value", self.value)
        self._check_options()

    def _check_baseline(self) -> None:
        """Nothing that has to do with similarity, which would be named and have no effect."""
        is_smooth = "smoothness" in self.options
        if is_smooth and self.similarity is None:
            raise ValueError(
                f"`loss` {BASELINE!r} with smoothness needs a similarity, but got none."
            )
        for name in ("value",) if is_smooth else ("similarity", "value"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"`loss` {BASELINE!r} takes no {name}, but got {getattr(self, name)!r}."
                )
        for name in ("cross_entropy_share", "normalized"):
            if name in self.options:
                raise ValueError(
                    f"`loss` {BASELINE!r} takes no {name!r}, but got {self.options[name]!r}."
                )

    def _check_options(self) -> None:
        unknown = set(self.options) - {*_SHARES, "normalized", "smoothness"}
        if unknown:
            raise ValueError(f"`options` of a treatment do not include {sorted(unknown)[0]!r}.")
        for name in _SHARES:
            _checks.share(name, self.options.get(name, 0.0))
        if not isinstance(self.options.get("normalized", True), bool):
            raise TypeError(
                f"`normalized` must be true or false, but got {self.options['normalized']!r}."
            )
        smoothness = self.options.get("smoothness", BY_RULE)
        if smoothness != BY_RULE:
            if isinstance(smoothness, str):
                raise ValueError(
                    f"`smoothness` must be a number or {BY_RULE!r}, but got {smoothness!r}."
                )
            _checks.at_least_zero("smoothness", smoothness)

    def _check_alternative(self) -> None:
        """No similarity, no options, and a value where it has a parameter."""
        if self.similarity is not None or self.options:
            what = "similarity" if self.similarity is not None else "options"
            raise ValueError(
                f"`loss` {self.loss!r} takes no {what}, but got {getattr(self, what)!r}; "
                f"name it without in the treatments of a config.yaml."
            )
        parameter = _WITHOUT_SIMILARITY[self.loss].parameter
        if (self.value is None) != (parameter is None):
            rule = f"needs a value of its {parameter}" if parameter else "takes no value"
            raise ValueError(f"`loss` {self.loss!r} {rule}, but got {self.value}.")

    @property
    def learner(self) -> str:
        """What learns: the configuration's "net", a "linear" one, or boosted "trees"."""
        known = _WITHOUT_SIMILARITY.get(self.loss)
        return known.learner if known else "net"

    @property
    def parameter(self) -> str | None:
        """The name of the parameter: "r", "lower_bound", "temperature"."""
        if self.loss in _WITHOUT_SIMILARITY and self.value is not None:
            return _WITHOUT_SIMILARITY[self.loss].parameter
        if self.similarity is None or self.value is None:
            return None
        return parameter_of(self.similarity)

    @property
    def label(self) -> str:
        """What a table calls it."""
        return self._label(self.parameter)

    @property
    def family(self) -> str:
        """The label without the parameter: what is one line of a figure."""
        return self._label(None)

    def _label(self, parameter: str | None) -> str:
        text = KNOWN[self.loss].label if self.loss in KNOWN else self.loss.partition(":")[2]
        if self.similarity is not None and self.similarity != "order":
            text += f" ({short_name(self.similarity)})"
        if parameter:
            text += f", {_SYMBOLS.get(parameter, parameter)} = {self.value:g}"
        for name, value in sorted(self.options.items()):
            if name == "smoothness":
                continue
            text += f", {name.replace('_', ' ')}" + ("" if value is True else f" {value:g}")
        smoothness = self.options.get("smoothness")
        if smoothness is not None:
            text += " + smooth" + ("" if smoothness == BY_RULE else f" {smoothness:g}")
        return text

    def as_dict(self) -> dict[str, Any]:
        """Plain values, without what is not set."""
        return {name: value for name, value in asdict(self).items() if value not in (None, {})}

    def similarity_for(self, dataset: Dataset) -> Similarity | None:
        """The similarity of the data's classes under this treatment."""
        if self.similarity is None:
            return None
        similarity = similarity_of(self.similarity, self.value, dataset)
        return similarity.normalized() if self.options.get("normalized") else similarity

    def loss_for(self, dataset: Dataset, examples: int | None = None) -> nn.Module:
        """The loss module, on the CPU, for so many training examples; all if not given."""
        if self.loss in _WITHOUT_SIMILARITY:
            value = 0.0 if self.value is None else self.value
            return _WITHOUT_SIMILARITY[self.loss].make(dataset, value)
        similarity, loss = self.similarity_for(dataset), self.loss
        options = {k: v for k, v in self.options.items() if k != "normalized"}
        if options.get("smoothness") == BY_RULE:
            del options["smoothness"]
            options["examples"] = len(dataset) if examples is None else examples
        if loss == BASELINE and similarity is not None:  # for its graph alone
            loss, options["cross_entropy_share"] = "simloss", 1.0
        if loss in LOSSES:
            made = LOSSES[loss].make(similarity, **options)
        else:
            made = imported("loss", users_own("loss", self.loss))(similarity, **options)
        if not isinstance(made, nn.Module):
            kind = type(made).__name__
            raise TypeError(f"`loss` {self.loss!r} must make an nn.Module, but made {kind}.")
        return made


def check_command_loss(loss: str) -> None:
    """One sentence if it is no loss that the commands take: the alternatives need a config.yaml."""
    if not names_an_attribute(loss):
        _checks.choice("loss", loss, (*LOSSES, "module:class"))


def treatments(
    losses: list[str], similarity: str, values: list[float], **options: Any
) -> list[Treatment]:
    """Each loss with each value; cross entropy, which has none, once and first.

    Example:
        >>> [t.label for t in treatments(["simloss", "cross-entropy"], "order", [0.3, 0.8])]
        ['cross entropy', 'SimLoss, r = 0.3', 'SimLoss, r = 0.8']
    """
    for loss in losses:
        check_command_loss(loss)
    made = [Treatment(BASELINE)]
    made += [
        Treatment(loss, similarity, float(value), options)
        for loss in losses
        if loss != BASELINE
        for value in values
    ]
    return [each for place, each in enumerate(made) if each not in made[:place]]


def smooth_treatments(similarity: str) -> list[Treatment]:
    """Cross entropy and the blended loss with smoothness by the rule: nothing is left to tune.

    Example:
        >>> [each.label for each in smooth_treatments("order")]
        ['cross entropy + smooth', 'blended proper SimLoss, r = 0.95 + smooth']
    """
    options, value = {"smoothness": BY_RULE}, LOSSES["blended"].values.get(similarity)
    made = [Treatment(BASELINE, similarity, options=options)]
    return made + ([Treatment("blended", similarity, value, options)] if value else [])
