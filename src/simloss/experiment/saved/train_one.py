"""One net, trained and saved."""

from collections.abc import Iterator
from pathlib import Path

from torch import nn

from ... import _checks, metrics
from ..grid.cell import OnEpoch, measured
from ..grid.setup import Setup, derived_seed
from ..plan.alternatives import Objective
from ..rivals.learner import trained
from ..train.loop import Part, logits_of
from ..train.splits import Ready
from .model import SavedModel


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
    saved_model(setup, net, objective, parts["train"], record["temperature"][rule]).save(out)
    best, all_of_them = outcome.best_epoch[rule], len(outcome.history)
    step = "round" if treatment.learner == "trees" else "epoch"
    yield f"{step} {best} of {all_of_them} was best on validation, answered by {rule}"
    for part in ("validation", "test"):
        values = record["metrics"][part][rule]
        known = [metrics.find(name) for name in judge.names if name in values]
        shown = [f"{each.label} {each.format(values[each.name])}" for each in known]
        yield f"{part}: {', '.join(shown)}"
    yield f"Model: {out}{replaced}"


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
