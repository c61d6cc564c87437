"""Reads a column of true classes with the class names of a file of probabilities."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .columns import as_text
from .errors import DataError

Array = np.ndarray[Any, Any]

NOTHING = -1
_SHOWN = 6


def truth_indices(
    cells: Any, names: Sequence[str], above: Mapping[str, int], first: int, where: str
) -> Array:
    """The class of each cell, (M); -1 if it is empty.

    Args:
        cells: a column (pandas Series).
        names: the classes, in order.
        above: the nodes above them by name, if a cell may name one.
        first: the number of the first row, for the error on an unknown cell.
        where: the name of the column in that error.
    """
    import pandas

    try:
        codes, values = pandas.factorize(cells)  # -1 where nothing stands
    except TypeError:  # lists and mappings, which parquet knows
        raise DataError(f"{where} must hold a class in each cell, but some hold a list.") from None
    texts = as_text(pandas.Series(values, dtype=object))
    place = dict(above) | {name: at for at, name in enumerate(names)}
    # "3", "3.0" and 3 are one class; if two names are one number, only the spelling decides.
    numbers = [_number(name) for name in names]
    times = Counter(numbers)
    by_number: dict[float | None, int] = {
        x: at for at, x in enumerate(numbers) if x is not None and times[x] == 1
    }
    indices = [
        NOTHING if not text else place.get(text, by_number.get(_number(text))) for text in texts
    ]
    if None in indices:
        value = indices.index(None)
        row = first + int(np.argmax(codes == value))
        raise DataError(
            f"{where} must hold classes, {_listed(names)}, but row {row} holds {texts[value]!r}"
            f"{_remedy(texts, names)}."
        )
    return np.array([*indices, NOTHING], dtype=np.int64)[codes]  # the code -1 is the last


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[: _SHOWN - 1])}, …, {names[-1]}"


def _remedy(texts: Sequence[str | None], names: Sequence[str]) -> str:
    """A remedy if labels count from 0 and classes from 1, or the other way round."""
    labels = {int(text) for text in texts if text is not None and text.isdecimal()}
    if len(labels) < sum(bool(text) for text in texts) or not all(n.isdecimal() for n in names):
        return ""
    classes = {int(name) for name in names}
    for shift, rule in (
        (-1, "labels seem to count from 1 and the classes from 0"),
        (1, "labels seem to count from 0 and the classes from 1"),
    ):
        if {label + shift for label in labels} <= classes:
            return f"; the {rule}"
    return ""
