"""The possible singulars of a plural word."""

from collections.abc import Iterator

_ENDINGS = (
    ("ies", "y"),
    ("ves", "f"),
    ("ves", "fe"),
    ("men", "man"),
    ("s", ""),
    ("es", ""),
)
_IRREGULAR = {
    "children": "child",
    "feet": "foot",
    "geese": "goose",
    "mice": "mouse",
    "people": "person",
    "teeth": "tooth",
}


def singulars(word: str) -> Iterator[str]:
    """Possible singulars of an English plural, likely ones first; none for a word like "glass".

    Example:
        >>> list(singulars("roses"))
        ['rose', 'ros']
        >>> list(singulars("glass"))
        []
    """
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    for ending, singular in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) > len(ending) + 1:
            yield word.removesuffix(ending) + singular
