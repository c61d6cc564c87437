"""Folds and a sample for a stream of rows of unknown length.

Both depend only on the number of a row, so that a file can be read repeatedly.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

FOLDS = 5
_SCRAMBLED = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


def folds(rows: Array) -> Array:
    """The fold of each row, by its number, (M); of nearly equal size."""
    return (_scrambled(rows, 1) % np.uint64(FOLDS)).astype(np.int64)


def _scrambled(rows: Array, stream: int) -> Array:
    """Numbers that look random, always the same for a row (splitmix64)."""
    step = np.uint64(0x9E3779B97F4A7C15)
    z = (rows.astype(np.uint64) * np.uint64(2) + np.uint64(stream)) * step
    for shift, factor in _SCRAMBLED:
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(z)


class Sample:
    """At most this many rows, each equally likely: those with the lowest scrambled numbers.

    Attributes:
        rows: their numbers, (K).
        probabilities: (K, C).
        truth: (K).
    """

    def __init__(self, most: int, num_classes: int) -> None:
        self.most = most
        self.rows = np.empty(0, np.int64)
        self.probabilities = np.empty((0, num_classes))
        self.truth = np.empty(0, np.int64)

    def add(self, rows: Array, probabilities: Array, truth: Array) -> None:
        """Add some rows, and drop those that are too many."""
        every = np.concatenate([self.rows, rows])
        kept = np.sort(np.argsort(_scrambled(every, 0), kind="stable")[: self.most])
        before, after = kept[kept < len(self.rows)], kept[kept >= len(self.rows)] - len(self.rows)
        self.rows = every[kept]
        self.probabilities = np.concatenate([self.probabilities[before], probabilities[after]])
        self.truth = np.concatenate([self.truth[before], truth[after]])
