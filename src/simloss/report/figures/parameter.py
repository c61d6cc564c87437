"""A metric against the parameter, one plot per decision rule and kind of parameter."""

import math

from ... import metrics
from ...metrics import Metric
from ..judge.intervals import intervals
from ..judge.results import Row
from ..judge.selection import points_of_families
from ..judge.verdict import Verdict
from .style import (
    BLACK,
    SYMBOLS,
    Figure,
    axis,
    colours,
    cropped,
    layout,
    plain,
    rounded,
    say_outside,
)

_MOST_TICKS = 10


def parameters(verdict: Verdict) -> list[str]:
    """The kinds of parameter (r, l, t) with at least two values, among the families shown."""
    values: dict[str, set[float]] = {}
    shown = points_of_families(verdict.results, verdict.findings).values()
    for row in (row for rows in shown for row in rows):
        if row.value is not None:
            values.setdefault(row.symbol, set()).add(row.value)
    return [symbol for symbol, known in values.items() if len(known) > 1]


def against_parameter(verdict: Verdict, symbol: str, rule: str, name: str) -> Figure:
    """The metric `name` on test data over the values of the parameter `symbol`."""
    results, metric = verdict.results, metrics.find(name)
    lines = []
    colour_of = colours(results)
    for i, (family, rows) in enumerate(points_of_families(results, verdict.findings).items()):
        with_value = [row for row in rows if row.value is not None and row.symbol == symbol]
        ordered = sorted(with_value, key=lambda row: row.value or 0.0)
        if ordered:
            mark = SYMBOLS[i % len(SYMBOLS)]
            lines.append(_line(verdict, ordered, rule, metric, colour_of[family], mark))
    lines += _reference(verdict, symbol, rule, metric)
    values = sorted({value for line in lines for value in line["x"]})
    few = {"tickvals": values} if len(values) <= _MOST_TICKS else {}
    percent = {"tickformat": ".1%"} if metric.percent else {}
    return {
        "data": lines,
        "layout": layout(axis(symbol, **few), axis(metric.label, **percent), height=340),
    }


def on_one_scale(figures: list[Figure]) -> None:
    """Give adjacent plots the same range, so that heights can be compared: that of what matters."""
    ends = [end for figure in figures for line in figure["data"] for end in _ends(line)]
    for figure in figures if ends else ():
        shown = figure["layout"]
        cropped(shown["yaxis"], ends)
        low, high = shown["yaxis"]["range"]
        every = [y for line in figure["data"] for y in line["y"] if y is not None]
        say_outside(shown, sum(not low <= y <= high for y in every), "marks")


def _ends(line: Figure) -> list[float]:
    bars = line.get("error_y", {"array": [0.0] * 2, "arrayminus": [0.0] * 2})
    triples = zip(line["y"], bars["arrayminus"], bars["array"], strict=True)
    return [end for y, low, high in triples if y is not None for end in (y - low, y + high)]


def _line(
    verdict: Verdict, rows: list[Row], rule: str, metric: Metric, colour: str, symbol: str
) -> Figure:
    results = verdict.results
    baseline = results.baseline.by_seed("test", rule, metric.name) if results.baseline else None
    values = [row.mean("test", rule, metric.name) for row in rows]
    numbers = [row.by_seed("test", rule, metric.name) for row in rows]
    bars = intervals(baseline, numbers, results.test_to_train)
    chosen = [
        any(each.row is row and each.rule == rule for each in verdict.findings) for row in rows
    ]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(rows[0].family, 32),
        "x": [row.value for row in rows],
        "y": rounded(values, 5),
        "line": {"color": colour, "width": 2},
        "marker": {
            "symbol": symbol,
            "size": [13 if is_chosen else 7 for is_chosen in chosen],
            "opacity": 1,
        },
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_bar(high - value) for (_, high), value in zip(bars, values, strict=True)],
            "arrayminus": [_bar(value - low) for (low, _), value in zip(bars, values, strict=True)],
            "thickness": 1,
            "width": 3,
        },
        "text": [
            f"{plain(row.label, 60)}<br>{metric.label} {metric.format(value)}"
            + ("<br>chosen on validation" if is_chosen else "")
            for row, value, is_chosen in zip(rows, values, chosen, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _bar(length: float) -> float:
    return 0.0 if math.isnan(length) else max(0.0, float(f"{length:.4g}"))


def _reference(verdict: Verdict, symbol: str, rule: str, metric: Metric) -> list[Figure]:
    """Cross entropy, which has no parameter, as a dashed line across."""
    baseline = verdict.results.baseline
    values = [row.value for row in verdict.results.done if row.symbol == symbol]
    known = [value for value in values if value is not None]
    if baseline is None or not known:
        return []
    mean = baseline.mean("test", rule, metric.name)
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "cross entropy",
            "x": [min(known), max(known)],
            "y": rounded([mean, mean], 5),
            "line": {"color": BLACK, "width": 2, "dash": "dash"},
            "text": [f"cross entropy<br>{metric.label} {metric.format(mean)}"] * 2,
            "hovertemplate": "%{text}<extra></extra>",
        }
    ]
