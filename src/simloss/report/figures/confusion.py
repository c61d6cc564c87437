"""Answers by true class, and the mistakes that cost most."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..judge.classes import Classes
from ..judge.mistake_costs import MistakeCosts
from .bins import Bins
from .outputs import Floats
from .style import SCALE, Figure, heat_map, rounded

_MOST_BINS = 50
_MOST_CLASSES = 40


@dataclass(frozen=True)
class Mistake:
    """One confusion.

    Attributes:
        truth: the true class's name.
        answer: the answered class's name.
        per_thousand: how often, per 1,000 test examples.
        cost: the cost of one of them.
        share: the share of the total cost of all mistakes.
    """

    truth: str
    answer: str
    per_thousand: float
    cost: float
    share: float


def confusion(classes: Classes, counts: Floats) -> Figure:
    """A heat map of answers by true class, each row in percent.

    Many ordered classes are grouped into bins; of other classes, those with the most mistakes
    are shown.
    """
    if classes.is_ordered:
        bins = Bins.of(classes, _MOST_BINS)
        labels, marks, counts = bins.labels, bins.firsts, bins.both(counts)
        shares = _percent(counts)
    else:
        places = _most_confused(counts, classes)
        labels = marks = [classes.names[i] for i in places]
        shares = _percent(counts)[np.ix_(places, places)]  # of all examples, not of those shown
    heat = {
        "type": "heatmap",
        "z": [rounded(row, 3) for row in shares],
        "zmin": 0,
        "zmax": float(np.percentile(shares.max(1), 90)) or 1.0,
        "colorscale": SCALE,
        "colorbar": {"title": {"text": "%"}, "thickness": 10, "len": 0.9},
        "hovertemplate": "%{customdata}<br>%{z:.1f} % of its examples<extra></extra>",
    }
    return heat_map(heat, labels, marks)


def _percent(counts: Floats) -> Floats:
    """Each row divided by its sum; zeros if there is no example."""
    shares: Floats = 100 * counts / np.maximum(counts.sum(1, keepdims=True), 1)
    return shares


def _most_confused(counts: Floats, classes: Classes) -> NDArray[np.int64]:
    """The classes with the most mistakes, grouped by superclass."""
    mistakes = counts - np.diag(np.diag(counts))
    order = np.argsort(-(mistakes.sum(0) + mistakes.sum(1)), kind="stable")[:_MOST_CLASSES]
    groups = classes.superclasses or ("",) * len(classes)
    return np.array(sorted(order, key=lambda i: (groups[i], i)), dtype=np.int64)


def costliest(classes: Classes, counts: Floats, cost: MistakeCosts, most: int = 8) -> list[Mistake]:
    """The confusions that cost most on test data, worst first."""
    truth, answers = np.nonzero(counts)
    costs = cost.of(truth, answers)
    totals = costs * counts[truth, answers]
    whole, examples = totals.sum(), counts.sum()
    worst = np.argsort(-totals, kind="stable")[:most]
    return [
        Mistake(
            classes.names[truth[i]],
            classes.names[answers[i]],
            float(1000 * counts[truth[i], answers[i]] / examples),
            float(costs[i]),
            float(totals[i] / whole),
        )
        for i in worst
        if totals[i] > 0
    ]
