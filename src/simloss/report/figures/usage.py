"""Which classes the nets really answer: the paper's representative classes."""

import numpy as np

from ..judge.classes import Classes
from ..judge.results import Results, Row
from .bins import Bins, most_common
from .outputs import Floats, effective_count
from .style import BLACK, GREY, SCALE, SYMBOLS, Figure, axis, colours, layout, plain, rounded, ticks

Shares = list[tuple[Row, Floats]]

_MOST_COLUMNS = 100
# A class counts as used if it is at least one answer in a thousand.
USED = 0.001


def effective_numbers(results: Results, symbol: str, shares: Shares, truth: Floats) -> Figure:
    """The effective number of answered classes over the parameter `symbol`, a line per family."""
    with_value = [each for each in shares if each[0].symbol == symbol]
    values = sorted({row.value for row, _ in with_value if row.value is not None})
    families = dict.fromkeys(row.family for row, _ in with_value)
    data = [
        _line([each for each in with_value if each[0].family == family], results, i)
        for i, family in enumerate(families)
    ]
    if values:
        base = [effective_count(share) for row, share in shares if row.is_baseline]
        data += [_across("cross entropy", count, values, BLACK, "dash") for count in base]
        data += [_across("true classes", effective_count(truth), values, GREY, "dot")]
    x = axis(symbol, **({"tickvals": values} if len(values) <= 10 else {}))
    return {"data": data, "layout": layout(x, axis("classes", rangemode="tozero"), height=300)}


def _line(members: Shares, results: Results, place: int) -> Figure:
    ordered = sorted(members, key=lambda each: each[0].value or 0.0)
    family = ordered[0][0].family
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(family, 32),
        "x": [row.value for row, _ in ordered],
        "y": rounded([effective_count(share) for _, share in ordered]),
        "line": {"color": colours(results)[family], "width": 2},
        "marker": {"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 8},
        "text": [_counts(row, share) for row, share in ordered],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _across(name: str, number: float, values: list[float], colour: str, dash: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [min(values), max(values)],
        "y": rounded([number, number]),
        "line": {"color": colour, "width": 2, "dash": dash},
        "hovertemplate": f"{name}: %{{y:.1f}}<extra></extra>",
    }


def _counts(row: Row, share: Floats) -> str:
    used = int((share >= USED).sum())
    return f"{plain(row.label, 60)}<br>effectively {effective_count(share):.1f}, {used} in use"


def strips(classes: Classes, shares: Shares, truth: Floats) -> Figure:
    """One strip per treatment: how often each class is answered; the true shares on top."""
    every = [truth, *(share for _, share in shares)]
    if classes.is_ordered:
        bins = Bins.of(classes, _MOST_COLUMNS)
        labels, marks = bins.labels, bins.firsts
        strips = [bins.columns(share) for share in every]
    else:
        places = most_common(np.mean(every, axis=0), _MOST_COLUMNS)
        labels = marks = [classes.names[i] for i in places]
        strips = [share[places] for share in every]
    names = ["truth", *(plain(_name(row), 22) for row, _ in shares)]
    rows = [
        f"{name} · {int((share >= USED).sum())}" for name, share in zip(names, every, strict=True)
    ]
    heat = {
        "type": "heatmap",
        "z": [rounded(100 * strip, 3) for strip in strips],
        "y": list(range(len(rows))),
        "zmin": 0,
        "zmax": 100 * float(max(strip.max() for strip in strips)),
        "colorscale": SCALE,
        "ygap": 3,
        "colorbar": {"title": {"text": "% of answers"}, "thickness": 10, "len": 0.9},
        "customdata": [[plain(label, 40) for label in labels]] * len(rows),
        "hovertemplate": "%{customdata}: %{z:.2f} % of answers<extra></extra>",
    }
    y = axis(
        "",
        tickvals=list(range(len(rows))),
        ticktext=rows,
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    x = axis("class", showgrid=False, **ticks(marks, 10))
    return {"data": [heat], "layout": layout(x, y, height=110 + 30 * len(rows))}


def _name(row: Row) -> str:
    return row.label if row.value is None else f"{row.symbol} = {row.value:g}"
