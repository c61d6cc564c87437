"""Writes the report files beside the records."""

from pathlib import Path

from ..experiment.writing import RunFolderError, write_whole
from .judge.run import Run
from .page.page import page
from .tables.csv_table import csv_of
from .tables.latex import latex_of
from .tables.markdown import markdown_of


def report(folder: Path, out: Path | None = None) -> Path:
    """Write report.html, table.md, table.tex and table.csv of a run folder.

    Args:
        folder: a run folder (docs/records.md); only its records are read, no model.
        out: another folder to write to; it is created if necessary.

    Returns:
        The path of report.html.
    """
    return write(Run.read(Path(folder)), Path(folder) if out is None else Path(out))


def write(run: Run, target: Path) -> Path:
    """The same for a run that is already read."""
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise RunFolderError(f"'{target}' cannot be written: {reason}.") from None
    contents = {
        "table.md": markdown_of(run.verdict),
        "table.tex": latex_of(run.verdict),
        "table.csv": csv_of(run.verdict),
        "report.html": page(run),
    }
    for name, text in contents.items():
        write_whole(target / name, text.encode())
    return target / "report.html"
