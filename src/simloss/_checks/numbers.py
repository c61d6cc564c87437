"""Single numbers: in a range, whole, finite."""

import operator
from typing import Any

import numpy as np
import torch


def fraction(name: str, value: float) -> float:
    """A number in [0, 1): `r`, `lower_bound`."""
    value = real(name, value)
    if not 0.0 <= value < 1.0:
        raise ValueError(f"`{name}` must be in [0, 1), but got {value}.")
    return value


def share(name: str, value: float) -> float:
    """A number in [0, 1]: `label_smoothing`, `cross_entropy_share`."""
    value = real(name, value)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"`{name}` must be in [0, 1], but got {value}.")
    return value


def positive(name: str, value: float) -> float:
    """A finite number above 0: `temperature`, `scale`."""
    value = real(name, value)
    if not 0.0 < value < float("inf"):
        raise ValueError(f"`{name}` must be a finite number above 0, but got {value}.")
    return value


def at_least_zero(name: str, value: float) -> float:
    """A finite number of at least 0: `smoothing`."""
    value = real(name, value)
    if not 0.0 <= value < float("inf"):
        raise ValueError(f"`{name}` must be a finite number of at least 0, but got {value}.")
    return value


def real(name: str, value: Any) -> float:
    """A plain number, or one in a 0-d array or tensor."""
    if isinstance(value, (bool, str)):
        raise TypeError(f"`{name}` must be a number, but got {value!r}.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"`{name}` must be below 1.8e308, but got a larger number.") from None
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` must be a number, but got {value!r}.") from None


def threshold(name: str, value: Any) -> float:
    """A number to compare with; infinity is allowed, NaN is not."""
    value = real(name, value)
    if value != value:
        raise ValueError(f"`{name}` must be a number to compare with, but got NaN.")
    return value


def class_count(name: str, value: int) -> int:
    """A number of classes."""
    if isinstance(value, bool) or not isinstance(value, int):
        try:
            whole = int(value) if not isinstance(value, (bool, np.bool_, str)) else None
        except (TypeError, ValueError, OverflowError):
            whole = None
        if whole is None or whole != value:
            raise TypeError(f"`{name}` must be a whole number, but got {value!r}.")
        value = whole
    if value < 1:
        raise ValueError(f"`{name}` must be at least 1, but got {value}.")
    return value


def seed(name: str, value: int) -> int:
    """A whole number that torch's generators accept, with room to add to it."""
    if not -(2**62) < value < 2**62:
        raise ValueError(f"`{name}` must be below 2^62 in size, but got {value}.")
    return value


def index(name: str, value: Any, count: int) -> int:
    """A whole number in [0, count): a class, a node, a level."""
    is_bool = isinstance(value, (bool, np.bool_)) or getattr(value, "dtype", None) == torch.bool
    try:
        if is_bool:
            raise TypeError
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"`{name}` must be a whole number, but got {value!r}.") from None
    if not 0 <= whole < count:
        raise ValueError(f"`{name}` must be in [0, {count}), but got {whole}.")
    return whole


_MOST_RUNS = 100_000


def run_count(name: str, value: int) -> int:
    """A number of runs, of which each takes a while."""
    value = class_count(name, value)
    if value > _MOST_RUNS:
        raise ValueError(f"`{name}` must be at most {_MOST_RUNS:,}, but got {value:,}.")
    return value


def rank(name: str, value: int, num_classes: int) -> int:
    """A number of classes to list, from 1 to all of them."""
    value = class_count(name, value)
    if value > num_classes:
        raise ValueError(
            f"`{name}` must be at most the number of classes, {num_classes}, but got {value}."
        )
    return value
