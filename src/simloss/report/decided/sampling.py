"""Folds and a sample of rows of which nobody knows how many will come.

Both go by the number of a row alone, so that a file can be read again and again.
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
    """Numbers that look random, the same for a row whenever it is asked for (splitmix64)."""
    step = np.uint64(0x9E3779B97F4A7C15)
    z = (rows.astype(np.uint64) * np.uint64(2) + np.uint64(stream)) * step
    for shift, factor in _SCRAMBLED:
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(z)


class Sample:
    """At most so many rows, each as likely as any other: those whose scrambled number is lowest.

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
        """Take in some rows, and leave out what is too much."""
        every = np.concatenate([self.rows, rows])
        kept = np.sort(np.argsort(_scrambled(every, 0), kind="stable")[: self.most])
        before, after = kept[kept < len(self.rows)], kept[kept >= len(self.rows)] - len(self.rows)
        self.rows = every[kept]
        self.probabilities = np.concatenate([self.probabilities[before], probabilities[after]])
        self.truth = np.concatenate([self.truth[before], truth[after]])
