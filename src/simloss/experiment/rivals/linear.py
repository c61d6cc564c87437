"""Multinomial logistic regression: the linear net by L-BFGS, stopped and kept as nets are."""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ..plan.alternatives import Objective
from ..plan.config import TrainingConfig
from ..train.loop import EarlyStopping, Outcome, Part
from ..train.measure import Judge

# So many steps are a line of the history. By single steps Adam is far from the optimum on many
# classes when a net's patience ends.
_STEPS = 10
# scikit-learn's C = 100: hardly any, for stopping early is a penalty of its own.
_PENALTY = 0.01


def fit_linear(
    net: nn.Module,
    objective: Objective,
    training: Part,
    validation: Part,
    judge: Judge,
    rules: tuple[str, ...],
    config: TrainingConfig,
    on_epoch: Callable[[dict[str, Any]], None] = lambda line: None,
) -> Outcome:
    """Minimise the mean loss plus 0.01 / (2 N) times the squared weights, on all examples at once.

    It ends where the validation metric has not improved for the patience, or at the optimum. Each
    decision rule keeps its own best weights.
    """
    x, truth = training.ready(training.inputs), validation.labels
    x_validation = validation.ready(validation.inputs)
    weights = list(net.parameters())
    optimizer = torch.optim.LBFGS(weights, max_iter=_STEPS, line_search_fn="strong_wolfe")
    kept = rules[:1] if config.keep_best_of == "argmax" else rules
    stopping = EarlyStopping(kept, config.stop_on, config.patience)
    outcome, started = Outcome(), time.perf_counter()

    def loss() -> Tensor:
        optimizer.zero_grad()
        squares = sum((each.square().sum() for each in weights), torch.zeros(()))
        value = objective(net(x), training.labels) + _PENALTY / (2 * len(x)) * squares
        value.backward()
        return value.detach()

    last = float("inf")
    for epoch in range(1, config.epochs + 1):
        optimizer.step(loss)
        value = float(loss())
        with torch.inference_mode():
            p = objective.logits(net(x_validation)).softmax(-1)
        line: dict[str, Any] = {"epoch": epoch, "loss": value, "validation": {}}
        for rule in rules:
            found = judge.metric(config.stop_on, judge.answers(p, rule), truth, p)
            line["validation"][rule] = found
            if rule in kept and stopping.improved(rule, found, epoch):
                outcome.best_epoch[rule] = epoch
                outcome.states[rule] = {k: v.clone() for k, v in net.state_dict().items()}
        outcome.history.append(line)
        on_epoch(line)
        if stopping.is_over(epoch) or not value < last:
            break
        last = value
    for rule in rules[len(kept) :]:
        outcome.states[rule] = outcome.states["argmax"]
        outcome.best_epoch[rule] = outcome.best_epoch["argmax"]
    outcome.seconds["train"] = time.perf_counter() - started
    return outcome
