"""`simloss compare`: whether similarity helps on this data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .._imports import UsersName
from .data_options import SHIPPED, TheirOptions
from .parameters import Decision, Flag, Several

if TYPE_CHECKING:
    from ..experiment.plan.config import Config


def compare(
    data: UsersName | None = None,
    /,
    *,
    r: Annotated[list[float] | None, Parameter(name=["--r", "--value"]), Several] = None,
    loss: Annotated[list[UsersName] | None, Several] = None,
    rivals: Annotated[list[str] | None, Several] = None,
    decision: Decision | None = None,
    seeds: int = 10,
    epochs: int | None = None,
    out: Path | None = None,
    resume: Annotated[bool, Flag] = False,
    workers: int | None = None,
    theirs: TheirOptions = TheirOptions(),  # noqa: B008
) -> None:
    """Train with and without similarity, and say whether it helps.

    Cross entropy, SimLoss, the proper and the soft-target loss and the proper one blended with a
    tenth of cross entropy, each answered by argmax and by what suits the classes (the median of
    ordered ones), on a new split for every seed. On tables, what people would use instead takes
    part: boosted trees, regression, a linear model. The parameter is chosen on validation data; the
    verdict is on test data, with statistics.

    Parameters
    ----------
    data
        A table (.csv, .tsv, .parquet) with --target, a folder of images with a folder a class (or
        train, val and test with such folders), or diamonds or abalone, the two shipped tables;
        both of these if not given.
    r
        Values of the similarity's parameter to try: r of order and values, the width of gaussian,
        the lower bound of words, the temperature of words-angle and tree, the power of a saved one.
    loss
        Which losses beside cross entropy: simloss, proper, soft-target, blended (proper with a
        tenth of cross entropy), or module:class; all four if not given.
    rivals
        Which rivals, for tables: boosting, boosted-regression, boosted-regression-l2, linear,
        regression, regression-l2, or none; all that suit the classes if not given.
    decision
        How to answer beside argmax; what suits the classes if not given.
    seeds
        How many runs of each treatment.
    epochs
        The most epochs a net may train.
    out
        The run folder; runs/NAME-DIGEST if not given, and then an earlier start is gone on with.
    resume
        Go on with the run in --out.
    workers
        Processes; as many as there are cores if not given.
    theirs
        What is said about your own table or images.
    """
    from dataclasses import replace

    from .. import _checks
    from ..experiment.grid.cell import dataset_of
    from ..experiment.plan.config import argmax_and
    from ..experiment.plan.presets import COMPARE_LOSSES, COMPARE_R, comparison
    from ..experiment.plan.rivals import rivals_for
    from ..loss.registry import BASELINE
    from .running import run_and_report

    if r and loss and set(loss) == {BASELINE}:
        raise ValueError(f"`--r` is for a loss with similarity, but got --loss {BASELINE} only.")
    if data is not None and data not in SHIPPED:
        config = _theirs(data, theirs, r, loss, rivals, decision, seeds, epochs)
        run_and_report(config, out=out, resume=resume, workers=workers)
        return
    theirs.refuse_for_shipped(data or "a shipped table")
    tables = [data] if data else list(SHIPPED)
    for table in tables:
        config = comparison(
            table, r=r or COMPARE_R, losses=loss or COMPARE_LOSSES, seeds=seeds, epochs=epochs
        )
        if decision is not None:
            _checks.choice("decision", decision, ("argmax", "median", "mean"))
            config = replace(config, rules=argmax_and(decision))
        others = rivals_for(rivals, dataset_of(config), config.metrics)
        config = replace(config, treatments=(*config.treatments, *others))
        folder = out / table if out and len(tables) > 1 else out
        run_and_report(config, out=folder, resume=resume, workers=workers)


def _theirs(
    named: UsersName,
    theirs: TheirOptions,
    values: list[float] | None,
    losses: list[UsersName] | None,
    rivals: list[str] | None,
    decision: str | None,
    seeds: int,
    epochs: int | None,
) -> "Config":
    """The comparison on a user's own data, said aloud."""
    from dataclasses import replace

    from ..experiment.plan.locate import their_comparison
    from ..experiment.plan.presets import COMPARE_LOSSES
    from ..experiment.plan.rivals import rivals_for
    from .data_options import decided, described, split_described

    data, dataset, made = decided(theirs, named, decision)
    config = their_comparison(
        data,
        dataset,
        made,
        values=values,
        losses=losses or COMPARE_LOSSES,
        seeds=seeds,
        epochs=epochs,
        model=theirs.model,
        augment=theirs.augment,
    )
    others = rivals_for(rivals, dataset, made.metrics)
    for line in described(data, dataset, made):
        print(line)
    for line in split_described(dataset, config.split, config.seeds):
        print(line)
    rules = ", ".join(config.rules)
    count = len(config.treatments) * len(config.seeds)
    beside = f" and {len(others) * len(config.seeds):,} rivals" if others else ""
    print(f"Training {count:,} nets ({config.model}){beside}, each answered by {rules}", flush=True)
    return replace(config, treatments=(*config.treatments, *others))
