"""One net, trained and saved."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

from torch import nn

from ... import _checks, metrics
from ..grid.cell import CALIBRATED, OnEpoch, measured
from ..grid.setup import Setup, derived_seed
from ..plan.alternatives import Objective
from ..rivals.learner import trained
from ..train.loop import Part, logits_of
from ..train.splits import Ready
from .model import SavedModel

# By this share; less is luck, and not worth probabilities that do not mean what they say.
_WORSE = 0.01


def train_and_save(setup: Setup, out: Path, on_epoch: OnEpoch = lambda line: None) -> Iterator[str]:
    """Train the last treatment, write the model, and say line by line what happened."""
    if out.suffix != ".safetensors":
        raise ValueError(f"`--out` must end in .safetensors, but got '{out}'.")
    _checks.in_existing_folder("--out", out)
    replaced = " (replaced)" * out.exists()
    config, dataset, judge = setup.config, setup.dataset, setup.judge
    treatment, seed, rule = config.treatments[-1], config.seeds[0], config.rules[-1]
    judge.try_out(config.rules, config.training.stop_on)
    parts = setup.parts(seed)
    yield (
        f"{dataset.name}: {len(dataset):,} examples, {dataset.num_classes} classes; "
        f"{treatment.label}"
    )
    net, objective = setup.net(seed, treatment), setup.objective(treatment, seed)
    order = derived_seed(seed, "order")
    outcome = trained(treatment, net, objective, parts, judge, config, order, on_epoch)
    record, _ = measured(config, treatment, seed, net, outcome, parts, judge, objective)
    net.load_state_dict(outcome.states[rule])
    objective.remember(logits_of(net, parts["validation"]), parts["validation"].labels)
    temperature = kept_temperature([record], rule, config.metrics[0])
    saved_model(setup, net, objective, parts["train"], temperature).save(out)
    best, all_of_them = outcome.best_epoch[rule], len(outcome.history)
    step = "round" if treatment.learner == "trees" else "epoch"
    yield f"{step} {best} of {all_of_them} was best on validation, answered by {rule}"
    for part in ("validation", "test"):
        values = record["metrics"][part][rule]
        end = CALIBRATED if temperature != 1 else ""
        known = [metrics.find(name) for name in judge.names if name + end in values]
        shown = [f"{each.label} {each.format(values[each.name + end])}" for each in known]
        yield f"{part}: {', '.join(shown)}"
    yield f"Model: {out}{replaced}"


def kept_temperature(records: list[dict[str, Any]], rule: str, name: str) -> float:
    """The median of the temperatures of some runs; 1 where they make the answers of a rule worse.

    As they do where a net's outputs are no posterior (SimLoss's, by the median). By a metric on
    validation, in the mean of the runs; 1 also where the runs do not know it.
    """
    found = [_before_and_after(record, rule, name) for record in records]
    if not found or any(value is None for each in found for value in each):
        return 1.0
    before, after, temperatures = zip(*found, strict=True)
    loss = fmean(after) - fmean(before)
    loss = -loss if metrics.find(name).higher_is_better else loss
    return 1.0 if loss > _WORSE * abs(fmean(before)) else float(median(temperatures))


def _before_and_after(record: dict[str, Any], rule: str, name: str) -> tuple[Any, Any, Any]:
    values = record["metrics"].get("validation", {}).get(rule, {})
    temperature = record.get("temperature", {}).get(rule)
    return values.get(name), values.get(name + CALIBRATED), temperature


def saved_model(
    setup: Setup, net: nn.Module, objective: Objective, training: Part, temperature: float
) -> SavedModel:
    """A net with all that it needs to answer for new data by the last rule."""
    config, dataset, known = setup.config, setup.dataset, setup.judge.similarity
    ready = training.ready
    assert isinstance(ready, Ready)
    return SavedModel(
        net.cpu(),
        ready.standardize,
        dataset.class_names,
        dataset.superclasses,
        temperature,
        config.rules[-1],
        config,
        dataset.input_shape,
        ready.encoder,
        known.to_dense() if known is not None else None,
        dataset.notes.get("edges"),
        dataset.notes.get("positions"),
        ready.tfidf,
        objective,
    )
