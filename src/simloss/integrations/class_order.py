"""Labels as scikit-learn sorts them, and the true order of the classes."""

import datetime
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _checks
from ..data.class_order import class_order, spaced_positions

# The number of names to show in a message.
_SHOWN = 6


@dataclass(frozen=True)
class LabelOrder:
    """The classes of a training set in their true order.

    Attributes:
        labels: every class, including those without an example, in class order, (K).
        kept: the indices in `labels` of the classes with examples, rising, (C).
        columns: for each of those, its index in scikit-learn's sorted `classes_`, (C).
        is_guessed: whether names are in alphabetical order because no better order is known.
    """

    labels: tuple[Any, ...]
    kept: tuple[int, ...]
    columns: np.ndarray[Any, Any]
    is_guessed: bool = False

    @classmethod
    def of(cls, classes: np.ndarray[Any, Any], given: Sequence[Any] | None) -> "LabelOrder":
        """The order of sorted `classes`: as given, else by number, date or well-known word."""
        present = [_plain(label) for label in classes]
        is_guessed = False
        if given is not None:
            labels = _checked(given, present)
        elif all(isinstance(label, (int, float, datetime.date)) for label in present):
            labels = tuple(present)  # numbers are sorted as numbers, dates as dates
        else:
            named = {_name(label): label for label in present}
            found = class_order(list(named))
            labels = tuple(named[name] for name in found.names)
            is_guessed = not found.is_ordered and len(labels) > 2
        column_of = {label: column for column, label in enumerate(present)}
        kept = tuple(place for place, label in enumerate(labels) if label in column_of)
        columns = np.array([column_of[labels[place]] for place in kept])
        return cls(labels, kept, columns, is_guessed)

    @property
    def names(self) -> list[str]:
        """Every class by name, as in similarities and trees."""
        return [_name(label) for label in self.labels]

    @property
    def numbers(self) -> list[float]:
        """Every class as a number or day; an error if one is a word."""
        if all(isinstance(label, datetime.date) for label in self.labels):
            moments = np.array(self.labels, dtype="datetime64[us]").astype(np.int64)
            return list(moments / 86_400e6)  # in days
        found = spaced_positions(self.names)
        if found is None:
            raise ValueError(
                f"Labels must be numbers or dates to be compared by value, "
                f"but got {', '.join(self.names[:_SHOWN])}."
            )
        return found

    def warn_of_the_alphabet(self) -> None:
        """Warn that names are in alphabetical order if the order matters."""
        if self.is_guessed:
            more = " < ..." if len(self.labels) > _SHOWN else ""
            warnings.warn(
                f"`class_order` was not given, so the classes are in alphabetical order: "
                f"{' < '.join(self.names[:_SHOWN])}{more}; pass class_order=[...], from the lowest "
                f"to the highest.",
                UserWarning,
                stacklevel=4,
            )


def order_of_categories(y: Any) -> list[Any] | None:
    """The categories of an ordered pandas column; None for other columns."""
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "iloc") and y.shape[1] == 1:
        y = y.iloc[:, 0]
    dtype: Any = getattr(y, "dtype", None)
    return list(dtype.categories) if getattr(dtype, "ordered", False) else None


def _checked(given: Sequence[Any], present: list[Any]) -> tuple[Any, ...]:
    if isinstance(given, str):
        raise TypeError(f"`class_order` must be a list of labels, but got {given!r}.")
    _checks.in_class_order("class_order", given)
    labels = tuple(_plain(label) for label in given)
    _checks.distinct("class_order", labels)
    for label in present:
        if label not in labels:
            raise ValueError(
                f"`class_order` must name every class, but {label!r} of `y` is missing."
            )
    return labels


def _plain(label: Any) -> Any:
    """The element of an array as a Python value."""
    if isinstance(label, np.datetime64) and isinstance(label.item(), int):
        label = label.astype("datetime64[us]")  # Python dates have no nanoseconds
    return label.item() if isinstance(label, np.generic) else label


def _name(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
