"""Treatments x seeds: every cell once, in any number of processes, through any interruption."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from ..plan.config import Config, cell_id
from ..plan.treatment import Treatment
from ..writing import RunFolderError
from .cell import OnEpoch, run_cell
from .progress import Progress
from .setup import Setup
from .stacked import can_be_stacked
from .stacked_cells import run_cells_together
from .store import Arrays, RunFolder

Cell = tuple[Treatment, int]
Finished = list[tuple[dict[str, Any], Arrays | None]]

# Nets that train as one stack: more do not fit the cache, fewer do not fill a core.
_STACK = 40
_DASK_PATIENCE = "10s"
# What joblib and Dask raise then, by name, for neither need be installed.
_LOST = {"BrokenProcessPool", "BrokenExecutor", "TerminatedWorkerError", "KilledWorker"}
_LOST |= {"CommClosedError", "FutureCancelledError", "CancelledError", "ClosedClientError"}


def cells_of(config: Config) -> list[Cell]:
    """All cells; the treatments of one seed come together, so that an unfinished run is paired."""
    return [(treatment, seed) for seed in config.seeds for treatment in config.treatments]


def run(
    setup: Setup,
    folder: RunFolder,
    *,
    resume: bool = False,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Run what is not yet recorded, and return all records.

    Args:
        setup: the experiment.
        folder: where records go; written by this process only.
        resume: continue in a folder that holds records; those cells are not run again.
        workers: processes on this machine.
        cluster: the address of a Dask scheduler, "dask://host:port", instead.
        progress: who shows how far it is.
    """
    progress, config = progress or Progress(), setup.config
    config.check_baseline()
    with folder.open_for_writing(config, resume=resume):
        folder.describe(setup.dataset)
        recorded = {record["cell"] for record in folder.records()}
        cells = cells_of(config)
        tasks = [
            todo
            for task in tasks_of(setup, cells)
            if (todo := [cell for cell in task if cell_id(config, *cell) not in recorded])
        ]
        already = len(cells) - sum(len(task) for task in tasks)
        beats = folder.path / "running"
        with progress.run(config.name, len(cells), already, beats):
            for finished in _results(setup, tasks, beats, workers, cluster):
                folder.append(finished)
                progress.finished([record for record, _ in finished])
        return folder.records()


def tasks_of(setup: Setup, cells: list[Cell]) -> list[list[Cell]]:
    """Lists of cells that one process works on: one cell, or a stack of small nets of one kind.

    They depend on the configuration alone. A stack is recorded as a whole, so a resumed run has the
    same stacks as an uninterrupted one, and with them the same numbers to the last bit.
    """
    tasks = []
    for learner in dict.fromkeys(treatment.learner for treatment, _ in cells):
        some = [cell for cell in cells if cell[0].learner == learner]
        at_once = _STACK if learner == "net" and _stackable(setup) else 1
        tasks += [some[i : i + at_once] for i in range(0, len(some), at_once)]
    return tasks


def _stackable(setup: Setup) -> bool:
    training = setup.config.training
    return (
        setup.dataset.inputs.ndim == 2
        and training.precision == "float32"
        and training.device in ("auto", "cpu")
        and can_be_stacked(setup.net(0))
    )


def _results(
    setup: Setup, tasks: list[list[Cell]], beats: Path, workers: int, cluster: str | None
) -> Iterator[Finished]:
    if workers == 1 and cluster is None:
        for cells in tasks:
            yield _work(setup, cells, beats, None)
        return
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    with _backend(cluster), _lost_workers_named():
        jobs = [delayed(_work)(setup, cells, beats, 1) for cells in tasks]
        processes = -1 if cluster else workers
        if get_active_backend()[0].supports_return_generator:
            dispatch = "all" if cluster else "2*n_jobs"
            as_they_come = {"return_as": "generator_unordered", "pre_dispatch": dispatch}
            yield from Parallel(processes, batch_size=1, **as_they_come)(jobs)
        else:  # Ray's: a wave at a time, so that what is done is recorded before the next
            for wave in range(0, len(jobs), workers):
                yield from Parallel(processes, batch_size=1)(jobs[wave : wave + workers])


@contextmanager
def _lost_workers_named() -> Iterator[None]:
    """One sentence where worker processes have died."""
    try:
        yield
    except Exception as error:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if not kinds & _LOST:
            raise
        raise RunFolderError(
            "a process that trained cells has died: killed, out of memory, or its cluster gone; "
            "what was recorded before is safe, and --resume continues from there."
        ) from error


@contextmanager
def _backend(cluster: str | None) -> Iterator[None]:
    """The processes joblib works with: this machine's, or those of a Dask scheduler."""
    if cluster is None:
        yield
        return
    kind, _, address = cluster.partition("://")
    if kind != "dask" or not address:
        raise ValueError(f"`cluster` must be dask://host:port, but got {cluster!r}.")
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("`cluster` needs Dask: pip install 'simloss[dask]'.") from None
    from joblib import parallel_config

    try:
        client = Client(f"tcp://{address}", timeout=_DASK_PATIENCE)
    except OSError:
        raise RunFolderError(f"no Dask scheduler answers at {address}; is it running?") from None
    with client, parallel_config(backend="dask", wait_for_workers_timeout=60):
        yield


def _work(setup: Setup, cells: list[Cell], beats: Path, threads: int | None) -> Finished:
    """What a worker process does; each worker has one thread, so that they do not fight."""
    if threads is not None:
        torch.set_num_threads(threads)
    if len(cells) == 1:
        treatment, seed = cells[0]
        with _heartbeat(beats, f"{treatment.label}, seed {seed}") as on_epoch:
            return [run_cell(setup, treatment, seed, on_epoch, beats.parent / "unfinished")]
    with _heartbeat(beats, f"{len(cells)} nets together") as on_epoch:
        return run_cells_together(setup, cells, on_epoch)


@contextmanager
def _heartbeat(folder: Path, label: str) -> Iterator[OnEpoch]:
    """A small file that says how far a worker is; the progress display reads it."""
    path = folder / f"{time.time_ns():x}-{os.getpid()}.json"

    def beat(line: dict[str, Any]) -> None:
        # Only a hint: where it cannot be written (another machine), nothing is lost.
        with suppress(OSError):
            path.write_text(json.dumps({"label": label, **line}))

    beat({"epoch": 0})
    try:
        yield beat
    finally:
        with suppress(OSError):
            path.unlink()
