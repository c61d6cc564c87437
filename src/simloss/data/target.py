"""The column to predict: its classes in order, and which row has which."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .class_order import ClassOrder, class_order
from .columns import Numbers, as_text
from .errors import DataError

# A number with more different values than this is a measurement, not a class.
_MANY_FRACTIONS = 20
_MANY_NUMBERS = 100
_RARE = 3
_LARGEST_EXACT = 2**53


@dataclass(frozen=True)
class Target:
    """The classes of the rows that have one.

    Attributes:
        labels: class indices (N).
        rows: the rows of the table they belong to (N).
        order: the class names in order.
        notes: what was left out, which classes are rare, the edges of bins.
    """

    labels: Tensor
    rows: Any
    order: ClassOrder
    notes: dict[str, Any]


def target(
    name: str,
    cells: Any,
    *,
    class_names: Sequence[str] | None = None,
    bins: int | None = None,
) -> Target:
    """The classes of a column (pandas Series); rows where it is empty are left out.

    Args:
        name: what the column is called.
        cells: the column.
        class_names: all classes in order, where their names do not tell it.
        bins: cut a number into this many ordered classes of about equally many rows.
    """
    texts = as_text(cells)
    rows = np.array([i for i, text in enumerate(texts) if text], dtype=np.int64)
    if len(rows) == 0:
        raise DataError(f"`target` must hold classes, but column {name!r} is empty.")
    present = [texts[i] or "" for i in rows]
    notes: dict[str, Any] = {}
    if bins is not None:
        present, notes["edges"] = _binned(name, present, bins)
    else:
        present = as_numbers_write(present)
        _refuse_measurement(name, present)
    order = class_order(present, class_names)
    place = {each: i for i, each in enumerate(order.names)}
    if len(place) < 2:
        raise DataError(
            f"`target` must hold at least two classes, but column {name!r} holds "
            f"only {present[0]!r}."
        )
    if len(rows) < len(texts):
        notes["rows_without_class"] = len(texts) - len(rows)
    labels = torch.tensor([place[each] for each in present])
    return Target(labels, rows, order, {**notes, **class_notes(order, labels)})


def class_notes(order: ClassOrder, labels: Tensor) -> dict[str, Any]:
    """The kind of order, and the classes with fewer than 3 examples."""
    counts = torch.bincount(labels, minlength=len(order.names)).tolist()
    rare = {n: count for n, count in zip(order.names, counts, strict=True) if count < _RARE}
    notes: dict[str, Any] = {"class_order": order.kind}
    if order.kind in ("words", "given"):
        notes["unit"] = "classes"
    return notes | ({"rare_classes": rare} if rare else {})


def as_numbers_write(texts: list[str]) -> list[str]:
    """Plain numbers in one spelling, so that "1" and "1.0" are one class; other texts as given."""
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return texts
    if not all(abs(value) < _LARGEST_EXACT for value in values):
        return texts
    return [f"{value:.15g}" for value in values]


def _refuse_measurement(name: str, texts: list[str]) -> None:
    counts = Counter(texts)
    try:
        values = [float(text) for text in counts]
    except ValueError:
        if len(counts) > 20 and len(counts) > len(texts) / 2:
            raise DataError(
                f"`target` must hold classes that occur more than once, but column {name!r} has "
                f"{len(counts):,} different values in {len(texts):,} rows."
            ) from None
        return
    is_whole = all(value == int(value) for value in values if abs(value) < _LARGEST_EXACT)
    most = _MANY_NUMBERS if is_whole else _MANY_FRACTIONS
    is_sparse = len(counts) > _MANY_FRACTIONS and len(counts) > len(texts) / _RARE
    if len(counts) > most or is_sparse:
        raise DataError(
            f"`target` must hold classes, but column {name!r} is a number with {len(counts):,} "
            f"different values; --bins 10 makes 10 ordered classes of it."
        )


def _binned(name: str, texts: list[str], bins: int) -> tuple[list[str], list[float]]:
    """The bin of each number, and the edges: quantiles of all rows."""
    if _checks.class_count("bins", bins) < 2:
        raise ValueError(f"`bins` must be at least 2, but got {bins}.")
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        word = next(text for text in texts if not _is_number(text))
        raise DataError(
            f"`bins` needs a target of numbers, but column {name!r} holds {word!r}."
        ) from None
    if not np.isfinite(values).all():
        raise DataError(f"`bins` needs finite numbers, but column {name!r} holds infinity.")
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))
    # A value on an inner edge belongs to the bin that begins there.
    at = np.searchsorted(edges[1:-1], values, side="right")
    names = _bin_names(edges)
    return [names[i] for i in at], [float(edge) for edge in edges]


def _bin_names(edges: Numbers) -> list[str]:
    """As in "10.5–12", with as few digits as keep the edges apart."""
    for digits in range(4, 18):
        texts = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(texts)) == len(texts):
            break
    texts = [f"{float(text):.15g}" if "e" in text else text for text in texts]
    return [f"{low}–{high}" for low, high in pairwise(texts)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
