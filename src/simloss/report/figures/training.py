"""The validation metric by epoch, averaged over the seeds that are still training."""

import math
from typing import Any

from ... import metrics
from ..judge.results import Results, Row
from .style import Figure, axis, colour, dash, layout, plain, rounded

History = list[dict[str, Any]]

# The most epochs to draw; of more, every second, third, ... one.
_POINTS = 300


def training(results: Results, histories: list[tuple[Row, list[History]]]) -> Figure | None:
    """One line per treatment; None if no history is recorded."""
    metric = metrics.find(results.config.training.stop_on)
    rule = results.rules[0]
    lines = [_line(results, row, known, rule) for row, known in histories]
    lines = [line for line in lines if line["x"]]
    if not lines:
        return None
    percent = {"tickformat": ".1%"} if metric.percent else {}
    y = axis(f"{metric.label}, validation", range=_interesting(lines), **percent)
    return {"data": lines, "layout": layout(axis("epoch"), y, height=400)}


def _interesting(lines: list[Figure]) -> list[float]:
    """The range after the first tenth of the epochs, which says little."""
    late = [value for line in lines for value in line["y"][len(line["y"]) // 10 :]]
    known = [value for value in late if value is not None] or [0.0, 1.0]
    margin = 0.05 * (max(known) - min(known)) or 0.1
    return [min(known) - margin, max(known) + margin]


def _line(results: Results, row: Row, histories: list[History], rule: str) -> Figure:
    curves = [_values(history, rule) for history in histories if history]
    # Once half of the runs have ended, the mean would be that of a few long runs.
    lengths = sorted(len(curve) for curve in curves)
    length = lengths[len(lengths) // 2] if lengths else 0
    epochs = range(0, length, max(1, -(-length // _POINTS)))
    means = [_mean([curve[i] for curve in curves if i < len(curve)]) for i in epochs]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plain(row.label, 40),
        "x": [i + 1 for i in epochs],
        "y": rounded(means),
        "line": {"color": colour(results, row), "width": 2, "dash": dash(results, row)},
        "hovertemplate": "epoch %{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
    }


def _values(history: History, rule: str) -> list[float]:
    return [float(epoch.get("validation", {}).get(rule, math.nan)) for epoch in history]


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
