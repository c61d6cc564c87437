"""`simloss compare`: whether similarity helps on this data."""
# ruff: noqa: D417  (`options` stands for what is said about the data)

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .._imports import UsersName
from .data_options import SHIPPED, DataOptions
from .parameters import (
    Decision,
    Device,
    Epochs,
    Flag,
    Names,
    Out,
    Output,
    Resume,
    Several,
    Similarity,
    Training,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..experiment.grid.setup import Setup

_QUICK_SEEDS, _QUICK_EPOCHS = 5, 30


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
    epochs: Epochs = None,
    device: Device = "auto",
    out: Out = None,
    resume: Resume = False,
    workers: Annotated[int | None, Training] = None,
    quick: Annotated[bool, Flag, Training] = False,
    worthwhile: Annotated[float, Output] = 1.0,
    json: Annotated[bool, Flag, Output] = False,
    yes: Annotated[bool, Flag, Similarity] = False,
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
        A table with --target, a folder of images (a folder per class), diamonds or abalone. If not
        given, diamonds, then abalone.
    r
        Values of the similarity's parameter to try.
    loss
        simloss, proper, soft-target, blended, or module:class. If not given, all four, and two with
        smooth logits, which need no value.
    rivals
        Of boosting, boosted-regression, boosted-regression-l2, linear, regression, regression-l2;
        or none. If not given, all that suit the table.
    decision
        How to answer beside argmax; what suits the classes if not given.
    seeds
        How many runs of each treatment, a loss with one value.
    workers
        Processes; as many as there are cores if not given.
    quick
        5 runs, 2 values, at most 30 epochs: enough to see a large gain, not a small one.
    worthwhile
        The smallest gain worth having, in percent of what cross entropy has.
    json
        Print the verdict as JSON, and everything else to standard error.
    yes
        Whole numbers that might be codes are an order.
    """
    from .. import _checks
    from .._disk import own_folder
    from ..experiment.grid.setup import Setup
    from ..experiment.plan.comparison import comparison_on
    from ..loss.registry import BASELINE
    from .codes import confirmed
    from .described import described
    from .running import run_and_report

    if r and loss and set(loss) == {BASELINE}:
        raise ValueError(f"`--r` is for a loss with similarity, but got --loss {BASELINE} only.")
    share = _checks.at_least_zero("worthwhile", worthwhile) / 100
    if quick:
        seeds, epochs = min(seeds, _QUICK_SEEDS), min(epochs or _QUICK_EPOCHS, _QUICK_EPOCHS)
    if source is None and options.target is not None:
        raise ValueError(
            f"SOURCE must be the table whose column is to be predicted, but it is missing: "
            f"simloss compare FILE --target {options.target}."
        )
    stream = sys.stderr if json else sys.stdout
    sources = [source] if source else [UsersName(name) for name in SHIPPED]
    for each in sources:
        found = options.read(each)
        proposal = options.propose(found, decision)
        config = comparison_on(
            found.data,
            found.dataset,
            proposal,
            values=r or (_few(proposal.values) if quick else None),
            losses=loss,
            rivals=rivals,
            seeds=seeds,
            epochs=epochs,
            model=options.model,
            augment=options.augment,
            device=device,
        )
        setup = Setup(config, found.dataset)
        asked = options.similarity is not None or yes
        doubts = () if asked else confirmed(found.dataset, options.target)
        for line in (
            *described(found.data, found.dataset, proposal),
            *doubts,
            *_planned(setup, workers, quick),
        ):
            print(line, file=stream, flush=True)
        folder = own_folder(out / each) if out and len(sources) > 1 else out
        run_and_report(
            setup, out=folder, resume=resume, workers=workers, worthwhile=share, as_json=json
        )


def _few(values: "Sequence[float]") -> list[float]:
    """One value of the first half and one of the second."""
    return [values[len(values) // 4], values[3 * len(values) // 4]]


def _planned(setup: "Setup", workers: int | None, quick: bool) -> "Iterator[str]":
    """What is going to happen, and how long it will take, line by line."""
    from ..experiment.grid.estimate import seconds_of
    from ..experiment.plan.alternatives import RIVALS
    from .described import split_described

    config = setup.config
    yield from split_described(setup, config.seeds)
    others = sum(each.loss in RIVALS for each in config.treatments) * len(config.seeds)
    count = len(config.treatments) * len(config.seeds) - others
    beside = f" and {others:,} rivals" if others else ""
    rules = ", ".join(config.rules)
    yield f"Training {count:,} nets ({config.model}){beside}, each answered by {rules}"
    seconds = seconds_of(setup, workers)
    about = (
        f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{max(10, round(seconds, -1)):.0f} s"
    )
    also = " for the nets; the rivals may take as long again" if others else ""
    yield f"About {about}{also}{'' if quick else '; --quick is shorter and shows large gains only'}"
