"""The order of the classes, from their names alone.

The class order matters: a plain sort puts "10" before "2" and "high" before "low".
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .. import _checks
from .ordered_words import ranks

_NUMBER = r"[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_AROUND = re.compile(rf"(\D*?)({_NUMBER})([^\d]*)")
_RANGE = re.compile(rf"[\[(]?\s*({_NUMBER})\s*(?:–|-|to|\.\.)\s*({_NUMBER})\s*[\])]?")
_INTERVAL = re.compile(rf"[\[(]\s*({_NUMBER})\s*,\s*({_NUMBER})\s*[\])]")
_THOUSANDS = re.compile(r"[-+−]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_BELOW_A_THOUSAND = re.compile(r"[-+−]?\d{1,3}(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+−]?\d+(?:,\d+)?")
_OPEN = re.compile(
    rf"(?:<=?|>=?|≤|≥|under|over|below|above)\s*({_NUMBER})|({_NUMBER})\s*(?:\+|or more|and over)"
)
_PIECES = re.compile(r"(\d+)")
_IRREGULAR = (("child", "children"), ("person", "people"), ("foot", "feet"))
_DATES = (
    *("%Y-%m-%d", "%Y-%m", "%Y/%m/%d", "%Y/%m", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y"),
    *("%m-%Y", "%m/%Y", "%m.%Y", "%b %Y", "%B %Y"),
)


@dataclass(frozen=True)
class ClassOrder:
    """Class names in order.

    Attributes:
        names: in class order.
        kind: where the order comes from: "numbers", "dates", "words" (low < medium < high),
            "given" by the user, the "column" of a table that has one, or "names", which is not
            an order: they are sorted alphabetically.
    """

    names: tuple[str, ...]
    kind: str

    @property
    def is_ordered(self) -> bool:
        return self.kind != "names"

    def __str__(self) -> str:
        return (" < " if self.is_ordered else ", ").join(_some(self.names))


def class_order(names: Sequence[str], given: Sequence[str] | None = None) -> ClassOrder:
    """The names in class order: as given, by number, by date, by well-known words, by name.

    Example:
        >>> print(class_order(["10", "2", "1"]), "|", class_order(["high", "low", "medium"]))
        1 < 2 < 10 | low < medium < high
        >>> print(class_order(["dog", "cat"]))
        cat, dog
    """
    distinct = list(dict.fromkeys(names))
    if given is not None:
        place = _checks.permutation("class_order", given, distinct, "classes")
        return ClassOrder(tuple(distinct[i] for i in place), "given")
    for kind, keys in (
        ("dates", dates(distinct)),  # before numbers: "2024-01" is not a range
        ("numbers", positions(distinct)),
        ("words", ranks(distinct)),
    ):
        if keys is not None:
            in_order = sorted(range(len(distinct)), key=keys.__getitem__)
            return ClassOrder(tuple(distinct[i] for i in in_order), kind)
    return ClassOrder(tuple(sorted(distinct, key=_natural)), "names")


def positions(names: Sequence[str]) -> list[float] | None:
    """The number each name stands for; None unless all are numbers, and all different.

    "12", "12 km" and "class_12" are 12 if the text around the number is always the same, but for
    the plural in "1 star", "2 stars"; "10–12" and "(10, 12]" are 11, "65+" and "<18" are the
    number. "1,500" is 1500 if every comma separates thousands; "0,5" is 0.5.

    Example:
        >>> positions(["age 3", "age 10"]), positions(["0-9", "10-19", "20+"])
        ([3.0, 10.0], [4.5, 14.5, 20.0])
        >>> positions(["3 cats", "4 dogs"]) is None
        True
    """
    for reading in (_plain_numbers, _with_commas, _ranges):
        found = reading([name.strip() for name in names])
        if found is not None and len(set(found)) == len(found):
            return found
    return None


def dates(names: Sequence[str]) -> list[float] | None:
    """The day each name stands for; None unless all are dates in one format.

    Example:
        >>> dates(["2024-03-01", "2024-02-28"])
        [738946.0, 738944.0]
    """
    for form in _DATES:
        try:
            days = [datetime.datetime.strptime(name.strip(), form).toordinal() for name in names]
        except ValueError:
            continue
        return [float(day) for day in days] if len(set(days)) == len(days) else None
    return None


def spaced_positions(names: Sequence[str]) -> list[float] | None:
    """The number or the day each name stands for, or None."""
    return dates(names) or positions(names)


def _plain_numbers(names: list[str]) -> list[float] | None:
    matches = [_AROUND.fullmatch(name) for name in names]
    known = [match for match in matches if match]
    if len(known) < len(names) or len({m[1] for m in known}) > 1:
        return None
    if not _is_one_unit({m[3].strip() for m in known}):
        return None
    is_hyphen = bool(known[0][1]) and not known[0][1][-1].isspace()  # "class-2" is not -2
    return [abs(_number(match[2])) if is_hyphen else _number(match[2]) for match in known]


def _is_one_unit(texts: set[str]) -> bool:
    """Whether it is one text, or the singular and the plural of one: "star" and "stars"."""
    if len(texts) != 2:
        return len(texts) < 2
    one, other = (text.split() for text in texts)
    return len(one) == len(other) and (
        all(map(_is_plural_or_same, one, other)) or all(map(_is_plural_or_same, other, one))
    )


def _is_plural_or_same(word: str, other: str) -> bool:
    if word == other or len(word) < 2:  # "m" and "ms" are two units
        return word == other
    regular = [f"{word}s", f"{word}es", f"{word.removesuffix('y')}ies"]
    return other in regular or (word.casefold(), other.casefold()) in _IRREGULAR


def _with_commas(names: list[str]) -> list[float] | None:
    """Whether commas separate thousands or fractions; if either is possible, there is no order."""
    with_comma = [name for name in names if "," in name]
    others = [name for name in names if "," not in name]
    if with_comma and all(_THOUSANDS.fullmatch(name) for name in with_comma):
        # Beside "1500", the comma of "2,500" would be a decimal comma.
        if not all(_BELOW_A_THOUSAND.fullmatch(name) for name in others):
            return None
        return [_number(name.replace(",", "")) for name in names]
    if with_comma and all(_DECIMAL_COMMA.fullmatch(name) for name in names):
        return [_number(name.replace(",", ".")) for name in names]
    return None


def _ranges(names: list[str]) -> list[float] | None:
    found = []
    for name in names:
        match = _RANGE.fullmatch(name) or _INTERVAL.fullmatch(name)
        if match and _number(match[1]) <= _number(match[2]):
            found.append((_number(match[1]) + _number(match[2])) / 2)
        elif match := _OPEN.fullmatch(name.casefold()):
            found.append(_number(match[1] or match[2]))
        elif re.fullmatch(_NUMBER, name):
            found.append(_number(name))
        else:
            return None
    return found


def _number(text: str) -> float:
    return float(text.replace("−", "-"))


_MOST_DIGITS = 1000  # Python reads no integer of more than 4,300 digits


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Sorts "item 10" after "item 2"."""
    return [
        (0, int(piece), "")
        if piece.isdecimal() and len(piece) < _MOST_DIGITS
        else (1, 0, piece.casefold())
        for piece in _PIECES.split(name)
        if piece
    ] + [(2, 0, name)]


def _some(names: Sequence[str], most: int = 24) -> list[str]:
    """All names, or the first and last with an ellipsis between."""
    if len(names) <= most:
        return list(names)
    return [*names[: most // 2], "…", *names[-most // 2 :]]
