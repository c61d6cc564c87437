"""Runs that nobody trained: records and arrays drawn so that the truth about them is known."""

import json
from dataclasses import replace

import numpy as np

from simloss import metrics
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config, DataConfig, SplitConfig
from simloss.experiment.plan.treatment import Treatment, treatments

LOSSES = ("simloss", "proper", "soft-target")


def config(
    *,
    seeds=10,
    losses=LOSSES,
    values=(0.3, 0.5, 0.8),
    similarity="order",
    metrics=("mae", "accuracy"),
    rules=("argmax", "median"),
    source="abalone",
):
    arms = treatments(list(losses), similarity, list(values))
    return Config(
        "made up",
        DataConfig(source),
        "mlp",
        tuple(arms),
        tuple(range(seeds)),
        metrics,
        rules,
        SplitConfig(new_for_each_seed=True),
    )


def head(arm, seed):
    """What every record of a treatment begins with."""
    words = {"label": arm.label, "family": arm.family, "parameter": arm.parameter}
    return {
        "cell": "".join(c if c.isalnum() else "_" for c in f"{arm.label}-seed{seed}"),
        "treatment": {**arm.as_dict(), **words},
        "seed": seed,
        "versions": {"simloss": "0.1.0", "torch": "2.13.0", "python": "3.11"},
    }


def records(config, mean_of, *, noise=0.1, luck=0.3, seed=0):
    """One per cell. `mean_of(treatment, rule, metric)` is the truth.

    `luck` belongs to the seed and is shared by all treatments, as a hard split is; `noise` is each
    cell's own, and half of it is shared by validation and test.
    """
    draw = np.random.default_rng(seed)
    split = dict(zip(config.seeds, draw.normal(0, luck, len(config.seeds)), strict=True))
    made = []
    for number in config.seeds:
        for arm in config.treatments:
            own = draw.normal(0, noise)
            numbers = {
                part: {
                    rule: {
                        name: mean_of(arm, rule, name) + split[number] + own + draw.normal(0, noise)
                        for name in metrics.columns((*config.metrics, "nll", "calibration_error"))
                    }
                    for rule in config.rules
                }
                for part in ("validation", "test")
            }
            made.append({**head(arm, number), "status": "done", "metrics": numbers})
    return made


def failed(record, error="the loss was not finite in epoch 3"):
    """The same cell, gone wrong."""
    kept = {name: record[name] for name in ("cell", "treatment", "seed", "versions")}
    return {**kept, "status": "failed", "error": error}


def outputs(num_classes, width, draw, examples=2000):
    """The arrays of one cell: bell-shaped outputs of a certain width around a noisy truth."""
    arrays = {}
    classes = np.arange(num_classes)
    for part in ("train", "validation", "test"):
        truth = np.minimum(draw.poisson(num_classes / 3, examples), num_classes - 1)
        bell = np.exp(-0.5 * ((classes - classes[:, None]) / width) ** 2)
        answers = np.clip(np.rint(truth + draw.normal(0, width, examples)), 0, num_classes - 1)
        confusion = np.zeros((num_classes, num_classes), np.int32)
        np.add.at(confusion, (truth, answers.astype(int)), 1)
        right = np.linspace(0.05, 0.8, 15)
        counts = np.full(15, examples / 15)
        arrays[f"{part}_counts"] = np.bincount(truth, minlength=num_classes).astype(np.int32)
        arrays[f"{part}_mean_output"] = (bell / bell.sum(1, keepdims=True)).astype(np.float16)
        arrays[f"{part}_calibration"] = np.stack(
            [counts, counts * right, counts * (np.arange(15) + 0.5) / 15]
        )
        arrays[f"{part}_confusion_argmax"] = confusion
    arrays["test_confusion_median"] = arrays["test_confusion_argmax"]
    return arrays


def history(epochs, config, draw):
    """What training left, an entry an epoch."""
    falling = 5 * np.exp(-np.arange(epochs) / 5) + 2 + draw.normal(0, 0.05, epochs)
    return [
        {"epoch": i + 1, "loss": float(v), "validation": {rule: float(v) for rule in config.rules}}
        for i, v in enumerate(falling)
    ]


def folder(
    path, config, made, *, num_classes=29, width=lambda arm: 1.5, epochs=20, names=None, seed=0
):
    """A run folder on disk, as an experiment leaves it."""
    draw = np.random.default_rng(seed)
    run = RunFolder(path)
    arms = {arm.label: arm for arm in config.treatments}
    with run.open_for_writing(config, resume=False):
        for record in made:
            arrays = None
            if record["status"] == "done":
                record = {
                    **record,
                    "history": history(epochs, config, draw),
                    "best_epoch": dict.fromkeys(config.rules, epochs),
                    "epochs": epochs,
                    "sizes": {"train": 600, "validation": 200, "test": 200},
                    "seconds": {"total": 1.0},
                    "threads": 1,
                }
                arrays = outputs(num_classes, width(arms[record["treatment"]["label"]]), draw)
            run.append([(record, arrays)])
    if names is not None:
        (path / "classes.json").write_text(json.dumps(names))
    return run


def without_similarity(arm):
    return arm.loss == "cross-entropy"


def same_everywhere(arm, rule, metric):
    """Nothing helps."""
    return 4.0


def with_options(config, **options):
    """The configuration with one more treatment: cross entropy with options."""
    extra = Treatment("cross-entropy", options=options)
    return replace(config, treatments=(*config.treatments, extra))
