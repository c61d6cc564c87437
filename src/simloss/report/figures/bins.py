"""Groups many classes into few enough bins to draw."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..judge.classes import Classes
from .outputs import Floats


@dataclass(frozen=True)
class Bins:
    """Neighbouring classes grouped together.

    Attributes:
        starts: the first class of each bin, (K).
        labels: "12", or "12–15" for several.
        firsts: "12" in either case, for the ticks of an axis.
    """

    starts: NDArray[np.int64]
    labels: list[str]
    firsts: list[str]

    @classmethod
    def of(cls, classes: Classes, most: int) -> "Bins":
        """At most `most` bins of nearly equal size; one per class if that is enough."""
        count = len(classes)
        edges = np.linspace(0, count, min(count, most) + 1).round().astype(np.int64)
        labels = [
            classes.names[a] if b - a == 1 else f"{classes.names[a]}–{classes.names[b - 1]}"
            for a, b in pairwise(edges)
        ]
        return cls(edges[:-1], labels, [classes.names[a] for a in edges[:-1]])

    def columns(self, array: Floats) -> Floats:
        """Sums over the last axis, (..., C) -> (..., K)."""
        return np.add.reduceat(array, self.starts, axis=-1)

    def both(self, array: Floats) -> Floats:
        """Sums over both axes, (C, C) -> (K, K)."""
        return np.add.reduceat(self.columns(array), self.starts, axis=0)


def most_common(shares: Floats, most: int) -> NDArray[np.int64]:
    """The indices of the largest values, in order."""
    return np.sort(np.argsort(-shares, kind="stable")[:most])
