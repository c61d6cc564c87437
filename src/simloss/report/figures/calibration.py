"""How often the answer is right, against how sure the net was."""

import numpy as np

from ..judge.results import Results, Row
from .outputs import Floats
from .style import GREY, SYMBOLS, Figure, axis, colour, dash, layout, plain, rounded

# A bin with fewer test examples says nothing.
_FEWEST = 10


def calibration(results: Results, bins: list[tuple[Row, Floats]]) -> Figure | None:
    """One line per treatment over the bins of the largest probability, or None."""
    lines = [_line(results, row, each, i) for i, (row, each) in enumerate(bins)]
    lines = [line for line in lines if line["x"]]
    if not lines:
        return None
    diagonal = {
        "type": "scatter",
        "mode": "lines",
        "name": "perfectly calibrated",
        "x": [0, 1],
        "y": [0, 1],
        "line": {"color": GREY, "width": 1, "dash": "dash"},
        "hoverinfo": "skip",
    }
    x = axis("largest probability", range=[0, 1], tickformat=".0%", constrain="domain")
    y = axis("share of right answers", range=[0, 1], tickformat=".0%")
    return {"data": [diagonal, *lines], "layout": layout(x, y, height=400)}


def _line(results: Results, row: Row, bins: Floats, place: int) -> Figure:
    examples, right, confidence = bins
    known = examples >= _FEWEST
    counts = np.maximum(examples, 1)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(row.label, 40),
        "x": rounded((confidence / counts)[known]),
        "y": rounded((right / counts)[known]),
        "line": {"color": colour(results, row), "width": 2, "dash": dash(results, row)},
        "marker": {"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 7},
        "text": [f"{int(count):,} examples" for count in examples[known]],
        "hovertemplate": "sure %{x:.0%}, right %{y:.0%}<br>%{text}<extra></extra>",
    }
