"""Checks the content of a file against a type, in one place.

JSON and YAML can hold anything under any name. A `TypedDict` says what is expected; other keys
are allowed, because a later version may add some.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_LARGEST_WHOLE = 2**63  # for a number that counts something
_LARGEST = 2**1000  # for a whole number instead of a fraction: JSON has integers of any length

Finite = Annotated[float, math.isfinite]
Positive = Annotated[float, lambda value: 0 < value < math.inf]
# A number that can be squared and summed.
Measured = Annotated[float, lambda value: abs(value) < 1e100]
AtLeastOne = Annotated[int, lambda value: value >= 1]

# Value -> where its first misfit is, None if everything fits.
_Finder = Callable[[Any], str | None]


def fits(value: Any, hint: Any) -> bool:
    """Whether a value from a file is of the type `hint`.

    Example:
        >>> fits({"a": [1, 2.5]}, dict[str, list[float]]), fits([True], list[int])
        (True, False)
    """
    return _finder(hint)(value) is None


def misfit(value: Any, hint: Any) -> str | None:
    """Where in a value the first misfit is; None if everything fits.

    Example:
        >>> from typing import TypedDict
        >>> Record = TypedDict("Record", {"cell": str, "sizes": dict[str, int]})
        >>> misfit({"cell": "a", "sizes": {"test": 1.5}}, Record)
        'sizes.test'
    """
    found = _finder(hint)(value)
    return None if found is None else found.rstrip(".")


@cache
def _finder(hint: Any) -> _Finder:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _of_rules(_finder(inner[0]), inner[1:])
    if origin in (Union, UnionType):
        finders = [_finder(each) for each in inner]
        return lambda value: None if any(find(value) is None for find in finders) else ""
    if is_typeddict(hint):
        return _of_keys(hint)
    if origin is dict:
        return _of_values(_finder(inner[1]))
    if origin is tuple and inner[-1] is not ...:
        return _of_places([_finder(each) for each in inner])
    if origin in (list, tuple, Sequence):
        return _of_items(_finder(inner[0]))
    return _of_kind(hint, inner)


def _of_rules(find: _Finder, rules: tuple[Callable[[Any], bool], ...]) -> _Finder:
    def found(value: Any) -> str | None:
        below = find(value)
        return below if below is not None or all(rule(value) for rule in rules) else ""

    return found


def _of_keys(hint: Any) -> _Finder:
    hints = get_type_hints(hint, include_extras=True)
    finders = {
        key: _finder(get_args(each)[0] if get_origin(each) is NotRequired else each)
        for key, each in hints.items()
    }
    required = hint.__required_keys__

    def found(value: Any) -> str | None:
        if not isinstance(value, dict):
            return ""
        for key, find in finders.items():
            if key not in value:
                if key in required:
                    return key
            elif (below := find(value[key])) is not None:
                return f"{key}.{below}"
        return None

    return found


def _of_values(find: _Finder) -> _Finder:
    def found(value: Any) -> str | None:
        if not isinstance(value, dict):
            return ""
        for key, entry in value.items():
            below = find(entry) if isinstance(key, str) else ""
            if below is not None:
                return f"{key}.{below}"
        return None

    return found


def _of_items(find: _Finder) -> _Finder:
    def found(value: Any) -> str | None:
        if not isinstance(value, (list, tuple)):
            return ""
        return next((below for each in value if (below := find(each)) is not None), None)

    return found


def _of_places(finders: list[_Finder]) -> _Finder:
    def found(value: Any) -> str | None:
        if not isinstance(value, (list, tuple)) or len(value) != len(finders):
            return ""
        each = zip(finders, value, strict=True)
        return next((below for find, entry in each if (below := find(entry)) is not None), None)

    return found


def _is_text(value: Any) -> bool:
    """Text that can be written again: JSON can also hold halves of characters."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def _of_kind(hint: Any, inner: tuple[Any, ...]) -> _Finder:
    """One of the types that JSON has."""
    known: dict[Any, Callable[[Any], bool]] = {
        Any: lambda value: True,
        None: lambda value: value is None,
        NoneType: lambda value: value is None,
        str: _is_text,
        int: lambda value: type(value) is int and abs(value) < _LARGEST_WHOLE,
        float: lambda value: type(value) is float or (type(value) is int and abs(value) < _LARGEST),
    }
    if get_origin(hint) is Literal:
        return lambda value: None if isinstance(value, str) and value in inner else ""
    suits = known.get(hint) or (lambda value: isinstance(value, hint))
    return lambda value: None if suits(value) else ""
