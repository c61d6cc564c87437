"""The nouns of a WordNet database, read from its own files (WNDB): index.noun and data.noun."""

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from .._disk import bytes_of, regular_file
from .plural import singulars

# The usual folders, among them that of Debian's wordnet-base.
_USUAL_PLACES = ("/usr/share/wordnet", "/usr/local/WordNet-3.0/dict", "/usr/share/wordnet-3.0")
_MOST_BYTES = 2**28  # of data.noun, which has 15 million
_UPWARDS = ("@", "@i")  # hypernym, instance hypernym


@dataclass(frozen=True)
class Synset:
    """One meaning: its place in data.noun, its words, its definition and its more general meanings.

    Attributes:
        offset: its number in the database.
        words: all words with this meaning.
        definition: the gloss.
        parents: the offsets of the more general meanings.
    """

    offset: int
    words: tuple[str, ...]
    definition: str
    parents: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.offset:08d} {', '.join(self.words)}: {self.definition}"


class WordNet:
    """A folder with index.noun and data.noun. Reads only the lines it needs."""

    def __init__(self, folder: str | PathLike[str] | None = None) -> None:
        self.folder = _found(folder)
        self._known: dict[int, Synset] = {}
        self._data = bytes_of(self.folder / "data.noun", _MOST_BYTES, follow_links=True)

    def senses(self, words: Iterable[str]) -> dict[str, tuple[Synset, ...]]:
        """The meanings of each word, most frequent first; none for an unknown word."""
        forms = {word: [*_forms(word)] for word in words}
        wanted = {form for some in forms.values() for form in some}
        offsets: dict[str, tuple[int, ...]] = {}
        with regular_file(self.folder / "index.noun", follow_links=True) as file:
            lines = io.TextIOWrapper(file, encoding="utf-8", errors="replace")
            for number, line in enumerate(lines, 1):
                lemma = line.partition(" ")[0]
                if lemma in wanted:
                    with _damage_named(f"index.noun must follow WNDB's format, but line {number}"):
                        offsets[lemma] = _offsets(line)
        found = {}
        for word, some in forms.items():
            known = next((offsets[form] for form in some if form in offsets), ())
            found[word] = tuple(self.synset(offset) for offset in known)
        return found

    def synset(self, offset: int) -> Synset:
        """The meaning at a place in data.noun."""
        if offset not in self._known:
            end = self._data.find(b"\n", offset)
            line = self._data[offset : end if end >= 0 else None].decode("utf-8", "replace")
            if line.partition(" ")[0] != f"{offset:08d}":
                raise ValueError(
                    f"data.noun must have a synset at offset {offset}, but it does not; "
                    f"if the file was edited or re-encoded, its offsets no longer fit."
                )
            with _damage_named(f"data.noun must follow WNDB's format, but the synset at {offset}"):
                self._known[offset] = _synset(line, offset)
        return self._known[offset]

    def ancestors(self, offset: int) -> dict[int, int]:
        """Every more general meaning, including itself, and the fewest steps up to it."""
        steps = {offset: 0}
        waiting = [offset]
        for node in waiting:
            for parent in self.synset(node).parents:
                if parent not in steps:
                    steps[parent] = steps[node] + 1
                    waiting.append(parent)
        return steps


@contextmanager
def _damage_named(what: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, IndexError):
        raise ValueError(f"{what} does not; it is damaged or was edited.") from None


def _found(folder: str | PathLike[str] | None) -> Path:
    places = [folder] if folder is not None else [os.environ.get("WNSEARCHDIR"), *_USUAL_PLACES]
    for place in places:
        if place and all((Path(place) / name).is_file() for name in ("index.noun", "data.noun")):
            return Path(place)
    if folder is not None:
        raise FileNotFoundError(
            f"`folder` must hold a WordNet database (index.noun, data.noun), but {folder} does not."
        )
    raise FileNotFoundError(
        "wordnet() needs a WordNet database (index.noun, data.noun), but found none; install "
        "Debian's wordnet-base or pass `folder`."
    )


def _forms(word: str) -> Iterable[str]:
    lemma = word.strip().lower().replace(" ", "_")
    yield lemma
    yield lemma.replace("_", "-")
    yield lemma.replace("-", "_")
    yield lemma.replace("_", "")
    yield from singulars(lemma)


def _offsets(line: str) -> tuple[int, ...]:
    # lemma pos synset_cnt p_cnt [pointer ...] sense_cnt tagsense_cnt offset [offset ...]
    fields = line.split()
    count = int(fields[2])
    return tuple(int(field) for field in fields[-count:])


def _synset(line: str, offset: int) -> Synset:
    # offset lex_filenum ss_type w_cnt word lex_id [...] p_cnt [symbol offset pos st ...] | gloss
    head, _, gloss = line.partition("|")
    fields = head.split()
    word_count = int(fields[3], 16)
    words = tuple(fields[4 + 2 * i] for i in range(word_count))
    at = 4 + 2 * word_count
    pointers = fields[at + 1 : at + 1 + 4 * int(fields[at])]
    parents = tuple(
        int(pointers[i + 1]) for i in range(0, len(pointers), 4) if pointers[i] in _UPWARDS
    )
    definition = gloss.strip().partition(";")[0]
    return Synset(offset, words, definition, parents)
