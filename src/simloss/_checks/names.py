"""Names and words: one of a list, each once, in a known order."""

import difflib
from collections.abc import Iterable, Sequence, Sized
from itertools import islice
from typing import Any

_MOST_LOOKED_AT = 1_000_000  # names, for the nearest; word vectors may have any number


def choice(name: str, value: str, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        remedy = nearest_spelling(str(value), allowed)
        raise ValueError(f"`{name}` must be one of {words}, but got {value!r}{remedy}.")
    return value


def in_class_order(name: str, values: Any) -> None:
    """A list, or anything that yields its items in order."""
    if isinstance(values, str):
        raise TypeError(f"`{name}` must be a list, but got {values!r}.")
    if isinstance(values, (set, frozenset)):
        raise TypeError(
            f"`{name}` must be in class order, but got a set, which has no order; pass a list."
        )
    if hasattr(values, "columns"):  # of pandas or polars
        raise TypeError(
            f"`{name}` must be a list, but got a table, which yields its headings; "
            f"pass one column, or its rows, `table.to_numpy()`."
        )


def is_missing(value: Any) -> bool:
    """None, or the value of an empty cell in a table: NaN differs from itself, NA does not even."""
    return value is None or type(value).__name__ == "NAType" or value != value


def not_missing(name: str, values: Iterable[Any]) -> None:
    """No empty cell instead of a name: its class would be called "nan" or "None"."""
    for place, value in enumerate(values):
        if is_missing(value):
            raise ValueError(f"`{name}` must have no gaps, but got {value!r} in position {place}.")


def class_names(names: Sequence[str] | None, num_classes: int) -> tuple[str, ...] | None:
    """One distinct name per class, or None."""
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(f"`names` must be a list of {num_classes} names, but got {names!r}.")
    in_class_order("names", names)
    names = tuple(names)
    not_missing("names", names)
    names = tuple(str(name) for name in names)
    if len(names) != num_classes:
        raise ValueError(
            f"`names` must have one name for each of the {num_classes} classes, "
            f"but got {len(names)} names."
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"`names` must be distinct, but {name!r} is listed twice.")
        seen.add(name)
    return names


def not_empty(name: str, values: Sized) -> None:
    """At least one."""
    if len(values) == 0:
        raise ValueError(f"`{name}` must not be empty.")


def distinct(name: str, values: Sequence[Any]) -> None:
    """No duplicates, and at least one."""
    not_empty(name, values)
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"`{name}` must be distinct, but {value!r} is listed twice.")
        seen.add(value)


def nearest_spelling(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown name: " (did you mean 'robin'?)", or an empty text."""
    spelt = {each.casefold(): each for each in islice(known, _MOST_LOOKED_AT)}
    close = difflib.get_close_matches(name.casefold(), spelt, n=1)
    return f" (did you mean {spelt[close[0]]!r}?)" if close else ""


def counted(count: int, one: str, several: str) -> str:
    """The number and what there are so many of.

    Example:
        >>> counted(1, "row is", "rows are"), counted(1200, "row is", "rows are")
        ('1 row is', '1,200 rows are')
    """
    return f"{count:,} {one if count == 1 else several}"


def permutation(name: str, order: Sequence[str], known: Sequence[str], what: str) -> list[int]:
    """The index in `known` of each of `order`, which must list each of `known` once."""
    if isinstance(order, str):
        raise TypeError(f"`{name}` must be a list of names, but got {order!r}.")
    in_class_order(name, order)
    order = [str(each) for each in order]
    distinct(name, order)
    place = {each: i for i, each in enumerate(known)}
    for each in order:
        if each not in place:
            remedy = nearest_spelling(each, known)
            raise ValueError(f"`{name}` must name the {what}, but {each!r} is not one{remedy}.")
    missing = sorted(set(known) - set(order))
    if missing:
        raise ValueError(
            f"`{name}` must name all {len(known)} {what}, but {missing[0]!r} is missing."
        )
    return [place[each] for each in order]
