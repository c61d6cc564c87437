"""Damage to the bytes of a valid file, and hostile values in a well-formed one.

Cheap, seeded, aimed at common weaknesses of readers.
"""

import copy
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# Tokens that have broken readers of numbers, names and marks.
_TEXTS = (
    *("0", "-1", "1", "nan", "inf", "-inf", "1e999", "-0.0", "1e-400", "1_000", "٣", "0x10"),
    *("99999999999999999999", "4294967296", "2147483648", "1" * 5000, "1" * 400, "true"),
    *("", " ", "\n", "\r\n", "\r", "\t", "\0", ",", ";", '"', "'", '""', "\\", "/", "|", "@"),
    *("null", "None", "[]", "{}", "[", "{", "]", "}", ":", "- ", "&a ", "*a", "!!python/x", "#"),
    *("<script>", "=1+1", "../", "é", "\u202e", "\ufeff", "😀", "\u2028", "a" * 3000),
)
TOKENS = (
    *(text.encode() for text in _TEXTS),
    *(
        b"\xff",
        b"\xfe\xff",
        b"\x80",
        b"\xc3\x28",
        b"PK\x03\x04",
        b"\x1f\x8b",
        b"\x93NUMPY",
        bytes(512),
    ),
)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """One to six damages, mostly few."""
    data = bytearray(content)
    for _ in range(min(chance.randint(1, 6), chance.randint(1, 6))):
        chance.choice(_DAMAGES)(data, chance)
    return bytes(data)


def _place(data: bytearray, chance: random.Random) -> int:
    return chance.randint(0, len(data))


def _slice(data: bytearray, chance: random.Random) -> slice:
    start = _place(data, chance)
    return slice(start, start + min(chance.randint(1, 64), chance.randint(1, 64)))


def _flip(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _set(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] = chance.randrange(256)


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[_place(data, chance) :]


def _remove(data: bytearray, chance: random.Random) -> None:
    del data[_slice(data, chance)]


def _insert(data: bytearray, chance: random.Random) -> None:
    at = _place(data, chance)
    data[at:at] = chance.choice(TOKENS)


def _replace(data: bytearray, chance: random.Random) -> None:
    data[_slice(data, chance)] = chance.choice(TOKENS)


def _repeat(data: bytearray, chance: random.Random) -> None:
    some = data[_slice(data, chance)]
    at = _place(data, chance)
    data[at:at] = some * min(chance.randint(1, 40), chance.randint(1, 40))


def _replace_number(data: bytearray, chance: random.Random) -> None:
    """A run of digits becomes another number."""
    at = _place(data, chance)
    while at < len(data) and not 48 <= data[at] <= 57:
        at += 1
    end = at
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    data[at:end] = chance.choice(TOKENS[:17])


def _overwrite(data: bytearray, chance: random.Random) -> None:
    """Little-endian extremes, where binary formats keep sizes and offsets."""
    at = _place(data, chance)
    size = chance.choice((1, 2, 4, 8))
    value = chance.choice((0, 1, 2 ** (8 * size - 1), 2 ** (8 * size) - 1, 2 ** (4 * size)))
    data[at : at + size] = value.to_bytes(size, "little")


_DAMAGES = (
    *(_flip, _set, _cut, _remove, _insert, _insert, _replace, _replace, _repeat),
    *(_replace_number, _replace_number, _overwrite),
)


# Values of a well-formed file that only an attacker would write.
NAMES = ("hostile:make", "subprocess:run", "os:system", "builtins:exec", "hostile:alike")
PATHS = (
    *("/etc/passwd", "../../../outside", "/dev/zero", "/proc/kmsg", "~nosuchuser/x", "a/../../x"),
    *("outside.link", "waiting.pipe", "/", ".", "x" * 300, "//host/share", "file:///etc/passwd"),
)
NUMBERS: tuple[float, ...] = (
    *(0, -1, 1, 3, 2**31, 2**63, 10**18, -(10**18), 10**400, 0.5, 5e-324),
    *(1e308, -1e308, math.nan, math.inf, -math.inf),
)
OTHERS: tuple[Any, ...] = (
    *(None, True, False, "", "text", [], {}, [[]], [None], [1, 2, 3], {"a": 1}, {"a": {"b": []}}),
    *("\x1b[31mred\x07", "a\0b", "x" * 10_000, "\u202e", "two\nlines", "%s %n {0}", "=1+1"),
    *("<script>", "[" * 100, "\x9b31m", "🙂" * 50),
)
HOSTILE = (*NAMES, *PATHS, *NUMBERS, *OTHERS)

Place = tuple[Any, ...]


def places(plain: Any, so_far: Place = ()) -> Iterator[Place]:
    """The path of a value in nested lists and mappings: the keys down to it."""
    if so_far:
        yield so_far
    if isinstance(plain, dict):
        for key, below in plain.items():
            yield from places(below, (*so_far, key))
    elif isinstance(plain, list):
        for at, below in enumerate(plain):
            yield from places(below, (*so_far, at))


def at(plain: Any, place: Place) -> Any:
    """The value at a path."""
    for key in place:
        plain = plain[key]
    return plain


def with_value(plain: Any, place: Place, value: Any) -> Any:
    """A copy with another value at a path."""
    made = copy.deepcopy(plain)
    at(made, place[:-1])[place[-1]] = copy.deepcopy(value)
    return made


def with_hostile_values(plain: Any, chance: random.Random) -> Any:
    """A copy in which one to three values are replaced, removed or doubled."""
    for _ in range(min(chance.randint(1, 3), chance.randint(1, 3))):
        known = list(places(plain))
        if not known:
            return plain
        place = chance.choice(known)
        plain = chance.choice(_CHANGES)(plain, place, chance)
    return plain


def _set_hostile(plain: Any, place: Place, chance: random.Random) -> Any:
    now = at(plain, place)
    if isinstance(now, (np.ndarray, bytes)):
        return with_value(plain, place, _other_array(now, chance))
    return with_value(plain, place, chance.choice(HOSTILE))


def _other_array(now: Any, chance: random.Random) -> Any:
    """Of bytes, other bytes; of an array, one with another shape, kind or numbers."""
    if isinstance(now, bytes):
        return chance.choice((b"", b"text", now[:10], now * 2, bytes(1000)))
    changes: tuple[Callable[[], Any], ...] = (
        lambda: now.reshape(-1),
        lambda: now[..., None],
        lambda: now[:0],
        lambda: np.zeros((), now.dtype),
        lambda: np.array(["hostile:make"]),
        lambda: np.full_like(now, chance.choice((-1, 0, 1, 100))),
        lambda: np.full(now.shape, chance.choice((math.nan, math.inf, -1e300, 1e300))),
        lambda: np.concatenate([np.atleast_1d(now), np.atleast_1d(now)]),
        lambda: now.astype(chance.choice(("bool", "int8", "float16", "float64"))),
    )
    try:
        with np.errstate(all="ignore"):
            return chance.choice(changes)()
    except (IndexError, TypeError, ValueError, OverflowError):  # of no dimension, texts, no sign
        return np.zeros(2)


def _remove_entry(plain: Any, place: Place, chance: random.Random) -> Any:
    made = copy.deepcopy(plain)
    del at(made, place[:-1])[place[-1]]
    return made


def _repeat_entry(plain: Any, place: Place, chance: random.Random) -> Any:
    """Twice in a list; of a mapping, under another name too."""
    made = copy.deepcopy(plain)
    holder = at(made, place[:-1])
    entry = copy.deepcopy(holder[place[-1]])
    if isinstance(holder, list):
        holder.insert(place[-1], entry)
    else:
        holder[chance.choice((*NAMES, *PATHS, "", "\x1b[31m", "x" * 10_000))] = entry
    return made


_CHANGES = (_set_hostile, _set_hostile, _set_hostile, _set_hostile, _remove_entry, _repeat_entry)
