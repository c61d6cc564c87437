"""The data for drawing mean output distributions for a class of the reader's choice.

All classes x classes x treatments would be far too much for a page, so there is a budget. To stay
within it, first all parts but test are dropped, then all treatments but the best of each family,
then neighbours are grouped into bins or improbable answers left out, and finally some classes.
"""

import base64
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..judge.classes import Classes
from ..judge.results import Row
from ..judge.wording import cut
from .bins import Bins
from .outputs import PARTS, Floats, Outputs

# How many numbers fit on the page; two bytes each, a third more in base64.
BUDGET = 400_000
_MOST_BINS = 100
_MOST_ANSWERS = 20
_DIGITS = 65535


@dataclass
class Distributions:
    """Mean output distributions, ready for the page; rows are added one by one.

    Attributes:
        classes: the classes of the run.
        parts: the parts of the data.
        curves: the number of treatments.
        places: the classes that can be chosen.
    """

    classes: Classes
    parts: tuple[str, ...]
    curves: int
    places: NDArray[np.int64] = field(init=False)
    columns: NDArray[np.int64] | None = field(init=False, default=None)
    bins: Bins | None = field(init=False, default=None)
    made: list[dict[str, Any]] = field(init=False, default_factory=list)
    truth: dict[str, Any] = field(init=False, default_factory=dict)
    counts: dict[str, list[float]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        width = self.width(self.classes)
        each = max(1, len(self.parts) * self.curves * width)
        count = len(self.classes)
        most = max(1, min(count, BUDGET // each))
        self.places = np.linspace(0, count - 1, most).round().astype(np.int64)
        if self.classes.is_ordered:
            self.bins = Bins.of(self.classes, _MOST_BINS)

    @staticmethod
    def width(classes: Classes) -> int:
        """How many numbers the distribution of one class takes."""
        count = len(classes)
        if count <= _MOST_BINS:
            return count
        return _MOST_BINS if classes.is_ordered else 2 * _MOST_ANSWERS

    @classmethod
    def size(cls, classes: Classes, parts: int, curves: int) -> int:
        """How many numbers all classes would take."""
        return parts * curves * cls.width(classes) * len(classes)

    def add(self, row: Row, outputs: Outputs) -> None:
        """Add a treatment; the first decides which answers are shown if there are many."""
        if self.columns is None:
            self._look_at(outputs)
        curve: dict[str, Any] = {"label": cut(row.label, 40), "overall": {}, "byClass": {}}
        for part in self.parts:
            curve["overall"][part] = encoded(self._overall(outputs.mean(part)))
            curve["byClass"][part] = encoded(self._of_classes(outputs.by_class(part)))
        self.made.append(curve)

    def _look_at(self, outputs: Outputs) -> None:
        for part in self.parts:
            self.truth[part] = encoded(self._overall(outputs.truth(part)))
            counts = outputs.counts[part] / outputs.seeds
            self.counts[part] = [round(float(counts[i]), 1) for i in self.places]
        if self.bins is None and len(self.classes) > _MOST_BINS:
            by_class = outputs.by_class("test")[self.places]
            ranked = np.argsort(-by_class, axis=1, kind="stable")[:, :_MOST_ANSWERS]
            self.columns = ranked.astype(np.int64)
        else:
            self.columns = np.empty((0, 0), dtype=np.int64)

    def _overall(self, mean: Floats) -> Floats:
        return mean if self.bins is None else self.bins.columns(mean)

    def _of_classes(self, by_class: Floats) -> Floats:
        chosen = by_class[self.places]
        if self.bins is not None:
            return self.bins.columns(chosen)
        assert self.columns is not None
        return np.take_along_axis(chosen, self.columns, 1) if self.columns.size else chosen

    def default_class(self) -> int:
        """The index in `places` to show first: in the middle of the data."""
        counts = np.array(self.counts.get("test", [0]), dtype=float)
        if not self.classes.is_ordered:
            return int(counts.argmax())
        return int(np.searchsorted(counts.cumsum(), counts.sum() / 2))

    def as_dict(self, groups: list[dict[str, Any]]) -> dict[str, Any]:
        """For the page's script."""
        names = [cut(name, 40) for name in self.classes.names]
        labels = names if self.bins is None else [cut(label, 40) for label in self.bins.labels]
        at = self.places
        return {
            "ordered": self.classes.is_ordered,
            "labels": labels,
            "marks": names if self.bins is None else [cut(name, 40) for name in self.bins.firsts],
            "classes": [names[i] for i in at],
            "target": (
                [int(i) for i in at]
                if self.bins is None
                else [int(np.searchsorted(self.bins.starts, i, "right") - 1) for i in at]
            ),
            "answers": None
            if self.columns is None or not self.columns.size
            else self.columns.tolist(),
            "parts": list(self.parts),
            "counts": self.counts,
            "truth": self.truth,
            "curves": self.made,
            "groups": groups,
            "first": self.default_class(),
        }


def encoded(array: Floats) -> dict[str, Any]:
    """Numbers from 0 to the largest in steps of 1/65,535 of it, in base64."""
    largest = float(array.max()) if array.size else 0.0
    steps = np.rint(array / (largest or 1.0) * _DIGITS).astype("<u2")
    return {"scale": largest, "data": base64.b64encode(steps.tobytes()).decode("ascii")}


def fitting(classes: Classes, all_curves: int, best_curves: int) -> tuple[tuple[str, ...], bool]:
    """The parts that fit the budget, and whether all curves do."""
    if Distributions.size(classes, len(PARTS), all_curves) <= BUDGET:
        return PARTS, True
    if Distributions.size(classes, 1, all_curves) <= BUDGET:
        return ("test",), True
    if Distributions.size(classes, len(PARTS), best_curves) <= BUDGET:
        return PARTS, False
    return ("test",), False
