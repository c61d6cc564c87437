"""Gradient boosting by LightGBM, stopped and kept as nets are."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..plan.alternatives import Objective, Regression
from ..plan.config import TrainingConfig
from ..train.loop import EarlyStopping, NotFiniteError, Outcome, Part
from ..train.measure import Judge
from .trees import as_state

# LightGBM's own settings but for these: without some L2 its classifier diverges on many classes,
# and with fewer bins it takes half the time for the same answers. So do larger steps of many trees.
_SETTINGS: dict[str, Any] = {"lambda_l2": 1.0, "max_bin": 63, "metric": "None", "verbose": -1}
# A round is a smaller step than an epoch: so many are one, for the patience and for the most.
_PATIENCE, _MOST = 3, 10
_MANY_CLASSES = 50
# A probability of 0 has no logarithm.
_LEAST = 1e-30


def boost(
    objective: Objective,
    training: Part,
    validation: Part,
    judge: Judge,
    rules: tuple[str, ...],
    config: TrainingConfig,
    seed: int,
    on_epoch: Callable[[dict[str, Any]], None] = lambda line: None,
) -> Outcome:
    """Add trees until the validation metric has not improved for three times a net's patience.

    Each decision rule keeps its own best round. A line of the history is a round; its loss is that
    of the validation part.
    """
    booster = _booster(objective, training, validation, judge.num_classes, seed)
    kept = rules[:1] if config.keep_best_of == "argmax" else rules
    stopping = EarlyStopping(kept, config.stop_on, _PATIENCE * config.patience)
    outcome, truth, started = Outcome(), validation.labels, time.perf_counter()
    for number in range(1, _MOST * config.epochs + 1):
        grown_out = booster.update()
        outputs = _validation_outputs(booster)
        p = objective.logits(outputs).softmax(-1)
        if bool(p.isnan().any()):
            raise NotFiniteError(f"the trees' outputs became NaN in round {number}.")
        line: dict[str, Any] = {
            "epoch": number,
            "loss": float(objective(outputs, truth)),
            "validation": {},
        }
        for rule in rules:
            value = judge.metric(config.stop_on, judge.answers(p, rule), truth, p)
            line["validation"][rule] = value
            if rule in kept and stopping.improved(rule, value, number):
                outcome.best_epoch[rule] = number
        outcome.history.append(line)
        on_epoch(line)
        if grown_out or stopping.is_over(number):
            break
    for rule in rules:
        best = outcome.best_epoch.setdefault(rule, outcome.best_epoch["argmax"])
        outcome.states[rule] = as_state(booster.model_to_string(num_iteration=best))
    outcome.seconds["train"] = time.perf_counter() - started
    return outcome


def settings_of(objective: Objective, num_classes: int) -> dict[str, Any]:
    """What LightGBM is told of the task; `python -m benchmarks.boosting_settings` tries others."""
    if isinstance(objective, Regression):
        return {**_SETTINGS, "objective": "l2" if objective.squared else "l1"}
    rate = 0.2 if num_classes > _MANY_CLASSES else 0.1
    named = {"objective": "multiclass", "num_class": num_classes, "learning_rate": rate}
    return {**_SETTINGS, **named}


def _booster(
    objective: Objective, training: Part, validation: Part, num_classes: int, seed: int
) -> Any:
    """Before the first round, with the validation part to be watched."""
    import lightgbm

    settings = {
        **settings_of(objective, num_classes),
        "seed": seed % 2**31,
        "num_threads": 1,  # on a table of thousands of rows, two on a busy machine take ten times
        "deterministic": True,
        "force_row_wise": True,
    }
    parts = [(_inputs(part), _targets(objective, part.labels)) for part in (training, validation)]
    data = lightgbm.Dataset(*parts[0], params=settings)
    held = data.create_valid(*parts[1], params=settings)
    return lightgbm.Booster(settings, data).add_valid(held, "validation")


def _inputs(part: Part) -> Any:
    return part.ready(part.inputs).double().numpy()


def _targets(objective: Objective, labels: Tensor) -> Any:
    return (objective.standard(labels) if isinstance(objective, Regression) else labels).numpy()


def _validation_outputs(booster: Any) -> Tensor:
    """What the trees say so far of the validation part: logits (M, C), or numbers (M, 1)."""
    found: list[Any] = []

    def look(predictions: Any, _: Any) -> tuple[str, float, bool]:
        found.append(predictions)
        return "looked at", 0.0, False

    booster.eval_valid(look)
    outputs = torch.from_numpy(np.array(found[0]))
    if outputs.ndim == 1:
        return outputs.float().unsqueeze(1)
    return outputs.clamp(min=_LEAST).log().float()  # LightGBM hands out the softmax
