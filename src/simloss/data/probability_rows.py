"""Checks that rows are probabilities, and reports those that are not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# How far rounding to a few digits, as in files, can put the sum of many classes off.
_MOST_OFF = 2e-2
_SHOWN = 4


def checked_rows(p: Array, first: int, names: Sequence[str], path: Path) -> Array:
    """Probabilities (M, C), each row divided by its sum; `first` is the number of the first row."""
    if np.isnan(p).any():
        row, column = np.argwhere(np.isnan(p))[0]
        raise ValueError(
            f"'{path}' must hold a probability for each class, but row {first + row} has none for "
            f"{names[column]!r}."
        )
    if (p < 0).any() or not np.isfinite(p).all():
        row, column = np.argwhere((p < 0) | ~np.isfinite(p))[0]
        raise ValueError(
            f"'{path}' must hold probabilities, but row {first + row} has {p[row, column]:.6g} for "
            f"{names[column]!r}; for logits, take the softmax of each row first."
        )
    sums = p.sum(1)
    wrong = np.abs(sums - 1) > _MOST_OFF
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"'{path}' must hold probabilities that sum to 1 in each row, but row {first + at} "
            f"sums to {sums[at]:.6g} over {_listed(names)}{_remedy(p, sums)}."
        )
    return np.asarray(p / sums[:, None])


def _remedy(p: Array, sums: Array) -> str:
    if (np.abs(sums - 100) < 1).all():
        return "; for percent, divide by 100"
    if (p > 1 + _MOST_OFF).any():
        return "; for logits, take the softmax of each row; name the classes with --class-order"
    return "; name the class columns with --class-order; each class needs a column"


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[: _SHOWN - 1])}, …, {names[-1]} ({len(names):,} columns)"
