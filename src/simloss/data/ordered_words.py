"""Words with a well-known order: sizes, grades, frequencies, months, answers of a survey."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_LONGEST = 200


def ranks(words: Sequence[str]) -> list[int] | None:
    """The rank of each word in the first scale that has all of them; None if none does.

    Two words for the same step are not an order.

    Example:
        >>> ranks(["High", "low", "MEDIUM"])
        [9, 3, 6]
        >>> ranks(["XL", "S", "M"]) is not None, ranks(["cat", "dog"])
        (True, None)
    """
    plain = [_plain(word) for word in words]
    for scale in _scales():
        found = [scale.get(word) for word in plain]
        known = [rank for rank in found if rank is not None]
        if len(known) == len(plain) == len(set(known)):
            return known
    return None


def _plain(word: str) -> str:
    plain = word.strip().casefold().replace("'", "").replace(".", "")
    # The pattern takes the square of a word's length; no word of a scale is long.
    return re.sub(r"[\s_\-]+(?=\w)", " ", plain) if len(plain) < _LONGEST else plain


@cache
def _scales() -> list[dict[str, int]]:
    """One scale per line of the file; "|" separates spellings of one step."""
    return [_scale(line) for line in _lines()]


def _lines() -> list[str]:
    text = files("simloss.data").joinpath("tables", "ordered_words.txt").read_text(encoding="utf-8")
    return text.splitlines()


def _scale(line: str) -> dict[str, int]:
    steps = [step.split("|") for step in line.split(", ")]
    return {spelling: rank for rank, step in enumerate(steps) for spelling in step}
