"""Which classes the nets really answer with: the paper's representative classes."""

import numpy as np

from ..bins import Bins, most_common
from ..classes import Classes
from ..outputs import Floats, effective_count
from ..results import Results, Row
from .style import BLACK, GREY, SCALE, SYMBOLS, Figure, axis, colours, layout, plain, rounded, ticks

Shares = list[tuple[Row, Floats]]

_MOST_COLUMNS = 100
# A class counts as used if it is at least one answer in a thousand.
USED = 0.001


def effective_numbers(results: Results, shares: Shares, truth: Floats) -> Figure | None:
    """The effective number of classes answered, against the parameter, one line a family."""
    families: dict[str, Shares] = {}
    for row, share in shares:
        if row.value is not None:
            families.setdefault(row.family, []).append((row, share))
    data = []
    symbols = {}
    for i, (family, members) in enumerate(families.items()):
        ordered = sorted(members, key=lambda each: each[0].value or 0.0)
        symbols[ordered[0][0].symbol] = True
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(family, 32),
                "x": [row.value for row, _ in ordered],
                "y": rounded([effective_count(share) for _, share in ordered]),
                "line": {"color": colours(results)[family], "width": 2},
                "marker": {"symbol": SYMBOLS[i % len(SYMBOLS)], "size": 8},
                "text": [_counts(row, share) for row, share in ordered],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    if not data:
        return None
    values = [x for line in data for x in line["x"]]
    for row, share in shares:
        if row.is_baseline:
            data.append(_across("cross entropy", effective_count(share), values, BLACK, "dash"))
    data.append(_across("true classes", effective_count(truth), values, GREY, "dot"))
    y = axis("classes in use", rangemode="tozero")
    known = sorted(set(values))
    x = axis(", ".join(symbols), **({"tickvals": known} if len(known) <= 10 else {}))
    return {"data": data, "layout": layout(x, y, height=300)}


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
    """One strip a treatment: how often each class is answered; the true shares on top."""
    if classes.is_ordered:
        bins = Bins.of(classes, _MOST_COLUMNS)
        labels, marks = bins.labels, bins.firsts
        strips = [bins.columns(share) for share in [truth, *(share for _, share in shares)]]
    else:
        mean = np.mean([truth, *(share for _, share in shares)], axis=0)
        places = most_common(mean, _MOST_COLUMNS)
        labels = marks = [classes.names[i] for i in places]
        strips = [share[places] for share in [truth, *(share for _, share in shares)]]
    names = ["truth", *(plain(_name(row), 22) for row, _ in shares)]
    used = [int((share >= USED).sum()) for share in [truth, *(share for _, share in shares)]]
    rows = [f"{name} · {count}" for name, count in zip(names, used, strict=True)]
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
