"""What learns a treatment: the configuration's net, a linear one, or boosted trees."""

from collections.abc import Callable
from typing import Any

from torch import nn

from ... import _threads
from ..plan.alternatives import Objective
from ..plan.config import Config
from ..plan.treatment import KNOWN, Treatment
from ..train.checkpoint import Checkpoint
from ..train.loop import Outcome, Part, train
from ..train.measure import Judge
from ..train.nets import model
from .boost import boost
from .linear import fit_linear
from .trees import BoostedTrees


def untrained(
    treatment: Treatment, named: str, input_shape: tuple[int, ...], num_classes: int
) -> nn.Module:
    """The learner of a treatment before it has learned; `named` is the configuration's net."""
    if treatment.learner == "net":
        return model(named, input_shape, num_classes)
    if len(input_shape) != 1:
        raise ValueError(
            f"`loss` {treatment.loss!r} is for tables, but an input has shape {input_shape}."
        )
    if treatment.learner == "linear":
        return model("linear", input_shape, num_classes)
    is_regression = getattr(KNOWN[treatment.loss], "needs", None) == "order"
    return BoostedTrees(input_shape[0], 1 if is_regression else num_classes)


def trained(
    treatment: Treatment,
    learner: nn.Module,
    objective: Objective,
    parts: dict[str, Part],
    judge: Judge,
    config: Config,
    seed: int,
    on_epoch: Callable[[dict[str, Any]], None] = lambda line: None,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Train it as it is trained: a net batch by batch, trees by boosting, a linear one whole."""
    halves = parts["train"], parts["validation"]
    if treatment.learner == "trees":
        return boost(objective, *halves, judge, config.rules, config.training, seed, on_epoch)
    if treatment.learner == "linear":
        with _threads.suited_to(learner, len(parts["train"])):
            return fit_linear(
                learner, objective, *halves, judge, config.rules, config.training, on_epoch
            )
    return train(
        learner,
        objective,
        *halves,
        judge,
        config.rules,
        config.training,
        seed,
        on_epoch,
        checkpoint,
    )
