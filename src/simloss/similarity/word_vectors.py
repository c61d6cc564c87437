"""Sources of word vectors: the shipped file, other files, objects that hold them."""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from .. import _checks
from .._disk import regular_file
from .shipped_vectors import ShippedVectors, Vector

# Far more than any known vectors have; a larger count would fill the memory.
_LONGEST_LINE = 2**22
_LONGEST_HEAD = 100
_LONGEST_WORD = 10_000
_MOST_DIMENSIONS = 100_000


class VectorSource(Protocol):
    """Anything that has vectors for words."""

    name: str

    def lookup(self, words: set[str]) -> dict[str, Vector]:
        """The vectors of those words that have one."""

    def vocabulary(self) -> Iterable[str]:
        """All words."""


def vector_source(vectors: Any) -> VectorSource:
    """The shipped vectors for None, else those of the file or object `vectors`."""
    if vectors is None:
        return ShippedVectors()
    if isinstance(vectors, (str, PathLike)):
        path = Path(vectors)
        return BinaryFile(path) if ".bin" in path.suffixes else TextFile(path)
    if hasattr(vectors, "key_to_index") or isinstance(vectors, Mapping):
        return HeldVectors(vectors)
    raise TypeError(
        f"`vectors` must be None, a file, a gensim KeyedVectors, a dict of vectors or a function "
        f"of a list of names, but got {type(vectors).__name__}."
    )


class HeldVectors:
    """A gensim `KeyedVectors`, or a dict from words to vectors."""

    name = "`vectors`"

    def __init__(self, vectors: Any) -> None:
        self.vectors = vectors
        self.keys: Mapping[str, Any] = getattr(vectors, "key_to_index", vectors)

    def lookup(self, words: set[str]) -> dict[str, Vector]:
        found = {
            word: _checks.float_tensor("vectors", self.vectors[word]).detach().float().numpy()
            for word in sorted(words)
            if word in self.keys
        }
        first = next(iter(found), "")
        for word, vector in found.items():
            if vector.ndim != 1 or vector.shape != found[first].shape:
                raise ValueError(
                    f"`vectors` must have the same shape for every word, but has shape "
                    f"{vector.shape} for {word!r} and {found[first].shape} for {first!r}."
                )
        return found

    def vocabulary(self) -> Iterable[str]:
        return self.keys


class TextFile:
    """A text file of word2vec, GloVe or fastText, plain or .gz: a word and its numbers per line."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    def lookup(self, words: set[str]) -> dict[str, Vector]:
        wanted = {word.encode() for word in words}
        found: dict[str, Vector] = {}
        size = 0
        for number, line in self._lines():
            size = size or line.count(b" ")
            if not size:
                raise ValueError(
                    f"{self.name} must have spaces between a word and its numbers, "
                    f"but line {number} does not."
                )
            word, *numbers = line.rsplit(b" ", size)
            if word in wanted and word.decode() not in found:
                found[word.decode()] = self._vector(numbers, size, number)
        if not size:
            raise ValueError(f"{self.name} must hold word vectors, but it is empty.")
        return found

    def vocabulary(self) -> Iterable[str]:
        return (line.partition(b" ")[0].decode(errors="replace") for _, line in self._lines())

    def _vector(self, numbers: list[bytes], size: int, line: int) -> Vector:
        try:
            vector = np.array([float(each) for each in numbers], dtype=np.float32)
        except ValueError:
            vector = np.empty(0, dtype=np.float32)
        if len(vector) != size or size == 0:
            raise ValueError(
                f"{self.name} must hold a word and {size} numbers in each line, "
                f"but line {line} does not."
            )
        return vector

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Line numbers and lines, without the two counts in word2vec's first line."""
        with _opened(self.path) as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
                if len(line) == _LONGEST_LINE:
                    raise ValueError(
                        f"{self.name} must have shorter lines, but line {number} has "
                        f"more than {_LONGEST_LINE:,} bytes."
                    )
                line = line.rstrip()
                if line and not (number == 1 and _is_counts(line)):
                    yield number, line


class BinaryFile:
    """A .bin file of word2vec, plain or .gz."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    def lookup(self, words: set[str]) -> dict[str, Vector]:
        wanted = {word.encode() for word in words}
        return {
            word.decode(): np.frombuffer(numbers, dtype="<f4")
            for word, numbers in self._entries()
            if word in wanted
        }

    def vocabulary(self) -> Iterable[str]:
        return (word.decode(errors="replace") for word, _ in self._entries())

    def _entries(self) -> Iterator[tuple[bytes, bytes]]:
        with _opened(self.path) as file:
            head = file.readline(_LONGEST_HEAD)
            if not _is_counts(head):
                raise ValueError(
                    f"{self.name} must begin with the number of words and dimensions, "
                    f"as word2vec's binary files do, but it does not."
                )
            count, size = (int(each) for each in head.split())
            if not 1 <= size <= _MOST_DIMENSIONS:
                raise ValueError(
                    f"{self.name} must have 1 to {_MOST_DIMENSIONS:,} dimensions, but has {size}."
                )
            for number in range(count):
                word = _until_space(file)
                numbers = file.read(4 * size)
                if len(numbers) < 4 * size or len(word) == _LONGEST_WORD:
                    raise ValueError(
                        f"{self.name} must hold {count} words, but it ends after {number}."
                    )
                yield word.strip(), numbers


def _until_space(file: BinaryIO) -> bytes:
    letters = bytearray()
    while len(letters) < _LONGEST_WORD and (letter := file.read(1)) not in (b" ", b""):
        letters += letter
    return bytes(letters)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with regular_file(path, follow_links=True) as raw:
        if path.suffix != ".gz":
            yield raw
            return
        try:
            with gzip.open(raw) as file:
                yield file  # type: ignore[misc]
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"{path} must be a complete .gz file, but: {error}.") from None


def _is_counts(line: bytes) -> bool:
    fields = line.split()
    return len(fields) == 2 and all(field.isdigit() and len(field) < 20 for field in fields)
