"""`simloss compare`: whether similarity helps on this data."""
# ruff: noqa: D417  (`options` stands for what is said about the data)

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .._imports import UsersName
from .data_options import SHIPPED, DataOptions
from .parameters import Decision, Flag, Names, Output, Several, Similarity, Training

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..experiment.grid.setup import Setup


def compare(
    source: UsersName | None = None,
    /,
    *,
    r: Annotated[
        list[float] | None, Parameter(name=["--r", "--value"]), Several, Similarity
    ] = None,
    loss: Annotated[list[UsersName] | None, Names, Several, Similarity] = None,
    rivals: Annotated[list[str] | None, Several, Similarity] = None,
    decision: Annotated[Decision | None, Output] = None,
    seeds: Annotated[int, Training] = 10,
    epochs: Annotated[int | None, Training] = None,
    device: Annotated[str, Training] = "auto",
    out: Annotated[Path | None, Output] = None,
    resume: Annotated[bool, Flag, Output] = False,
    workers: Annotated[int | None, Training] = None,
    options: DataOptions = DataOptions(),  # noqa: B008
) -> None:
    """Train with and without similarity, and say whether it helps.

    Each loss is answered by argmax and by what suits the classes (the median of ordered ones), on
    a new split for every seed. On tables, what people would use instead takes part: boosted trees,
    regression, a linear model. The parameter is chosen on validation data; the verdict is on test
    data, with statistics.

    Parameters
    ----------
    source
        A table with --target, a folder of images (a folder per class), diamonds or abalone.
    r
        Values of the similarity's parameter to try.
    loss
        simloss, proper, soft-target, blended, or module:class; all four if not given.
    rivals
        Of boosting, boosted-regression, boosted-regression-l2, linear, regression, regression-l2;
        or none. If not given, all that suit the table.
    decision
        How to answer beside argmax; what suits the classes if not given.
    seeds
        How many runs of each treatment, a loss with one value.
    epochs
        The most epochs a net may train.
    device
        auto, cpu, cuda or mps.
    out
        The run folder; if not given, runs/NAME-DIGEST, which resumes an earlier run.
    resume
        Resume the run in --out.
    workers
        Processes; as many as there are cores if not given.
    """
    from ..experiment.grid.setup import Setup
    from ..experiment.plan.comparison import comparison_on
    from ..loss.registry import BASELINE
    from .described import described
    from .running import run_and_report

    if r and loss and set(loss) == {BASELINE}:
        raise ValueError(f"`--r` is for a loss with similarity, but got --loss {BASELINE} only.")
    sources = [source] if source else [UsersName(name) for name in SHIPPED]
    for each in sources:
        found = options.read(each)
        proposal = options.propose(found, decision)
        config = comparison_on(
            found.data,
            found.dataset,
            proposal,
            values=r,
            losses=loss,
            rivals=rivals,
            seeds=seeds,
            epochs=epochs,
            model=options.model,
            augment=options.augment,
            device=device,
        )
        setup = Setup(config, found.dataset)
        for line in (*described(found.data, found.dataset, proposal), *_planned(setup)):
            print(line, flush=True)
        folder = out / each if out and len(sources) > 1 else out
        run_and_report(setup, out=folder, resume=resume, workers=workers)


def _planned(setup: "Setup") -> "Iterator[str]":
    """What is going to happen, line by line."""
    from ..experiment.plan.alternatives import RIVALS
    from .described import split_described

    config = setup.config
    yield from split_described(setup, config.seeds)
    others = sum(each.loss in RIVALS for each in config.treatments) * len(config.seeds)
    count = len(config.treatments) * len(config.seeds) - others
    beside = f" and {others:,} rivals" if others else ""
    rules = ", ".join(config.rules)
    yield f"Training {count:,} nets ({config.model}){beside}, each answered by {rules}"
