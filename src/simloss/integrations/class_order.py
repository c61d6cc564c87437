"""Labels as scikit-learn sorts them, and the order the classes really have."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _checks

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")

# So many names are shown in a message.
_SHOWN = 6


@dataclass(frozen=True)
class ClassOrder:
    """The classes of a training set in their true order.

    Attributes:
        labels: every class there is, also those without an example, in class order, (K).
        kept: the places in `labels` of the classes with examples, rising, (C).
        columns: for each of those, its place in scikit-learn's sorted `classes_`, (C).
    """

    labels: tuple[Any, ...]
    kept: tuple[int, ...]
    columns: np.ndarray[Any, Any]

    @classmethod
    def of(cls, classes: np.ndarray[Any, Any], given: Sequence[Any] | None) -> "ClassOrder":
        """The order of sorted `classes`: as given, else numbers by value, else the alphabet's."""
        present = [_plain(label) for label in classes]
        if given is None:
            labels = tuple(sorted(present, key=_value) if _are_numbers(present) else present)
        else:
            labels = _checked(given, present)
        column_of = {label: column for column, label in enumerate(present)}
        kept = tuple(place for place, label in enumerate(labels) if label in column_of)
        return cls(labels, kept, np.array([column_of[labels[place]] for place in kept]))

    @property
    def names(self) -> list[str]:
        """Every class by name, as similarities and trees call them."""
        return [_name(label) for label in self.labels]

    @property
    def numbers(self) -> list[float]:
        """Every class as a number; an error where one is a word."""
        if not _are_numbers(self.labels):
            word = next(label for label in self.labels if not _are_numbers([label]))
            raise ValueError(
                f"`similarity` 'values' needs labels that are numbers, but got {word!r}."
            )
        return [_value(label) for label in self.labels]

    def warn_of_the_alphabet(self) -> None:
        """Say that names were put in alphabetical order, where an order is what counts."""
        if len(self.labels) > 2 and not _are_numbers(self.labels):
            shown = " < ".join(self.names[:_SHOWN]) + (
                " < ..." if len(self.labels) > _SHOWN else ""
            )
            warnings.warn(
                f"`class_order` was not given, so the classes are taken in alphabetical order: "
                f"{shown}; say class_order=[...], from the lowest to the highest.",
                UserWarning,
                stacklevel=4,
            )


def order_of_categories(y: Any) -> list[Any] | None:
    """The categories of an ordered pandas column, which knows its order; else None."""
    dtype: Any = getattr(y, "dtype", None)
    return list(dtype.categories) if getattr(dtype, "ordered", False) else None


def _checked(given: Sequence[Any], present: list[Any]) -> tuple[Any, ...]:
    if isinstance(given, str):
        raise TypeError(f"`class_order` must be a list of labels, but got {given!r}.")
    labels = tuple(_plain(label) for label in given)
    _checks.distinct("class_order", labels)
    for label in present:
        if label not in labels:
            raise ValueError(
                f"`class_order` must name every class, but {label!r} of `y` is missing."
            )
    return labels


def _plain(label: Any) -> Any:
    """A Python value of what an array holds."""
    return label.item() if isinstance(label, np.generic) else label


def _are_numbers(labels: Sequence[Any]) -> bool:
    return all(
        isinstance(label, (int, float)) or _NUMBER.fullmatch(str(label).strip()) for label in labels
    )


def _value(label: Any) -> float:
    return float(label)


def _name(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
