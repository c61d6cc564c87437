"""One net, trained and saved."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ... import _checks, metrics
from ..grid.cell import OnEpoch, dataset_of, derived_seed, fresh_net, measured
from ..plan.alternatives import objective_of
from ..plan.config import Config, argmax_and
from ..plan.default_treatment import start, with_baseline
from ..plan.presets import comparison, reproduction
from ..rivals.learner import trained
from ..train.loop import logits_of
from ..train.measure import Judge
from ..train.splits import Ready, indices_of, parts_of
from .model import SavedModel


def training_config(
    source: str,
    path: str | None,
    *,
    loss: str | None,
    similarity: str | None,
    value: float | None,
    rule: str | None,
    model: str | None,
    epochs: int | None,
    device: str,
    seed: int,
) -> Config:
    """The preset of a source, for one treatment, one seed and one rule; its own if None."""
    shipped = source in ("diamonds", "abalone")
    preset = (
        comparison(source, epochs=epochs)
        if shipped
        else (reproduction(source, path, epochs=epochs, device=device))
    )
    rule = rule or preset.rules[-1]
    if rule == "tree" and "tree" not in preset.rules:
        raise ValueError(f"`decision` 'tree' needs superclasses, but {source} has none.")
    kind = similarity or preset.treatments[1].similarity
    assert kind is not None
    return replace(
        preset,
        model=model or preset.model,
        treatments=with_baseline(start(loss, kind, value)),
        seeds=(seed,),
        rules=argmax_and(rule),
        training=replace(preset.training, keep_best_of="each rule", device=device),
    )


def train_and_save(
    config: Config, out: Path, on_epoch: OnEpoch = lambda line: None
) -> Iterator[str]:
    """Train the last treatment, write the model, and say line by line what happened."""
    if out.suffix != ".safetensors":
        raise ValueError(f"`--out` must end in .safetensors, but got '{out}'.")
    _checks.in_existing_folder("--out", out)
    treatment, seed, rule = config.treatments[-1], config.seeds[0], config.rules[-1]
    dataset = dataset_of(config)
    parts = parts_of(dataset, indices_of(dataset, config.split, seed))
    judge = Judge.of(dataset, config.metrics, config.cost)
    yield (
        f"{dataset.name}: {len(dataset):,} examples, {dataset.num_classes} classes; "
        f"{treatment.label}"
    )
    net = fresh_net(config, dataset, seed, treatment)
    objective = objective_of(treatment.loss_for(dataset, len(parts["train"])))
    outcome = trained(net, objective, parts, judge, config, derived_seed(seed, "order"), on_epoch)
    record, _ = measured(config, treatment, seed, net, outcome, parts, judge, objective)
    net.load_state_dict(outcome.states[rule])
    objective.remember(logits_of(net, parts["validation"]), parts["validation"].labels)
    ready = parts["train"].ready
    assert isinstance(ready, Ready)
    SavedModel(
        net.cpu(),
        ready.standardize,
        dataset.class_names,
        dataset.superclasses,
        record["temperature"][rule],
        rule,
        config,
        dataset.input_shape,
        ready.encoder,
        judge.similarity.to_dense() if judge.similarity is not None else None,
        dataset.notes.get("edges"),
        dataset.notes.get("positions"),
        ready.tfidf,
        objective,
    ).save(out)
    best, all_of_them = outcome.best_epoch[rule], len(outcome.history)
    step = "round" if treatment.learner == "trees" else "epoch"
    yield f"{step} {best} of {all_of_them} was best on validation, answered by {rule}"
    for part in ("validation", "test"):
        values = record["metrics"][part][rule]
        known = [metrics.find(name) for name in judge.names if name in values]
        shown = [f"{each.label} {each.format(values[each.name])}" for each in known]
        yield f"{part}: {', '.join(shown)}"
    yield f"Model: {out}"
