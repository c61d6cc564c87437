"""Damage to the bytes of a valid file: cheap, seeded, aimed at what readers trip over."""

import random

# What numbers, names and marks of the formats read here have gone wrong with.
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
