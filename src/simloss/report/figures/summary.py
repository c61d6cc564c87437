"""The verdict as a figure: each family under each decision, on test data."""

import math

from ..judge.findings import Finding
from ..judge.intervals import intervals
from ..judge.verdict import Verdict
from ..judge.wording import answered_by, runs
from .style import GREY, Figure, axis, colour, layout, plain, rounded

_RULE_SYMBOLS = ("circle", "diamond", "square", "triangle-up")


def summary(verdict: Verdict) -> Figure | None:
    """One line per family, one mark per decision rule; None if nothing is finished."""
    results = verdict.results
    if not verdict.findings:
        return None
    families = list(dict.fromkeys(each.row.family for each in verdict.findings))
    data = [
        *_joins(verdict, families),
        *(
            _marks(verdict, rule, families, _RULE_SYMBOLS[i % len(_RULE_SYMBOLS)])
            for i, rule in enumerate(results.rules)
        ),
    ]
    x = axis("", **({"tickformat": ".1%"} if results.metric.percent else {}))
    places = list(range(len(families)))
    y = axis(
        "",
        tickvals=places,
        ticktext=[plain(family, 26) for family in families],
        range=[len(families) - 0.5, -0.5],
        showgrid=False,
    )
    return {"data": data, "layout": layout(x, y, height=100 + 44 * len(families))}


def _value(verdict: Verdict, finding: Finding) -> float:
    return finding.row.mean("test", finding.rule, verdict.results.metric.name)


def _joins(verdict: Verdict, families: list[str]) -> list[Figure]:
    """A thin line from one decision to the other, per family."""
    lines = []
    for place, family in enumerate(families):
        values = [_value(verdict, each) for each in verdict.findings if each.row.family == family]
        known = [value for value in values if not math.isnan(value)] or [math.nan]
        lines.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": rounded([min(known), max(known)], 5),
                "y": [place, place],
                "line": {"color": "#d0d0d0", "width": 3},
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    return lines


def _marks(verdict: Verdict, rule: str, families: list[str], symbol: str) -> Figure:
    results = verdict.results
    name = results.metric.name
    found = [each for each in verdict.findings if each.rule == rule]
    base = results.baseline.by_seed("test", rule, name) if results.baseline else None
    ends = intervals(
        base, [each.row.by_seed("test", rule, name) for each in found], results.test_to_train
    )
    values = [_value(verdict, each) for each in found]
    bars = [
        (_bar(value - low), _bar(high - value)) if not each.row.is_baseline else (0.0, 0.0)
        for each, value, (low, high) in zip(found, values, ends, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"answer: {answered_by(rule)}",
        "x": rounded(values, 5),
        "y": [families.index(each.row.family) for each in found],
        "marker": {
            "symbol": symbol,
            "size": 13,
            "color": [colour(results, each.row) for each in found],
            "line": {"color": "#ffffff", "width": 1},
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [above for _, above in bars],
            "arrayminus": [below for below, _ in bars],
            "color": GREY,
            "thickness": 1.5,
            "width": 4,
        },
        "text": [_hover(verdict, each) for each in found],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _bar(length: float) -> float:
    return 0.0 if math.isnan(length) else max(0.0, length)


def _hover(verdict: Verdict, finding: Finding) -> str:
    metric = verdict.results.metric
    text = f"{plain(finding.row.label, 60)}, {finding.rule}<br>{metric.label} "
    text += metric.format(_value(verdict, finding))
    if finding.comparison:
        text += f"<br>better in {finding.comparison.wins} of {runs(finding.comparison.runs)}"
    return text
