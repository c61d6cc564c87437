"""What people would use instead: each rival's mean error by the median, source by source."""

from collections.abc import Sequence
from statistics import fmean

from simloss.experiment.plan.alternatives import RIVALS
from simloss.report.judge.results import Row
from simloss.report.judge.run import Run
from simloss.report.tables.markdown import escaped
from simloss.statistics import paired_comparison

from .over_sources import shared

_RULE, _METRIC = "median", "mae"
_OURS = "best net with similarity"


def instead(runs: Sequence[Run]) -> str:
    """Markdown: a line for each source; the lowest mean error is bold.

    Beside cross entropy and the rivals stands the net with similarity whose mean error on the
    validation parts is lowest. ``*`` is p < .05 against cross entropy, paired by split and not
    corrected for the number of columns.
    """
    columns = ["cross entropy", _OURS, *(RIVALS[name].label for name in RIVALS)]
    tables = [(run, _rows(run)) for run in runs]
    columns = [name for name in columns if any(name in rows for _, rows in tables)]
    head = ["source", "classes", "training rows per class", *map(escaped, columns)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for run, rows in tables:
        count = len(run.classes)
        per_class = f"{run.sizes['train'] / count:,.0f}"
        cells = _cells(rows, columns)
        lines.append([escaped(run.config.name), str(count), per_class, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rows(run: Run) -> dict[str, Row]:
    known = {row.label: row for row in run.results.done}
    ours = [row for row in run.results.done if row.uses_similarity and not row.is_baseline]
    if ours:
        known[_OURS] = min(ours, key=lambda row: _mean(row, "validation"))
    return known


def _mean(row: Row, part: str) -> float:
    found = row.by_seed(part, _RULE, _METRIC).values()
    return fmean(found) if found else float("inf")


def _cells(rows: dict[str, Row], columns: list[str]) -> list[str]:
    means = {name: _mean(rows[name], "test") for name in columns if name in rows}
    lowest, base = min(means.values()), rows["cross entropy"]
    cells = []
    for name in columns:
        if name not in means:
            cells.append("–")
            continue
        text = f"{means[name]:.4g}" + ("*" if _differs(rows[name], base) else "")
        cells.append(f"**{text}**" if means[name] == lowest else text)
    return cells


def _differs(row: Row, base: Row) -> bool:
    ours, theirs = shared(row, base, _RULE, _METRIC)
    if row is base or len(ours) < 6:
        return False
    found = paired_comparison(theirs, ours, higher_is_better=False, interval=False)
    return bool(found.p_value < 0.05)
