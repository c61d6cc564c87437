"""One metric against another: every treatment under every decision, and the Pareto front."""

import math

from ... import metrics
from ...metrics import Metric
from ..judge.results import Row
from ..judge.selection import points_of_families
from ..judge.verdict import Verdict
from ..judge.wording import answered_by
from .style import BLACK, GREY, Figure, axis, colours, cropped, layout, plain, rounded, say_outside
from .summary import _RULE_SYMBOLS

Point = tuple[float, float]


def tradeoff(verdict: Verdict) -> Figure | None:
    """Accuracy (or another metric) against the main metric; None if there is only one metric."""
    results = verdict.results
    across, up = results.metric, _other(verdict)
    if up is None:
        return None
    points = [
        (row.mean("test", rule, across.name), row.mean("test", rule, up.name))
        for row in results.done
        for rule in results.rules
    ]
    known = [point for point in points if not math.isnan(sum(point))]
    if not known:
        return None
    base = [[results.baseline]] if results.baseline else []
    groups = [*base, *points_of_families(results, verdict.findings).values()]
    lines = [
        _line(verdict, rows, rule, across, up, i)
        for rows in groups
        for i, rule in enumerate(results.rules)
    ]
    data = [_front(known, across, up), *lines, *_legend(verdict)]
    shown = layout(_axis(across), _axis(up), height=460)
    for name, values in zip(("xaxis", "yaxis"), zip(*known, strict=True), strict=True):
        cropped(shown[name], [*values])
    say_outside(shown, _number_outside(known, shown), "marks")
    return {"data": data, "layout": shown}


def _number_outside(points: list[Point], shown: Figure) -> int:
    (left, right), (low, high) = (shown[name]["range"] for name in ("xaxis", "yaxis"))
    return sum(not (left <= x <= right and low <= y <= high) for x, y in points)


def _other(verdict: Verdict) -> Metric | None:
    """Accuracy, else the first metric besides the main one, if there is any."""
    _, *beside = verdict.results.columns_main_first
    name = "accuracy" if "accuracy" in beside else next(iter(beside), None)
    return metrics.find(name) if name else None


def _axis(metric: Metric) -> Figure:
    better = "higher" if metric.higher_is_better else "lower"
    percent = {"tickformat": ".1%"} if metric.percent else {}
    return axis(f"{metric.label} ({better} is better)", **percent)


def _line(
    verdict: Verdict, rows: list[Row], rule: str, across: Metric, up: Metric, place: int
) -> Figure:
    """One family under one rule, joined in the order of the parameter."""
    ordered = sorted(rows, key=lambda row: row.value or 0.0)
    pairs = [[row.mean("test", rule, metric.name) for metric in (across, up)] for row in ordered]
    family = ordered[0].family
    is_baseline = ordered[0].is_baseline
    colour = BLACK if is_baseline else colours(verdict.results)[family]
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(ordered) > 1 else "markers",
        "name": plain(family, 28),
        "legendgroup": plain(family, 28),
        "showlegend": place == 0,
        "x": rounded([pair[0] for pair in pairs], 5),
        "y": rounded([pair[1] for pair in pairs], 5),
        "line": {"color": colour, "width": 1, "dash": "solid" if place == 0 else "dot"},
        "marker": _marker(place, colour, 13 if is_baseline else 9),
        "text": [
            f"{plain(row.label, 60)}, {rule}<br>{across.label} {across.format(pair[0])}"
            f"<br>{up.label} {up.format(pair[1])}"
            for row, pair in zip(ordered, pairs, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _front(points: list[Point], across: Metric, up: Metric) -> Figure:
    front = pareto_front(points, across.higher_is_better, up.higher_is_better)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "best trade-offs",
        "x": rounded([x for x, _ in front], 5),
        "y": rounded([y for _, y in front], 5),
        "line": {"color": GREY, "width": 8},
        "opacity": 0.25,
        "hoverinfo": "skip",
    }


def _legend(verdict: Verdict) -> list[Figure]:
    """A legend for the shapes of the marks, if there is more than one decision."""
    rules = verdict.results.rules
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"answer: {answered_by(rule)}",
            "x": [None],
            "y": [None],
            "marker": _marker(i, GREY, 9),
            "hoverinfo": "skip",
        }
        for i, rule in enumerate(rules if len(rules) > 1 else ())
    ]


def _marker(place: int, colour: str, size: int) -> Figure:
    symbol = _RULE_SYMBOLS[place % len(_RULE_SYMBOLS)] + ("" if place else "-open")
    return {"symbol": symbol, "size": size, "color": colour, "line": {"width": 2, "color": colour}}


def pareto_front(points: list[Point], x_up: bool, y_up: bool) -> list[Point]:
    """The points that no other beats in both, from left to right.

    Example:
        >>> pareto_front([(1, 3), (2, 2), (2, 5), (3, 6), (4, 1)], False, True)
        [(1, 3), (2, 5), (3, 6)]
    """
    best, front = -math.inf, []
    for x, y in sorted(
        set(points), key=lambda p: (-p[0] if x_up else p[0], -p[1] if y_up else p[1])
    ):
        height = y if y_up else -y
        if height > best:
            best = height
            front.append((x, y))
    return sorted(front)
