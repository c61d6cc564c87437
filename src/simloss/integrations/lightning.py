"""Callbacks for Lightning: change the similarity while training, log metrics per decision.

Needs the extra `lightning`. The losses are plain modules and do not need this module.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..loss.module import SimilarityLoss
from ..metrics.context import refuse_unused, used
from ..metrics.registry import find
from ..metrics.selection import columns

_checks.installed("lightning", "lightning")

from lightning.pytorch import Callback, LightningModule, Trainer  # noqa: E402

from ..metrics.streaming import StreamingMetric  # noqa: E402


class SimilaritySchedule(Callback):  # type: ignore[misc]
    r"""Changes the similarity of a module's losses at the start of each training epoch.

    .. math:: S = \mathrm{similarity}(x_e), \qquad x_e \text{ the value of epoch } e

    The value depends only on the epoch, and the similarity is saved with the module: a resumed
    run or an evaluated checkpoint has the similarity it had.

    Args:
        similarity: a function from a number to a similarity, such as ``lambda r: order(90, r=r)``.
        values: one number per epoch, the last of which stays; or a function of the epoch.
        name: the name to log the number under; None logs nothing.

    Example:
        >>> from simloss.integrations.lightning import SimilaritySchedule
        >>> from simloss.similarity import order
        >>> schedule = SimilaritySchedule(lambda r: order(90, r=r), [0.9, 0.8, 0.6, 0.3, 0.0])
        >>> schedule.value(2), schedule.value(100)
        (0.6, 0.0)
    """

    def __init__(
        self,
        similarity: Callable[[float], Any],
        values: Sequence[float] | Callable[[int], float],
        *,
        name: str | None = "r",
    ) -> None:
        if not callable(values):
            _checks.not_empty("values", values)
            values = [_checks.real("values", each) for each in values]
        self.similarity, self.values, self.name = similarity, values, name

    def value(self, epoch: int) -> float:
        """The number for an epoch."""
        if callable(self.values):
            return self.values(epoch)
        return self.values[min(epoch, len(self.values) - 1)]

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Set the similarity of the epoch."""
        losses = [each for each in pl_module.modules() if isinstance(each, SimilarityLoss)]
        if not losses:
            raise ValueError(
                f"SimilaritySchedule must find a simloss loss among the submodules of the "
                f"LightningModule, but {type(pl_module).__name__} has none; keep the loss as an "
                f"attribute: `self.loss = SimLoss(...)`."
            )
        value = self.value(trainer.current_epoch)
        for loss in losses:
            loss.set_similarity(self.similarity(value))
        if self.name is not None:
            pl_module.log(self.name, float(value), on_step=False, on_epoch=True, sync_dist=True)


class DecisionMetrics(Callback):  # type: ignore[misc]
    """Logs metrics of the answers made by several decisions, in validation and test.

    A metric of answers is logged for each decision, as "val_mae_median"; one of probabilities
    once, as "val_nll". Metrics come with the companions without which they mislead. The logged
    value covers the whole epoch, over all processes.

    `validation_step` (and `test_step`) must return a dict with "logits" (N, C) and "target" (N).

    Args:
        metrics: names of :mod:`simloss.metrics`.
        num_classes: C.
        decisions: names of decisions of :func:`simloss.decide`; or name -> cost, for others.
        **context: what else the metrics need: `cost`, `tree`, `similarity`, `positions`.

    Example:
        >>> from simloss.integrations.lightning import DecisionMetrics
        >>> DecisionMetrics(["accuracy", "mae"], 90, decisions=["argmax", "median"]).names("val")
        ['val_accuracy_argmax', 'val_mae_argmax', 'val_accuracy_median', 'val_mae_median',
         'val_nll', 'val_calibration_error']
    """

    def __init__(
        self,
        metrics: Sequence[str],
        num_classes: int,
        *,
        decisions: Sequence[str] | Mapping[str, Any] = ("argmax", "median"),
        **context: Any,
    ) -> None:
        _checks.not_empty("metrics", metrics)
        _checks.not_empty("decisions", decisions)
        if not isinstance(decisions, Mapping):
            decisions = {name: name for name in decisions}
        self._streams: dict[str, StreamingMetric] = {}
        names = columns(metrics)
        refuse_unused([find(name) for name in names], context, *decisions.values())
        for decision, cost in decisions.items():
            for name in (each for each in names if "probabilities" not in find(each).needs):
                stream = _stream(name, num_classes, cost, context)
                self._streams[f"{name}_{decision}"] = stream
        for name in (each for each in names if "probabilities" in find(each).needs):
            self._streams[name] = _stream(name, num_classes, "argmax", context)

    def names(self, stage: str) -> list[str]:
        """The names logged in a stage, "val" or "test"."""
        return [f"{stage}_{name}" for name in self._streams]

    def on_validation_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Reset."""
        self._begin(pl_module)

    def on_validation_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, *_: Any
    ) -> None:
        """Add a batch."""
        self._take(outputs, "validation_step")

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Log the metrics of the epoch."""
        self._log(pl_module, "val")

    def on_test_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Reset."""
        self._begin(pl_module)

    def on_test_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, *_: Any
    ) -> None:
        """Add a batch."""
        self._take(outputs, "test_step")

    def on_test_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Log the metrics of the epoch."""
        self._log(pl_module, "test")

    def _begin(self, pl_module: LightningModule) -> None:
        for stream in self._streams.values():
            stream.reset()
            stream.to(pl_module.device)

    def _take(self, outputs: Any, step: str) -> None:
        if not isinstance(outputs, Mapping) or not {"logits", "target"} <= outputs.keys():
            came = sorted(outputs) if isinstance(outputs, Mapping) else type(outputs).__name__
            raise ValueError(
                f"`{step}` must return a dict with 'logits' and 'target' for DecisionMetrics, "
                f"but returned {came}."
            )
        logits: Tensor = outputs["logits"].detach()
        probabilities = logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(-1)
        for stream in self._streams.values():
            stream.update(probabilities, outputs["target"])

    def _log(self, pl_module: LightningModule, stage: str) -> None:
        values = [stream.compute() for stream in self._streams.values()]
        # Already the same on all processes; Lightning still requires the flag.
        pl_module.log_dict(dict(zip(self.names(stage), values, strict=True)), sync_dist=True)


def _stream(
    name: str, num_classes: int, decision: Any, context: Mapping[str, Any]
) -> StreamingMetric:
    own = used(find(name), context, decision)
    return StreamingMetric(name, num_classes, decision=decision, **own)
