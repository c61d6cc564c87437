"""What a comparison recommends, trained on all of its data (a rival on 80 %) and saved."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ... import _checks
from ..grid.cell import OnEpoch
from ..grid.setup import Setup, derived_seed
from ..grid.store import RunFolder
from ..plan.alternatives import RIVALS
from ..plan.config import Config, argmax_and
from ..plan.default_treatment import FOR_RIVALS, saved_rule, with_baseline
from ..plan.treatment import Treatment
from ..train.loop import train
from ..writing import RunFolderError
from .train_one import kept_temperature, saved_model, train_and_save


class Recommended(NamedTuple):
    """A treatment and a decision, and what the runs found for them.

    Attributes:
        config: the experiment that recommends them, for one model; its last treatment is the one.
        temperature: for the model, as `kept_temperature` says.
    """

    config: Config
    temperature: float


def recommended(
    folder: RunFolder, treatment: dict[str, Any], rule: str, device: str = "auto"
) -> Recommended:
    """Of a run folder, with the treatment as its records hold it; to be trained on `device`."""
    rule = saved_rule(rule, folder.config().rules[-1])
    runs = [
        record
        for record in folder.records(without=("history",))
        if record["status"] == "done" and record["treatment"] == treatment
    ]
    epochs = [each for r in runs if (each := r.get("best_epoch", {}).get(rule)) is not None]
    if not epochs:
        raise RunFolderError(f"'{folder.path}' must record the best epochs, but it does not.")
    names = ("loss", "similarity", "value", "options")
    chosen = Treatment(**{k: treatment[k] for k in names if treatment.get(k) is not None})
    config, count = folder.config(), max(1, round(median(epochs)))
    is_net = chosen.loss not in RIVALS
    if is_net:
        training = replace(config.training, epochs=count, patience=count)
        config = replace(config, training=replace(training, keep_best_of="each rule"))
    config = replace(
        config,
        training=replace(config.training, device=device),
        treatments=with_baseline(chosen),
        seeds=config.seeds[:1],
        rules=argmax_and(rule),
        split=replace(config.split, shares=(1.0, 0.0, 0.0) if is_net else FOR_RIVALS),
    )
    return Recommended(config, kept_temperature(runs, rule, config.metrics[0]))


def train_recommended(
    found: Recommended, out: Path, on_epoch: OnEpoch = lambda line: None
) -> Iterator[str]:
    """Train it on every example for as many epochs as the runs took, and write the model."""
    setup = Setup(found.config)
    config, treatment, seed = found.config, found.config.treatments[-1], found.config.seeds[0]
    if treatment.loss in RIVALS:
        yield from train_and_save(setup, out, on_epoch)
        return
    if out.suffix != ".safetensors":
        raise ValueError(f"`--out` must end in .safetensors, but got '{out}'.")
    _checks.in_existing_folder("--out", out)
    replaced = " (replaced)" * out.exists()
    yield (
        f"{setup.dataset.name}: all {len(setup.dataset):,} examples, {config.training.epochs} "
        f"epochs; {treatment.label}, answered by {config.rules[-1]}"
    )
    parts = setup.parts(seed)
    net, objective = setup.net(seed, treatment), setup.objective(treatment, seed)
    # The weights of the last epoch are kept: there is nothing left to choose by.
    train(
        net,
        objective,
        parts["train"],
        parts["validation"],
        setup.judge,
        config.rules,
        config.training,
        derived_seed(seed, "order"),
        lambda line: on_epoch({**line, "validation": {}}),  # measured on what it is trained on
    )
    saved_model(setup, net, objective, parts["train"], found.temperature).save(out)
    yield f"Model: {out}{replaced}"
