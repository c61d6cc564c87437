"""One cell: a treatment with a seed, from a configuration to a record."""

import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ... import __version__
from ...loss.registry import BASELINE
from ..plan.alternatives import Objective
from ..plan.config import Config, cell_id
from ..plan.treatment import Treatment
from ..rivals.learner import trained
from ..train.checkpoint import Checkpoint
from ..train.loop import NotFiniteError, Outcome, Part, logits_of
from ..train.measure import Judge, output_summary, temperature_of
from .setup import Setup, derived_seed
from .store import Arrays

CALIBRATED = "_calibrated"  # behind the name of a metric that is measured after a temperature

OnEpoch = Callable[[dict[str, Any]], None]


def run_cell(
    setup: Setup,
    treatment: Treatment,
    seed: int,
    on_epoch: OnEpoch = lambda line: None,
    unfinished: Path | None = None,
) -> tuple[dict[str, Any], Arrays | None]:
    """Train and measure one cell; a loss that is not finite makes a record that says so.

    `unfinished` is a folder where a long run leaves its state, to go on from if it is interrupted.
    """
    config, judge, parts = setup.config, setup.judge, setup.parts(seed)
    objective = setup.objective(treatment, seed)
    name = cell_id(config, treatment, seed)
    checkpoint = Checkpoint(unfinished / f"{name}.pt" if unfinished else None)
    started = time.perf_counter()
    finished: tuple[dict[str, Any], Arrays | None]
    try:
        outcome = trained(
            treatment,
            net := setup.net(seed, treatment),
            objective,
            parts,
            judge,
            config,
            derived_seed(seed, "order"),
            on_epoch,
            checkpoint,
        )
    except NotFiniteError as error:
        finished = failed(config, treatment, seed, str(error)), None
    else:
        finished = measured(config, treatment, seed, net, outcome, parts, judge, objective)
        if "seconds" in finished[0]:
            finished[0]["seconds"]["total"] = round(time.perf_counter() - started, 3)
    checkpoint.remove()
    return finished


def head(config: Config, treatment: Treatment, seed: int, status: str) -> dict[str, Any]:
    """What every record begins with."""
    return {
        "cell": cell_id(config, treatment, seed),
        "status": status,
        "treatment": {
            **treatment.as_dict(),
            "label": treatment.label,
            "family": treatment.family,
            "parameter": treatment.parameter,
        },
        "seed": seed,
        "versions": versions(),
    }


def failed(config: Config, treatment: Treatment, seed: int, reason: str) -> dict[str, Any]:
    """The record of a cell that could not be finished."""
    return {**head(config, treatment, seed, "failed"), "error": reason}


def measured(
    config: Config,
    treatment: Treatment,
    seed: int,
    net: nn.Module,
    outcome: Outcome,
    parts: dict[str, Part],
    judge: Judge,
    objective: Objective,
) -> tuple[dict[str, Any], Arrays | None]:
    """The record and the sidecar of a finished run: every rule at its own best weights.

    Of a net whose outputs for a part are not finite, as an input far from the others may make
    them, a record that says so.
    """
    record = {
        **head(config, treatment, seed, "done"),
        "metrics": {"validation": {}, "test": {}},
        "temperature": {},
        "best_epoch": outcome.best_epoch,
        "epochs": len(outcome.history),
        "history": outcome.history,
        "sizes": {name: len(part) for name, part in parts.items()},
        "seconds": {name: round(value, 3) for name, value in outcome.seconds.items()},
        "threads": torch.get_num_threads(),
    }
    if treatment == Treatment(BASELINE):  # once per seed is enough
        others = {name: parts[name].labels for name in ("validation", "test")}
        record["constant"] = judge.best_constants(parts["train"].labels, others)
    sidecar: Arrays = {}
    for rule in config.rules:
        net.load_state_dict(outcome.states[rule])
        outputs = {
            name: logits_of(net, part, config.training.precision)
            for name, part in parts.items()
            if name != "train" or rule == "argmax"  # else of no use
        }
        objective.remember(outputs["validation"], parts["validation"].labels)
        logits = {name: objective.logits(each) for name, each in outputs.items()}
        logits["validation"] = objective.held_out_logits(
            outputs["validation"], parts["validation"].labels
        )
        for name, each in logits.items():
            if bool(each.softmax(-1).isnan().any()):
                reason = f"the net's outputs for the {name} part are not finite."
                return failed(config, treatment, seed, reason), None
        temperature = temperature_of(logits["validation"], parts["validation"].labels)
        record["temperature"][rule] = temperature
        for name, each in logits.items():
            truth, p = parts[name].labels, each.softmax(-1)
            calibrated = (each / temperature).softmax(-1)
            answered = {rule: judge.answers(p, rule)}
            nearest = objective.nearest(outputs[name])
            if rule == "argmax" and nearest is not None:
                answered["nearest"] = nearest
            if name != "train":
                record["metrics"][name] |= {
                    way: judge.all_metrics(answers, truth, p)
                    | calibrated_metrics(
                        judge,
                        calibrated,
                        truth,
                        judge.answers(calibrated, rule) if way == rule else answers,
                    )
                    for way, answers in answered.items()
                }
            if rule == "argmax" or name == "test":
                summary = output_summary(p, answered, truth, judge.num_classes)
                keep = (
                    summary if rule == "argmax" else {k: v for k, v in summary.items() if rule in k}
                )
                sidecar |= {f"{name}_{key}": value for key, value in keep.items()}
    return record, sidecar


def calibrated_metrics(
    judge: Judge, p: torch.Tensor, truth: torch.Tensor, answers: torch.Tensor
) -> dict[str, float]:
    """The same metrics at the temperature that validation asks for, under "NAME_calibrated"."""
    values = judge.all_metrics(answers, truth, p)
    return {name + CALIBRATED: value for name, value in values.items()}


def versions() -> dict[str, str]:
    """What made a record."""
    return {"simloss": __version__, "torch": torch.__version__, "python": platform.python_version()}
