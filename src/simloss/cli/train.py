"""`simloss train`: one net, saved."""
# ruff: noqa: D417  (`options` stands for what is said about the data)

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from .._imports import UsersName
from .data_options import PAPER, DataOptions
from .parameters import Data, Decision, Device, Epochs, Name, Output, Papers, Similarity, Training


def train(
    source: UsersName | None = None,
    /,
    *,
    from_: Annotated[Path | None, Parameter(name="--from"), Data] = None,
    data: Papers = None,
    loss: Annotated[UsersName | None, Name, Similarity] = None,
    value: Annotated[float | None, Parameter(name=["--value", "--r"]), Similarity] = None,
    decision: Annotated[Decision | None, Output] = None,
    epochs: Epochs = None,
    seed: Annotated[int, Training] = 0,
    device: Device = "auto",
    out: Annotated[Path, Output] = Path("model.safetensors"),
    options: DataOptions = DataOptions(),  # noqa: B008
) -> None:
    """Train one net, print what it reaches, and save it as a file that cannot run code.

    Parameters
    ----------
    source
        What compare takes, or utkface, afad, cifar100 with --data.
    from_
        A run folder of compare instead of a source: what it recommends is trained on all of its
        data, for as many epochs as its runs took; boosted trees and regressions on 80 %.
    loss
        blended, soft-target, simloss, proper, cross-entropy, or module:class; on a table also a
        rival: boosting, boosted-regression, linear, regression. If not given, cross-entropy: across
        our data sets no untuned loss beat it; with --value, blended.
    value
        The similarity's parameter.
    decision
        How the net will answer; the best epoch is chosen for it. If not given, what suits the
        classes: the median of an order, the lowest expected height in a tree.
    seed
        Of the weights, the order of examples and, except for utkface, afad and cifar100,
        which examples are for training, validation and test.
    out
        Where the model goes.
    """
    from .. import _checks, metrics
    from ..experiment.grid.setup import Setup
    from ..experiment.plan.comparison import one_of
    from ..experiment.plan.propose import knows_better_mistakes
    from ..experiment.saved.train_one import train_and_save
    from .described import split_described

    if from_ is not None:
        given = {"data": data, "loss": loss, "value": value, "decision": decision}
        given |= {"epochs": epochs, "seed": seed or None}
        _refuse_beside_run(source, given, options)
        _from_run(from_, out, device)
        return
    if source is None:
        raise ValueError("`source` must name what to train on, or --from a run, but got neither.")
    _checks.seed("seed", seed)
    _refuse_without_use(source, loss, value, options.similarity)
    preset = options.preset(
        *(source, data),
        decision=decision,
        epochs=epochs,
        device=device,
        used=("similarity", "model", "augment"),
    )
    # By a metric that knows no better mistakes, right answers are not traded for near ones.
    is_plain = not knows_better_mistakes(metrics.find(preset.config.metrics[0]))
    suits = "argmax" if is_plain and source not in PAPER else preset.config.rules[-1]
    config = one_of(preset.config, loss=loss, value=value, rule=decision or suits, seed=seed)
    setup = Setup(config, preset.dataset)
    for line in () if source in PAPER else split_described(setup, config.seeds):
        print(line)
    for line in train_and_save(setup, out, _show):
        print(line, flush=True)


def _refuse_beside_run(source: str | None, given: dict[str, Any], options: DataOptions) -> None:
    """One sentence on what `--from` would ignore."""
    usual = vars(DataOptions())
    given |= {k: v for k, v in vars(options).items() if v != usual[k]}
    others = [f"--{name.replace('_', '-')}" for name, each in given.items() if each is not None]
    for what in (*([repr(source)] if source is not None else []), *others):
        raise ValueError(f"`--from` brings its own data and settings, but got {what} as well.")


def _from_run(path: Path, out: Path, device: str) -> None:
    from ..experiment.grid.store import RunFolder
    from ..experiment.saved.recommended import recommended, train_recommended
    from ..report.judge.run import Run

    judged = Run.read(path)
    best = judged.verdict.recommendation
    if best is None:
        raise ValueError(
            f"`--from` must be a run that recommends something, but it says: "
            f"{judged.verdict.sentence}"
        )
    found = recommended(RunFolder(path), best.row.treatment, best.rule, device)
    for line in train_recommended(found, out, _show):
        print(line, flush=True)


def _refuse_without_use(
    source: str, loss: str | None, value: float | None, similarity: str | None
) -> None:
    """One sentence on an option that would change nothing."""
    from ..experiment.plan.alternatives import RIVALS
    from ..loss.registry import BASELINE

    if loss != BASELINE and loss not in RIVALS:
        return
    # Of data that is not the paper's, the similarity also says what is measured.
    given = {"value": value, "similarity": similarity if source in PAPER else None}
    for name, each in given.items():
        if each is not None:
            raise ValueError(f"`--{name}` is for a loss with similarity, but got --loss {loss}.")


def _show(line: dict[str, Any]) -> None:
    values = ", ".join(f"{rule} {value:.4g}" for rule, value in line["validation"].items())
    text = f"epoch {line['epoch']}: loss {line['loss']:.4g}"
    print(f"{text}, validation: {values}" if values else text, file=sys.stderr, flush=True)
