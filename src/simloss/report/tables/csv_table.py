"""The numbers as CSV in long format: one line per treatment, rule, part and metric."""

import csv
import io
import math
from typing import Any

from ..judge.paper_table import Entry
from ..judge.results import Row
from ..judge.verdict import Verdict

_HEAD = (
    *("label", "family", "loss", "similarity", "parameter", "value", "rule", "part", "metric"),
    *("mean", "standard_deviation", "runs", "p_value", "against_cross_entropy"),
    "best_on_validation",
)
_MARKS = {"+": "better", "-": "worse", "": ""}


def csv_of(verdict: Verdict) -> str:
    """All numbers of the tables."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_HEAD)
    for table in verdict.tables:
        for line in (line for group in table.groups.values() for line in group):
            for part, entries in line.parts.items():
                for metric, entry in zip(table.columns, entries, strict=True):
                    names = [table.rule, part, metric.name]
                    runs = len(line.row.by_seed(part, table.rule, metric.name))
                    cells = [*_treatment(line.row), *names, *_numbers(entry, runs)]
                    writer.writerow([_safe(cell) for cell in cells])
    return file.getvalue()


def _treatment(row: Row) -> list[Any]:
    keys = ("label", "family", "loss", "similarity", "parameter", "value")
    return [row.treatment.get(key) for key in keys]


def _numbers(entry: Entry, runs: int) -> list[Any]:
    best = "yes" if entry.is_best else ""
    return [entry.mean, entry.spread, runs, entry.p, _MARKS[entry.mark], best]


def _safe(cell: Any) -> Any:
    """A number unchanged, an empty cell for none, and no text that could be a formula."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{cell}"
    return cell
