"""`simloss report`: what a run says, as text, tables and a page."""

from pathlib import Path


def report(folder: Path, /, *, out: Path | None = None) -> None:
    """Print the verdict of a run, and write report.html, table.md, table.tex and table.csv.

    The page is one file that works offline. Only the run's records are read: what is there of an
    unfinished run is reported as it stands.

    Parameters
    ----------
    folder
        The run folder, as compare and reproduce leave it.
    out
        Where to write; into the run folder if not given.
    """
    from ..report.run import Run
    from ..report.write import write

    run = Run.read(folder)
    print(run.verdict)
    print(f"\nReport: {write(run, folder if out is None else out)}", flush=True)
