"""`simloss tune`: the best loss and parameter, found with few epochs and then put to the test."""
# ruff: noqa: D417  (`theirs` stands for the options of users' own files)

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .._imports import UsersName
from .data_options import SHIPPED, TheirOptions
from .parameters import Decision, Flag, Several
from .stopping import stopped_politely

if TYPE_CHECKING:
    from ..experiment.plan.config import Config
    from ..experiment.search.trials import Found, Plan

PAPER = ("utkface", "afad", "cifar100")


def tune(
    source: UsersName,
    /,
    *,
    data: Path | None = None,
    decision: Decision | None = None,
    loss: Annotated[list[UsersName] | None, Several] = None,
    rivals: Annotated[list[str] | None, Several] = None,
    trials: int = 40,
    budget: int | None = None,
    search_seeds: int = 3,
    seeds: int = 10,
    epochs: int | None = None,
    device: str = "auto",
    out: Path | None = None,
    resume: Annotated[bool, Flag] = False,
    workers: int | None = None,
    theirs: TheirOptions = TheirOptions(),  # noqa: B008
) -> None:
    """Find the best loss and parameter for a metric and a decision, then compare it honestly.

    Cross entropy is always tried and may win. The search sees training and validation data only;
    what it finds is then compared with cross entropy with fresh seeds, on test data kept apart.

    Parameters
    ----------
    source
        A table (.csv, .tsv, .parquet) with --target, a folder of images, diamonds or abalone, which
        are shipped, or utkface, afad, cifar100 with --data.
    data
        The archive or folder of utkface, afad, cifar100.
    decision
        How the net will answer; what suits the classes if not given.
    loss
        Which losses beside cross entropy: simloss, proper, soft-target, blended (proper with a
        tenth of cross entropy), or module:class; all four if not given.
    rivals
        Which rivals the final comparison has, for tables: boosting, boosted-regression,
        boosted-regression-l2, linear, regression, regression-l2, or none; all that suit the
        classes if not given.
    trials
        The most treatments to try.
    budget
        The most epochs to train in the search, but for the first two trials, which are always
        made; about a sixth of a full grid's if not given.
    search_seeds
        How many nets, each on a split of its own, a trial is the mean of.
    seeds
        How many runs of each treatment the final comparison has.
    epochs
        The most epochs a net may train.
    device
        auto, cpu, cuda or mps.
    out
        The run folder; runs/tune-NAME-DIGEST if not given, and then an earlier start is gone on
        with.
    resume
        Go on with the search in --out.
    workers
        Processes of the final comparison; as many as there are cores if not given.
    """
    from .. import _checks
    from ..experiment.grid.cell import dataset_of
    from ..experiment.plan.presets import COMPARE_LOSSES
    from ..experiment.plan.rivals import rivals_for
    from ..experiment.search.search import SETTINGS, search
    from ..experiment.search.search_space import space_of
    from ..experiment.search.trials import check, final_config, plan
    from .running import run_and_report

    if workers is not None:
        _checks.class_count("workers", workers)  # said before the search, as is all that follows
    preset = _preset(source, data, theirs, decision, epochs, device)
    kind = theirs.similarity or preset.treatments[1].similarity
    assert kind is not None
    space = space_of(kind, loss or COMPARE_LOSSES)
    made = plan(
        preset,
        space,
        metric=theirs.metric,
        rule=decision,
        seeds=search_seeds,
        trials=trials,
        budget=budget,
    )
    check(made)
    others = rivals_for(rivals, dataset_of(made.config), made.config.metrics)
    _checks.run_count("seeds", seeds)
    folder = out or _folder(made)
    if out is not None and (out / SETTINGS).exists() and not resume:
        raise ValueError(
            f"'{out}' must be a new folder, but it holds a search already; "
            f"add --resume to go on with it, or name another with --out."
        )
    with stopped_politely(lambda: f"The trials that ended are recorded in '{folder}'"):
        found = search(made, folder, lambda line: print(line, file=sys.stderr, flush=True))
    for line in _told(made, found):
        print(line, flush=True)
    arm = found.candidate
    run_and_report(
        final_config(made, found, seeds, others),
        out=folder / f"comparison-{arm.loss.replace(':', '-')}-{arm.value:g}",
        resume=True,
        workers=workers,
    )


def _preset(
    source: UsersName,
    data: Path | None,
    theirs: TheirOptions,
    decision: str | None,
    epochs: int | None,
    device: str,
) -> "Config":
    """The experiment on this data, of which the search takes all but the treatments."""
    from dataclasses import replace

    from .._disk import expanded
    from ..experiment.plan.presets import comparison, reproduction

    path = str(expanded(data).resolve()) if data else None
    if source in (*SHIPPED, *PAPER):
        theirs.refuse_for_shipped(source, but=("metric", "similarity"))
    if source in PAPER:
        return reproduction(
            source, path, epochs=epochs, device=device, similarity=theirs.similarity
        )
    if data is not None:
        raise ValueError(f"`--data` must go with {', '.join(PAPER)}, but got {source!r}.")
    made = comparison(source, epochs=epochs) if source in SHIPPED else None
    made = made or _theirs(source, theirs, decision, epochs)
    return replace(made, training=replace(made.training, device=device))


def _theirs(
    source: UsersName, theirs: TheirOptions, decision: str | None, epochs: int | None
) -> "Config":
    """The comparison on a user's own data, said aloud."""
    from ..experiment.plan.locate import their_comparison
    from ..experiment.plan.presets import COMPARE_LOSSES
    from .data_options import decided, described, split_described

    where, dataset, made = decided(theirs, source, decision)
    config = their_comparison(
        where,
        dataset,
        made,
        values=None,
        losses=COMPARE_LOSSES,
        seeds=1,
        epochs=epochs,
        model=theirs.model,
        augment=theirs.augment,
    )
    for line in described(where, dataset, made):
        print(line, flush=True)
    for line in split_described(dataset, config.split, config.seeds):
        print(line, flush=True)
    return config


def _folder(made: "Plan") -> Path:
    digest = hashlib.sha256(json.dumps(made.as_dict(), sort_keys=True).encode()).hexdigest()
    return Path("runs") / f"tune-{made.config.name}-{digest[:6]}"


def _told(made: "Plan", found: "Found") -> Iterator[str]:
    """What was found, in sentences."""
    from .. import metrics
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
    yield "Now both with fresh seeds, on test data that the search has not seen:"
