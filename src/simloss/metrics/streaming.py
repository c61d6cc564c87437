"""Metrics that add up batch by batch and over processes, for torchmetrics and Lightning.

Needs the extra `torchmetrics`. (torchmetrics fails to import if the installed torchvision does not
match torch; without torchvision it works.)
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .. import _checks
from .context import decided, refuse_unused, used
from .registry import Metric, find
from .selection import columns

if TYPE_CHECKING:
    import torchmetrics
else:
    torchmetrics = _checks.installed("torchmetrics", "torchmetrics")


class StreamingMetric(torchmetrics.Metric):
    """Any metric of the registry, fed batch by batch.

    It gives the same as the plain function on all batches at once, on one process or many.

    Args:
        name: the name of the metric.
        num_classes: C.
        decision: a cost for :func:`simloss.decide`, which turns probabilities into answers.
        **context: what else the metric needs: `cost`, `tree`, `similarity`, `positions`; the
            last is also used by a `decision` by median or mean.

    Example:
        >>> import torch
        >>> from simloss.metrics.streaming import StreamingMetric
        >>> mae = StreamingMetric("mae", num_classes=3, decision="median")
        >>> mae.update(torch.tensor([[0.6, 0.1, 0.3]]), torch.tensor([2]))  # probabilities
        >>> mae.update(torch.tensor([1, 2]), torch.tensor([1, 1]))  # or answers
        >>> mae.compute()
        tensor(1.)
    """

    is_differentiable = False
    full_state_update = False
    sums: Any

    def __init__(
        self, name: str, num_classes: int, *, decision: Any = "zero-one", **context: Any
    ) -> None:
        super().__init__()
        self.name = find(name).name
        self.num_classes = _checks.class_count("num_classes", num_classes)
        self.decision = decision
        refuse_unused([self.metric], context, decision)
        self.context = {"num_classes": self.num_classes, **context}
        if self.metric.adds_up:
            # The sums of one made-up example have the shape of all sums.
            zero = torch.zeros(1, dtype=torch.long)
            certain = torch.eye(1, self.num_classes)
            one = self.metric.sums_of(zero, zero, **self.context, probabilities=certain)
            # Apple's devices have no float64, and it must be possible to move the state there.
            dtype = torch.float32 if torch.backends.mps.is_available() else one.dtype
            self.add_state("sums", torch.zeros_like(one, dtype=dtype), dist_reduce_fx="sum")
        else:
            self.add_state("sums", [], dist_reduce_fx="cat")

    @property
    def metric(self) -> Metric:
        return find(self.name)

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        return self.metric.higher_is_better

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch: probabilities (N, C) or answers (N), and true classes (N)."""
        is_probability = preds.is_floating_point()
        context = {**self.context, "probabilities": preds} if is_probability else self.context
        answers = decided(preds, self.decision, self.context) if is_probability else preds
        sums = self.metric.sums_of(answers, target, **context)
        if self.metric.adds_up:
            self.sums = self.sums + sums.to(self.sums)
        else:
            self.sums.append(sums)

    def compute(self) -> Tensor:
        """The metric over everything since the last reset, a scalar."""
        sums = self.sums
        if isinstance(sums, list):
            if not sums:
                return torch.tensor(torch.nan)  # like the mean of no examples
            sums = torch.cat(sums)
        return self.metric.finish(sums).to(torch.get_default_dtype())


def collection(
    names: str | Iterable[str], num_classes: int, *, decision: Any = "zero-one", **context: Any
) -> "torchmetrics.MetricCollection":
    """Several streaming metrics under their names, each with its companions.

    Args: as :class:`StreamingMetric`, with several names.

    Example:
        >>> import torch
        >>> from simloss.metrics.streaming import collection
        >>> metrics = collection(["accuracy", "mae"], num_classes=3, decision="median")
        >>> sorted(metrics(torch.tensor([[0.6, 0.1, 0.3]]), torch.tensor([2])))
        ['accuracy', 'calibration_error', 'mae', 'nll']
    """
    shown = [find(name) for name in columns(names)]
    refuse_unused(shown, context, decision)
    made: dict[str, torchmetrics.Metric | torchmetrics.MetricCollection] = {
        metric.name: StreamingMetric(
            metric.name, num_classes, decision=decision, **used(metric, context, decision)
        )
        for metric in shown
    }
    # Metrics with equal sums are still different metrics: they share nothing.
    return torchmetrics.MetricCollection(made, compute_groups=False)
