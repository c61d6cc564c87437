"""`simloss report`: what a run says, as text, tables and a page."""

from pathlib import Path


def report(folder: Path, /, *, out: Path | None = None) -> None:
    """Print the verdict of a run, and write report.html, table.md, table.tex and table.csv.

    The page is one file that works offline. Only the run's records are read: what is there of an
    unfinished run is reported as it stands.

    Parameters
    ----------
    folder
        The run folder, as compare and reproduce leave it. Or a Markdown page with regions that
        begin with <!-- results: FOLDER --> and end with <!-- end -->: they are made anew.
    out
        Where to write; into the run folder if not given.
    """
    if folder.suffix == ".md" and not folder.is_dir():
        _refresh(folder, out)
        return
    from ..report.run import Run
    from ..report.write import write

    run = Run.read(folder)
    print(run.verdict)
    print(f"\nReport: {write(run, folder if out is None else out)}", flush=True)


def _refresh(page: Path, out: Path | None) -> None:
    from ..report.results_page import refresh

    if out is not None:
        raise ValueError(f"`--out` does not apply to a page, which is written in place: '{page}'.")
    if not page.is_file():
        raise ValueError(f"`folder` must be a run folder or a page, but there is none at '{page}'.")
    for what in refresh(page):
        print(f"made anew: {what}")
