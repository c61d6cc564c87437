"""Classes with names: the similarity of the words."""

import re
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .embedding import embedding
from .matrix import matrix
from .plural import singulars
from .shipped_vectors import Vector
from .word_vectors import VectorSource, vector_source

_BETWEEN_WORDS = re.compile(r"[\s_\-/]+")


MISSING = ("error", "drop", "alone")


def words(
    names: Sequence[str],
    lower_bound: float = 0.0,
    kernel: str = "cosine",
    vectors: str | PathLike[str] | Callable[[list[str]], Any] | Any = None,
    missing: str = "error",
    *,
    temperature: float = 1.0,
) -> Similarity:
    r"""Similarity of class names by what the words mean.

    .. math:: S_{ij} = \frac{\max(0, \mathrm{sim}_{ij} - l)}{1 - l}

    as :func:`embedding` of one vector per name. By default the vectors come with the package: GloVe
    in 100 dimensions, 60,002 English words, whose cosines are off by less than 0.01.

    The vector of a name with several words ("maple_tree") is their mean. A plural without a
    vector gets that of its singular.

    Args:
        names: class names; words are separated by space, "_", "-" or "/".
        lower_bound: l in [0, 1); similarities below it become 0.
        kernel: "cosine", or "angle", which usually keeps the proper loss proper
            (:func:`diagnose` tells).
        vectors: other vectors: a text file of word2vec, GloVe or fastText, or word2vec's .bin,
            each plain or .gz; a gensim `KeyedVectors` or a dict; or a function from a list of names
            to an array (C, D), such as the `encode` of a sentence-transformers model.
        missing: "error" refuses a name without a vector; "alone" makes its class like no other;
            "drop" drops its class, as the paper does, and `S.kept` says which indices of `names`
            are left.
        temperature: of the angle kernel.

    Example:
        >>> S = words(["tulip", "violet", "truck", "pickup_truck"], lower_bound=0.3)
        >>> S.names
        ('tulip', 'violet', 'truck', 'pickup_truck')
        >>> S.to_dense()
        tensor([[1.0000, 0.1561, 0.0000, 0.0000],
                [0.1561, 1.0000, 0.0000, 0.0000],
                [0.0000, 0.0000, 1.0000, 0.9129],
                [0.0000, 0.0000, 0.9129, 1.0000]])
    """
    names = _checks.class_names(names, len(names)) or ()
    _checks.choice("missing", missing, MISSING)
    _checks.not_empty("names", names)
    is_source = hasattr(vectors, "key_to_index") or isinstance(vectors, dict)
    notes: list[str] = []
    if callable(vectors) and not is_source:
        found = dict(enumerate(_called(vectors, names)))
    else:
        found, notes = _looked_up(names, vector_source(vectors), missing)
    kept = tuple(found)
    similarity = embedding(
        np.stack([*found.values()]),
        lower_bound,
        kernel,
        [names[i] for i in kept],
        temperature=temperature,
    )
    if missing == "alone" and len(kept) < len(names):
        similarity = _among_others(similarity, kept, names)
        kept = tuple(range(len(names)))
    similarity.kept, similarity.notes = kept, tuple(notes)
    return similarity


def _among_others(known: Similarity, kept: tuple[int, ...], names: tuple[str, ...]) -> Similarity:
    """The similarity of some classes, and of all others to themselves alone."""
    dense = torch.eye(len(names))
    places = torch.tensor(kept)
    dense[places.unsqueeze(1), places] = known.to_dense(dense.dtype)
    return matrix(dense, names=names)


def _called(function: Callable[[list[str]], Any], names: tuple[str, ...]) -> Any:
    array = function([*names])
    array = array.detach().cpu().numpy() if isinstance(array, Tensor) else np.asarray(array)
    if array.ndim != 2 or len(array) != len(names):
        raise ValueError(
            f"`vectors` must return shape (C, D), one vector for each of the {len(names)} names, "
            f"but returned shape {array.shape}."
        )
    return array


def _looked_up(
    names: tuple[str, ...], source: VectorSource, missing: str
) -> tuple[dict[int, Vector], list[str]]:
    """The vectors by index in `names`, and notes on what was decided."""
    forms = {form for name in names for form in _all_forms(name)}
    known = source.lookup(forms)
    found: dict[int, Vector] = {}
    notes, dropped = [], []
    for place, name in enumerate(names):
        taken = _taken(name, known)
        if isinstance(taken, str):
            dropped.append((name, taken))
            continue
        found[place] = np.mean([known[form] for form in taken], axis=0)
        if len(taken) > 1 or taken[0] not in _whole_forms(name):
            notes.append(f"{name!r} is read as {' and '.join(map(repr, taken))}")
    if dropped and missing == "error":
        raise ValueError(_no_vector(dropped, source))
    if not found:
        raise ValueError(f"`names` must have vectors in {source.name}, but none has one.")
    what = "is dropped" if missing == "drop" else "is like no other class"
    notes += [f"{name!r} {what}: {word!r} has no vector" for name, word in dropped]
    return found, notes


def _all_forms(name: str) -> Iterator[str]:
    yield from _whole_forms(name)
    for word in _parts(name):
        yield from _word_forms(word)


def _parts(name: str) -> list[str]:
    return [word for word in _BETWEEN_WORDS.split(name) if word] or [name]


def _whole_forms(name: str) -> Iterator[str]:
    for form in (name, _BETWEEN_WORDS.sub("_", name), _BETWEEN_WORDS.sub("-", name)):
        yield form
        yield form.lower()


def _word_forms(word: str) -> Iterator[str]:
    """The word, then its possible singulars."""
    yield word
    small = word.lower()
    yield small
    yield from singulars(small)


def _taken(name: str, known: dict[str, Vector]) -> list[str] | str:
    """The words whose vectors make up the name's; or the one word without a vector."""
    whole = next((form for form in _whole_forms(name) if form in known), None)
    if whole is not None:
        return [whole]
    taken = []
    for word in _parts(name):
        form = next((form for form in _word_forms(word) if form in known), None)
        if form is None:
            return word
        taken.append(form)
    return taken


def _no_vector(dropped: list[tuple[str, str]], source: VectorSource) -> str:
    name, word = dropped[0]
    which = repr(name) if name == word else f"{word!r} in {name!r}"
    more = len(dropped) - 1
    others = f", nor {'have' if more > 1 else 'has'} {more} more" if more else ""
    remedy = _checks.nearest_spelling(word, source.vocabulary())
    return (
        f"`names` must have vectors in {source.name}, but {which} has none{remedy}{others}; "
        f"rename the class with words that have one, or let it be like no other: --missing alone "
        f"(in Python, missing='alone')."
    )
