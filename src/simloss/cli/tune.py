"""`simloss tune`: the best loss and parameter, found with few epochs and then put to the test."""
# ruff: noqa: D417  (`options` stands for what is said about the data)

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .._imports import UsersName
from .data_options import PAPER, DataOptions
from .parameters import (
    Decision,
    Device,
    Epochs,
    Names,
    Out,
    Output,
    Papers,
    Resume,
    Search,
    Several,
    Similarity,
    Training,
)
from .stopping import stopped_politely

if TYPE_CHECKING:
    from ..experiment.plan.treatment import Treatment
    from ..experiment.search.trials import Found, Plan


def tune(
    source: UsersName,
    /,
    *,
    data: Papers = None,
    decision: Annotated[Decision | None, Output] = None,
    loss: Annotated[list[UsersName] | None, Names, Several, Similarity] = None,
    rivals: Annotated[list[str] | None, Several, Similarity] = None,
    trials: Annotated[int, Search] = 40,
    budget: Annotated[int | None, Search] = None,
    search_seeds: Annotated[int, Search] = 3,
    seeds: Annotated[int, Training] = 10,
    epochs: Epochs = None,
    device: Device = "auto",
    out: Out = None,
    resume: Resume = False,
    workers: Annotated[int | None, Training] = None,
    options: DataOptions = DataOptions(),  # noqa: B008
) -> None:
    """Find the best loss and parameter for a metric and a decision, then compare it honestly.

    Cross entropy is always tried and may win. The search sees training and validation data only;
    what it finds is then compared with cross entropy with fresh seeds, on test data kept apart.

    Parameters
    ----------
    source
        What compare takes, or utkface, afad, cifar100 with --data.
    decision
        How the net will answer; what suits the classes if not given.
    loss
        simloss, proper, soft-target, blended, or module:class; if not given, all four, and the
        smooth losses.
    rivals
        Of the final comparison, as for compare; or none. If not given, all that suit the table.
    trials
        The most treatments to try.
    budget
        The most epochs of the search, but for the first two trials. If not given, cross entropy,
        each loss once, the best at three values, and more while a fifth of a grid's are left.
    search_seeds
        How many nets, each on its own split, a trial is the mean of.
    seeds
        How many runs of each treatment the final comparison has.
    workers
        Processes of the final comparison; as many as there are cores if not given.
    """
    from .. import _checks
    from .._disk import own_folder
    from ..experiment.grid.setup import Setup
    from ..experiment.plan.rivals import rivals_for
    from ..experiment.search.search import TRIALS, search
    from ..experiment.search.search_space import space_of
    from ..experiment.search.trials import final_config, plan, setup_of
    from .described import split_described
    from .running import run_and_report

    if workers is not None:
        _checks.class_count("workers", workers)  # said before the search, as is all that follows
    preset = options.preset(
        *(source, data),
        decision=decision,
        epochs=epochs,
        device=device,
        used=("metric", "similarity", "model", "augment"),
    )
    made = plan(
        preset.config,
        space_of(preset.config.similarity, loss),
        metric=options.metric,
        rule=decision,
        seeds=search_seeds,
        trials=trials,
        budget=budget,
    )
    setup = setup_of(made, preset.dataset)
    others = rivals_for(rivals, setup.dataset, made.config.metrics)
    for line in () if source in PAPER else split_described(setup, made.seeds):
        print(line, flush=True)
    _checks.run_count("seeds", seeds)
    folder = out or _folder(made)
    if out is not None and (out / TRIALS).exists() and not resume:
        raise ValueError(
            f"'{out}' must be a new folder, but it holds a search already; "
            f"add --resume to resume it, or name another with --out."
        )
    print(_planned(made), flush=True)
    with stopped_politely(lambda: f"The trials that ended are recorded in '{folder}'"):
        found = search(made, folder, _tell, setup)
    for line in _told(made, found, len(others)):
        print(line, flush=True)
    arm = found.candidate
    run_and_report(
        Setup(final_config(made, found, seeds, others), preset.dataset),
        out=own_folder(folder / _name(arm)),
        resume=True,
        workers=workers,
    )


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _folder(made: "Plan") -> Path:
    digest = hashlib.sha256(json.dumps(made.as_dict(), sort_keys=True).encode()).hexdigest()
    return Path("runs") / f"tune-{made.config.name}-{digest[:6]}"


def _name(arm: "Treatment") -> str:
    """Of the folder of the final comparison."""
    value = [] if arm.value is None else [f"{arm.value:g}"]
    smooth = ["smooth"] if arm.options else []
    return "-".join(["comparison", arm.loss.replace(":", "-"), *value, *smooth])


def _planned(made: "Plan") -> str:
    """The budget in plain words."""
    seeds, first = len(made.seeds), len(made.space.first())
    each = f"{seeds} net{'s' * (seeds > 1)} each"
    if made.budget is not None:
        ends = f"at most {made.trials} trials of {each}, until {made.budget:,} epochs are used"
    elif made.trials <= first:
        ends = f"{made.trials} trials of {each}"
    else:
        ends = (
            f"{first} trials of {each}, cross entropy and each loss once, then other values of the "
            f"best, up to {made.trials} trials while a fifth of a grid's epochs is not used up"
        )
    return f"Search: {ends}; a trial that is behind is given up. --trials and --budget change this."


def _told(made: "Plan", found: "Found", rivals: int) -> Iterator[str]:
    """What was found, in sentences."""
    from .. import _checks, metrics
    from ..loss.registry import BASELINE

    metric = metrics.find(made.metric)
    baseline, best = metric.format(found.baseline), metric.format(found.value)
    yield (
        f"\nSearch: {found.trials} trials, {found.pruned} of them given up early, "
        f"{found.epochs} epochs."
    )
    where = f"on validation data, answered by {made.rule}"
    if found.best.loss == BASELINE:
        yield (
            f"Cross entropy was best: {metric.label} {best} {where}. The best with similarity, "
            f"{found.candidate.label}, is compared with it all the same."
        )
    else:
        then = ", where it was given up" if found.baseline_gave_up else ""
        yield (
            f"Best: {found.best.label}, {metric.label} {best} {where}; "
            f"cross entropy {baseline}{then}."
        )
    also = _checks.counted(rivals, "rival", "rivals")
    compared = f"Cross entropy and {found.candidate.label}" + f", beside {also}" * (rivals > 0)
    yield f"{compared}, with fresh seeds, on test data that the search has not seen:"
