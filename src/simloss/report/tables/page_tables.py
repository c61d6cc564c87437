"""The tables as the page shows them: few enough lines to read, and details on hovering."""

import math
from typing import Any

from ...metrics import Metric
from ..judge.paper_table import Entry, Line, Table, caption
from ..judge.results import Row
from ..judge.verdict import Verdict
from ..judge.wording import answered_by, cut, p_text, runs

# The most lines per family; the files beside the page hold all.
_MOST_ROWS = 25


def page_tables(verdict: Verdict) -> dict[str, Any]:
    """For the template: the tables, their caption, and what they leave out."""
    shown, hidden = [], 0
    for table in verdict.tables if verdict.results.done else []:
        groups = []
        for lines in table.groups.values():
            kept = _worth_showing(verdict, table, lines)
            hidden += len(lines) - len(kept)
            groups.append([_table_line(table, line) for line in kept])
        shown.append({"rule": answered_by(table.rule), "columns": table.columns, "groups": groups})
    left_out = f"{hidden:,} more lines are in table.csv and table.md." if hidden else ""
    return {"tables": shown, "caption": caption(verdict.results), "left_out": left_out}


def _worth_showing(verdict: Verdict, table: Table, lines: list[Line]) -> list[Line]:
    """All lines of a family; if there are very many, the best on validation, in order."""
    if len(lines) <= _MOST_ROWS:
        return lines
    metric = verdict.results.metric
    sign = -1 if metric.higher_is_better else 1

    def rank(line: Line) -> float:
        mean = line.row.mean("validation", table.rule, metric.name)
        return math.inf if math.isnan(mean) else sign * mean

    best = {id(line) for line in sorted(lines, key=rank)[:_MOST_ROWS]}
    return [line for line in lines if id(line) in best]


def _table_line(table: Table, line: Line) -> dict[str, Any]:
    cells = {
        part: [
            {
                "text": metric.format(entry.mean),
                "is_best": entry.is_best,
                "mark": entry.mark.replace("-", "−"),
                "title": _title(line.row, part, table.rule, metric, entry),
            }
            for metric, entry in zip(table.columns, entries, strict=True)
        ]
        for part, entries in line.parts.items()
    }
    return {"label": cut(line.row.label, 60), **cells}


def _title(row: Row, part: str, rule: str, metric: Metric, entry: Entry) -> str:
    """The hover text of a number."""
    parts = [runs(len(row.cells))]
    if not math.isnan(entry.spread):
        parts.append(f"standard deviation {metric.format(entry.spread)}")
    if not math.isnan(entry.p):
        parts.append(p_text(entry.p))
    calibrated = row.mean(part, rule, f"{metric.name}_calibrated")
    if not math.isnan(calibrated):
        parts.append(f"{metric.format(calibrated)} after temperature scaling")
    return ", ".join(parts)
