"""The losses by name. A new loss is a file beside this one and one entry in `LOSSES`.

The commands, the search, `SimLossClassifier`, `trainer_loss`, the boosted objectives, the reports
and the docs read this table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from .linear import linear_proper_sim_loss, linear_sim_loss, linear_soft_target_loss
from .proper import ProperSimLoss
from .sim import SimLoss
from .soft_target import SoftTargetLoss

BASELINE = "cross-entropy"
# A smoothness that goes by the number of training examples: `total_weight / n` of the class graph.
BY_RULE = "rule"


@dataclass(frozen=True)
class NamedLoss:
    """What is known about a loss besides its formula.

    Attributes:
        label: its name in tables and reports.
        module: the class; called with a similarity if it uses one, and with options.
        linear: the same loss with the last layer inside, if there is one.
        options: keywords that make it this loss; the caller's own take precedence.
        uses_similarity: whether it is made from a similarity.
        values: the similarity's parameter that was good untuned, by kind of similarity.
        strength: how hard it was to beat untuned; a search tries the strongest first.
    """

    label: str
    module: Callable[..., nn.Module]
    linear: Callable[..., Tensor] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    uses_similarity: bool = True
    values: Mapping[str, float] = field(default_factory=dict)
    strength: int = 0

    def make(self, similarity: Any = None, **options: Any) -> Any:
        """The loss as a module.

        Example:
            >>> from simloss.similarity import order
            >>> LOSSES["blended"].make(order(3, r=0.5), reduction="sum")
            ProperSimLoss(order(3 classes, r=0.5), reduction='sum', cross_entropy_share=0.1)
        """
        arguments = (similarity,) if self.uses_similarity else ()
        return self.module(*arguments, **{**self.options, **options})

    def code(self, similarity: str = "", *options: str) -> str:
        """The expression that makes it, with the similarity and more options written as given.

        Example:
            >>> LOSSES["blended"].code("S", "examples=n")
            'simloss.ProperSimLoss(S, cross_entropy_share=0.1, examples=n)'
        """
        package = "simloss" if self.uses_similarity else "torch.nn"
        arguments = [similarity] if self.uses_similarity else []
        arguments += [f"{name}={value!r}" for name, value in self.options.items()]
        arguments += options
        return f"{package}.{getattr(self.module, '__name__', '')}({', '.join(arguments)})"


LOSSES = {
    BASELINE: NamedLoss("cross entropy", nn.CrossEntropyLoss, uses_similarity=False),
    "simloss": NamedLoss("SimLoss", SimLoss, linear_sim_loss, strength=1),
    "proper": NamedLoss("proper SimLoss", ProperSimLoss, linear_proper_sim_loss, strength=2),
    "soft-target": NamedLoss("soft targets", SoftTargetLoss, linear_soft_target_loss, strength=4),
    # A tenth is enough for probabilities as good as cross entropy's; docs/results.md has other
    # shares, and these values. For names there is only CIFAR-100, where it had a lower height and
    # a higher accuracy than soft targets.
    "blended": NamedLoss(
        "blended proper SimLoss",
        ProperSimLoss,
        linear_proper_sim_loss,
        options={"cross_entropy_share": 0.1},
        values={"order": 0.95, "values": 0.95, "tree": 1.0, "words-angle": 0.5},
        strength=3,
    ),
}

WITH_SIMILARITY = tuple(name for name, loss in LOSSES.items() if loss.uses_similarity)
