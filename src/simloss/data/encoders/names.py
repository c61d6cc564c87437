"""The similarity of class names, or of descriptions, by a text encoder."""

import csv
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ... import _checks
from ..._disk import bytes_of, own_folder
from ...similarity import Similarity, words
from ..errors import DataError
from ..image_cache import cache_folder
from ..images import Cache
from .encode import Tell
from .texts import encoded_texts

# Its powers 2, 1 and 1/2 are then the temperatures tried for the shipped word vectors.
_TEMPERATURE = 0.5
_MOST_BYTES = 2**26


def similarity_of_names(
    names: Sequence[str],
    encoder: str,
    descriptions: Mapping[str, str] | None = None,
    *,
    cache: Cache = None,
    tell: Tell | None = None,
) -> Similarity:
    """The similarity by the angles between the encoded names or descriptions of the classes.

    The name of a class may be any word, or several; "_" counts as a space.

    Example:
        >>> S = similarity_of_names(["Pullover", "Shirt"], "hf:MiniLM")  # doctest: +SKIP
    """
    texts = [(descriptions or {}).get(name, name.replace("_", " ")) for name in names]
    vectors = encoded_texts(texts, encoder, cache=cache, tell=tell)
    return words(names, 0.0, "angle", lambda _: vectors, temperature=_TEMPERATURE)


def kept_similarity(similarity: Similarity) -> Path:
    """The file that stores a similarity of names, for every process that trains with it."""
    content = repr(similarity.names).encode() + similarity.to_dense().numpy().tobytes()
    key = hashlib.sha256(content).hexdigest()[:24]
    path = own_folder(cache_folder() / f"names-{key}") / "names.npz"
    if not path.exists():
        similarity.save(path)
    return path


def descriptions_in(path: Path, names: Sequence[str]) -> dict[str, str]:
    """The descriptions in a CSV file: a class and its description in each line."""
    try:
        text = bytes_of(path, _MOST_BYTES, follow_links=True).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"'{path}' must be UTF-8 text, but it is not.") from None
    found: dict[str, str] = {}
    for number, line in enumerate(csv.reader(text.splitlines()), 1):
        if len(line) != 2:
            raise DataError(
                f"'{path}' must have a class and its description in each line, "
                f"but line {number} has {len(line)} cells."
            )
        found[line[0].strip()] = line[1].strip()
    for name in names:
        if not found.get(name):
            remedy = _checks.nearest_spelling(name, found)
            raise DataError(f"'{path}' must describe each class, but not {name!r}{remedy}.")
    return {name: found[name] for name in names}
