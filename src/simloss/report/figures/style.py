"""The style of every figure: colours that anyone can tell apart, and few words."""

import html
import math
import statistics
from typing import Any

from ..judge.results import Results, Row
from ..judge.wording import cut

Figure = dict[str, Any]

# Okabe and Ito's palette first, distinguishable with any colour vision; black is cross entropy.
BLACK = "#222222"
GREY = "#8a8a8a"
PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#8C6D31"),
    *("#44AA99", "#882255", "#999933", "#1B3A7A", "#AA4466", "#4D4D4D"),
)
SYMBOLS = ("circle", "square", "triangle-up", "cross", "star", "hexagon", "pentagon", "hourglass")
_DASHES = ("solid", "dot", "dashdot")
SCALE = [[0.0, "#ffffff"], [0.25, "#cfe3f1"], [0.6, "#5aa0cc"], [1.0, "#003f6b"]]
_GRID = "#e7e7e7"
_NAME_LENGTH = 32
_FEW = 5  # of which none is taken to be far outside


def plain(text: str, length: int = _NAME_LENGTH) -> str:
    """Text that plotly shows literally: shortened, and without tags."""
    return html.escape(cut(text, length), quote=False)


def colours(results: Results) -> dict[str, str]:
    """Family -> its colour, the same in every figure."""
    return {family: PALETTE[i % len(PALETTE)] for i, family in enumerate(results.families())}


def colour(results: Results, row: Row) -> str:
    return BLACK if row.is_baseline else colours(results)[row.family]


def dash(results: Results, row: Row) -> str:
    """Cross entropy is dashed; families differ in more than their colour."""
    families = list(results.families())
    return "dash" if row.is_baseline else _DASHES[families.index(row.family) % len(_DASHES)]


def axis(title: str, **more: Any) -> dict[str, Any]:
    return {
        "title": {"text": title, "standoff": 10},
        "automargin": True,
        "gridcolor": _GRID,
        "linecolor": GREY,
        "zeroline": False,
        **more,
    }


def layout(x: dict[str, Any], y: dict[str, Any], *, height: int = 380, **more: Any) -> Figure:
    return {
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": BLACK},
        "margin": {"l": 48, "r": 12, "t": 12, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "hoverlabel": {"align": "left"},
        "dragmode": False,
        "height": height,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "xanchor": "left"},
        "xaxis": x,
        "yaxis": y,
        **more,
    }


def ticks(names: list[str], most: int = 12) -> dict[str, Any]:
    """An axis of classes: positions from 0, every second, fifth, tenth, ... of them named."""
    count = len(names)
    steps = [base * 10**power for power in range(7) for base in (1, 2, 5)]
    step = next(step for step in steps if -(-count // step) <= most)
    places = list(range(0, count, step))
    return {"tickvals": places, "ticktext": [plain(names[i], 16) for i in places]}


def heat_map(trace: Figure, labels: list[str], marks: list[str] | None = None) -> Figure:
    """A square of true class by answer; the page puts the names into the hover text."""
    square = {"showgrid": False, "constrain": "domain", **ticks(marks or labels)}
    x = axis("answered", **square)
    y = axis("true class", autorange="reversed", scaleanchor="x", **square)
    names = [plain(label, 40) for label in labels]
    return {"data": [trace], "layout": layout(x, y, height=460), "labels": names}


def what_matters(values: list[float]) -> tuple[float, float]:
    """The lowest and the highest value, without the few that lie far outside the others.

    Far is more than three times the middle half's width beyond it (Tukey).

    Example:
        >>> what_matters([1.0, 1.1, 1.2, 1.3, 1.4, 90.0])
        (1.0, 1.4)
    """
    known = sorted(value for value in values if math.isfinite(value))
    if len(known) < _FEW:
        return (known[0], known[-1]) if known else (0.0, 1.0)
    low, _, high = statistics.quantiles(known, n=4, method="inclusive")
    reach = 3 * (high - low)
    kept = [value for value in known if low - reach <= value <= high + reach]
    return kept[0], kept[-1]


def cropped(axis: Figure, values: list[float]) -> int:
    """Give an axis the range of what matters, and count the values that lie outside it."""
    low, high = what_matters(values)
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    axis["range"] = [low - margin, high + margin]
    return sum(not low <= value <= high for value in values if math.isfinite(value))


def say_outside(figure: Figure, count: int, what: str) -> None:
    """A line in the corner of a figure about marks that its axes leave out."""
    if count:
        text = f"{count} {what if count > 1 else what.removesuffix('s')} outside"
        corner = {"xref": "paper", "yref": "paper", "x": 1, "y": 1, "xanchor": "right"}
        note = {**corner, "yanchor": "top", "text": text, "showarrow": False}
        figure["annotations"] = [{**note, "font": {"size": 12, "color": GREY}}]


def rounded(values: Any, digits: int = 4) -> list[Any]:
    """Numbers with few digits: a figure shows no more, and the page stays small."""
    return [None if value != value else float(f"{value:.{digits}g}") for value in values]
