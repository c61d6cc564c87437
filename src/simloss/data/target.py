"""The column to predict: its classes in order, and the class of each row."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .class_order import ClassOrder, class_order
from .columns import NOT_ONE_VALUE, Numbers, as_text
from .errors import DataError

# A number with more distinct values than this is a measurement, not a class.
_MANY_FRACTIONS = 20
_MANY_NUMBERS = 100
_RARE = 3
_LARGEST_EXACT = 2**53
_CODE = re.compile(r"[-+]?0\d")


@dataclass(frozen=True)
class Target:
    """The classes of the rows that have one.

    Attributes:
        labels: class indices (N).
        rows: the rows of the table they belong to (N).
        order: the class names in order.
        notes: what was left out, which classes are rare; of bins, the edges, and as positions the
            median of each.
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
    """The classes of a column (pandas Series); rows in which it is empty are left out.

    Args:
        name: the heading of the column.
        cells: the column.
        class_names: all classes in order, if their names do not show it.
        bins: cut a number into this many ordered classes of about equal size.
    """
    if any(isinstance(each, NOT_ONE_VALUE) for each in cells):
        raise DataError(f"`target` must hold one class per cell, but column {name!r} holds lists.")
    texts = as_text(cells)
    rows = np.array([i for i, text in enumerate(texts) if text], dtype=np.int64)
    if len(rows) == 0:
        raise DataError(f"`target` must hold classes, but column {name!r} is empty.")
    present = [texts[i] or "" for i in rows]
    notes: dict[str, Any] = {}
    known = _known_order(cells, set(present)) if class_names is None and bins is None else None
    class_names = known or class_names
    if bins is not None:
        present, notes = _binned(name, present, bins)
    else:
        present, class_names = _spelled_alike(present, class_names)
        _refuse_measurement(name, present)
        if class_names is None:
            refuse_two_spellings(f"column {name!r}", present)
    order = class_order(present, class_names)
    order = replace(order, kind="column") if known else order
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


def known_classes(
    cells: Any, names: Sequence[str], edges: Sequence[float] | None = None
) -> list[str | None]:
    """The class of each cell by a model's class names; None if it is empty or unknown.

    Args:
        cells: a column (pandas Series) as :func:`target` takes it.
        names: the model's classes.
        edges: the edges of the bins, if made from numbers; a number beyond is in the last.
    """
    texts = as_text(cells)
    if edges is None:
        known = set(names)
        spellings = [(text, _as_number(text)) for text in texts]
        return [next((each for each in two if each in known), None) for two in spellings]
    inner = edges[1:-1]
    return [
        names[bisect_right(inner, float(text))] if text is not None and _is_number(text) else None
        for text in texts
    ]


def class_notes(order: ClassOrder, labels: Tensor) -> dict[str, Any]:
    """The kind of order, and the classes with fewer than 3 examples."""
    counts = torch.bincount(labels, minlength=len(order.names)).tolist()
    rare = {n: count for n, count in zip(order.names, counts, strict=True) if count < _RARE}
    notes: dict[str, Any] = {"class_order": order.kind}
    if order.kind in ("words", "given", "column"):
        notes["unit"] = "classes"
    return notes | ({"rare_classes": rare} if rare else {})


def refuse_two_spellings(where: str, names: Iterable[str]) -> None:
    """Refuse two classes that differ only by capitals or white space."""
    seen: dict[str, str] = {}
    for name in dict.fromkeys(names):
        first = seen.setdefault(" ".join(name.split()).casefold(), name)
        if first != name:
            raise DataError(
                f"Each class must have one spelling, but {where} has {first!r} and {name!r}; "
                f"use one of them, or name all classes with --class-order."
            )


def _known_order(cells: Any, present: set[str]) -> list[str] | None:
    """The classes of a column with an order (an ordered pandas Categorical), or None."""
    if not getattr(cells.dtype, "ordered", False):
        return None
    names = [str(category).strip() for category in cells.dtype.categories]
    return [name for name in names if name in present]


def _spelled_alike(
    texts: list[str], order: Sequence[str] | None
) -> tuple[list[str], Sequence[str] | None]:
    """Plain numbers in one spelling, so that "1" and "1.0" are one class; other texts unchanged.

    The zeros of "01" are part of a code, not of a number.
    """
    numbers = [_as_number(text) for text in texts]
    if None in numbers or any(_CODE.match(text) for text in texts):
        return texts, order
    if order is not None and not isinstance(order, str):
        order = [_as_number(str(each)) or str(each) for each in order]
    return [number or "" for number in numbers], order


def _as_number(text: str | None) -> str | None:
    """The one spelling of a plain number; None for any other text."""
    value = float(text) if text is not None and _is_number(text) else np.inf
    return f"{value:.15g}" if abs(value) < _LARGEST_EXACT else None


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
            f"different values; --bins 10 cuts it into 10 ordered classes."
        )


def _binned(name: str, texts: list[str], bins: int) -> tuple[list[str], dict[str, Any]]:
    """The bin of each number, and notes on all rows: the edges (quantiles) and the medians."""
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
    edges = _without_empty_bins(np.unique(np.quantile(values, np.linspace(0, 1, bins + 1))), values)
    if len(edges) < 2:
        raise DataError(
            f"`bins` needs a target of different numbers, but column {name!r} holds only "
            f"{texts[0]!r}."
        )
    names = _bin_names(edges)
    place = _bin_of(values, edges)
    medians = [float(np.median(values[place == bin])) for bin in range(len(names))]
    notes: dict[str, Any] = {"edges": edges.tolist(), "positions": medians}
    if len(names) < bins:
        notes["bins"] = bins
    return [names[i] for i in place], notes


def _bin_of(values: Numbers, edges: Numbers) -> Any:
    """The bin of each value; one on an inner edge belongs to the bin that starts there."""
    return np.searchsorted(edges[1:-1], values, side="right")


def _without_empty_bins(edges: Numbers, values: Numbers) -> Numbers:
    """If values repeat, two edges may lie between neighbours; the upper one stays."""
    begins = edges[np.unique(_bin_of(values, edges))]
    return np.unique(np.append(begins, edges[-1]))


def _bin_names(edges: Numbers) -> list[str]:
    """As in "10.5–12", with just enough digits to keep the edges apart."""
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
