"""Run a grid from the command line: where it goes, how it is stopped, what it says at the end."""

import hashlib
import json
import os
import sys
import warnings
from pathlib import Path

from .. import _checks
from ..experiment.grid.progress import progress_for
from ..experiment.grid.run import cells_of, run
from ..experiment.grid.setup import Setup
from ..experiment.grid.store import RunFolder
from ..experiment.plan.config import Config, cell_id
from ..experiment.plan.rivals import notes_on, time_share
from ..experiment.train.loop import device_of
from ..report.judge.judgement import WORTHWHILE
from ..report.judge.run import Run
from ..report.judge.wording import one_line
from ..report.write import write
from .stopping import stopped_politely
from .streams import terminal


def folder_for(config: Config, out: Path | None) -> RunFolder:
    """The folder asked for, or one named after the experiment.

    The latter is the same for the same settings but for the number of runs, so the same command
    resumes an earlier run, and one with more seeds adds to it.
    """
    if out is not None:
        if out.exists() and not out.is_dir():
            raise ValueError(f"`--out` must be a folder, but '{out}' is a file.")
        return RunFolder(out)
    settings = {**config.as_dict(), "seeds": None}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    name = config.name.replace("/", "_")  # a name leads nowhere else
    return RunFolder(Path("runs") / f"{name}-{digest[:6]}")


def run_and_report(
    setup: Setup,
    *,
    out: Path | None,
    resume: bool,
    workers: int | None,
    cluster: str | None = None,
    worthwhile: float = WORTHWHILE,
    as_json: bool = False,
) -> None:
    """Run what is missing, judge all that the folder now holds, show the verdict and the report."""
    if workers is not None:
        _checks.run_count("workers", workers)
    folder = folder_for(setup.config, out)
    setup.check()
    for note in notes_on(setup.config, setup.dataset):
        print(note, file=sys.stderr if as_json else sys.stdout, flush=True)
    if cluster is None:  # whose workers may have what is not here
        device_of(setup.config.training.device)
    with stopped_politely(lambda: _recorded(setup.config, folder)), warnings.catch_warnings():
        # joblib replaces a worker that was idle for long; that is no matter of the user's.
        warnings.filterwarnings("ignore", message="A worker stopped", category=UserWarning)
        run(
            setup,
            folder,
            resume=resume or out is None,
            workers=workers or os.cpu_count() or 1,
            cluster=cluster,
            progress=progress_for(terminal(sys.stderr)),
        )
    judged = Run.read(folder.path, setup.config, worthwhile=worthwhile)
    report = write(judged, folder.path)  # before anything is said: it is what the run was for
    told = time_share(folder.records(without=("history",)))
    show(judged, report, as_json=as_json, told=told or "")


def show(judged: Run, report: Path, *, as_json: bool, told: str = "") -> None:
    """The verdict as text or as JSON."""
    if as_json:
        found = {"name": judged.config.name, **judged.verdict.as_dict(), "report": str(report)}
        print(json.dumps(found, ensure_ascii=False, indent=1), flush=True)
        return
    share = f"\n{told}" if told else ""
    name = one_line(judged.config.name)
    print(f"\n{name}\n{judged.verdict}{share}\n\nReport: {report}", flush=True)


def _recorded(config: Config, folder: RunFolder) -> str:
    wanted = {cell_id(config, *cell) for cell in cells_of(config)}
    recorded = {record["cell"] for record in folder.records()} if folder.exists() else set()
    done = len(wanted & recorded)
    return f"{done} of {len(wanted)} cells are recorded in '{folder.path}'"
