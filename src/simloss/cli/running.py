"""Run a grid from the command line: where it goes, how it is stopped, what it says at the end."""

import hashlib
import json
import os
import sys
from pathlib import Path

from .. import _checks
from ..experiment.grid.cell import dataset_of, fresh_net
from ..experiment.grid.progress import progress_for
from ..experiment.grid.run import cells_of, run
from ..experiment.grid.store import RunFolder
from ..experiment.plan.config import Config, cell_id
from ..experiment.plan.rivals import notes_on, time_share
from ..experiment.train.loop import device_of
from ..experiment.train.measure import Judge
from ..experiment.train.splits import indices_of
from .stopping import stopped_politely
from .streams import terminal


def folder_for(config: Config, out: Path | None) -> RunFolder:
    """The folder asked for, or one named after the experiment.

    The latter is the same for the same settings, so a second start goes on where the first stopped.
    """
    if out is not None:
        if out.exists() and not out.is_dir():
            raise ValueError(f"`--out` must be a folder, but '{out}' is a file.")
        return RunFolder(out)
    digest = hashlib.sha256(json.dumps(config.as_dict(), sort_keys=True).encode()).hexdigest()
    return RunFolder(Path("runs") / f"{config.name}-{digest[:6]}")


def run_and_report(
    config: Config,
    *,
    out: Path | None,
    resume: bool,
    workers: int | None,
    cluster: str | None = None,
) -> None:
    """Run what is missing, then print the verdict and write the report."""
    if workers is not None:
        _checks.run_count("workers", workers)
    folder = folder_for(config, out)
    prepared(config)
    if cluster is None:  # whose workers may have what is not here
        device_of(config.training.device)
    with stopped_politely(lambda: _recorded(config, folder)):
        run(
            config,
            folder,
            resume=resume or out is None,
            workers=workers or os.cpu_count() or 1,
            cluster=cluster,
            progress=progress_for(terminal(sys.stderr)),
        )
    _conclude(config, folder)


def prepared(config: Config) -> None:
    """Say what is wrong with the data, a split, a loss, a metric or the net before training.

    And before a folder is made: one with other settings could not be gone on with.
    """
    dataset = dataset_of(config)
    for seed in config.seeds:
        indices_of(dataset, config.split, seed)
    for treatment in config.treatments:
        treatment.loss_for(dataset)
    measured = (*config.metrics, config.training.stop_on)
    Judge.of(dataset, measured, config.cost).try_out(config.rules)
    for treatment in config.treatments:
        fresh_net(config, dataset, config.seeds[0], treatment)
    for note in notes_on(config, dataset):
        print(note, flush=True)


def _conclude(config: Config, folder: RunFolder) -> None:
    """What the folder says now, with what earlier starts have left in it."""
    from ..report.judge.run import Run
    from ..report.write import write

    found = Run.read(folder.path, config)
    report = write(found, folder.path)  # before anything is said: it is what the run was for
    told = time_share(folder.records(without=("history",)))
    share = f"\n{told}" if told else ""
    print(f"\n{found.config.name}\n{found.verdict}{share}\n\nReport: {report}", flush=True)


def _recorded(config: Config, folder: RunFolder) -> str:
    wanted = {cell_id(config, *cell) for cell in cells_of(config)}
    recorded = {record["cell"] for record in folder.records()} if folder.exists() else set()
    done = len(wanted & recorded)
    return f"{done} of {len(wanted)} cells are recorded in '{folder.path}'"
