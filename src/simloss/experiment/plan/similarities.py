"""Kinds of similarity by name, each with one parameter, made from what a data set knows."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from ... import _checks, similarity
from ..._imports import imported, names_an_attribute, users_own
from ...data import Dataset
from ...similarity import Similarity, Tree, as_similarity


class Kind(NamedTuple):
    """How a similarity is made from its one parameter.

    Attributes:
        parameter: its name.
        make: (data set, value) -> similarity.
        default: the value when none is given.
        values: what a comparison tries; few, because each one more makes a chance find more likely.
        code: the expression that makes it, with a place for the value; None where it takes more.
    """

    parameter: str
    make: Callable[[Dataset, float], Similarity]
    default: float
    values: tuple[float, ...]
    code: str | None = None


def tree_of(dataset: Dataset) -> Tree:
    """The tree of a data set with superclasses, "plant" or "plant/flower"."""
    tree = dataset.tree
    if tree is None:
        raise ValueError(
            f"`similarity` 'tree' needs superclasses, but {dataset.name} has none; "
            f"use another similarity or a saved one."
        )
    return tree


def positions_of(dataset: Dataset) -> Tensor:
    """The number or day each class stands for, (C)."""
    found = dataset.positions
    if found is None:
        raise ValueError(
            f"`similarity` 'values' needs classes that are numbers or dates, "
            f"but {dataset.name} has {dataset.class_names[0]!r}; use 'order' or another."
        )
    return torch.tensor(found, dtype=torch.float64)


def _values(dataset: Dataset, r: float) -> Similarity:
    """`r` is the similarity of two classes as far apart as neighbours usually are."""
    at = positions_of(dataset)
    gap = float(at.sort().values.diff().median()) if len(at) > 1 else 1.0
    r = _checks.fraction("r", r)
    scale = _checks.positive("r", -gap / torch.tensor(r, dtype=torch.float64).log().item())
    return similarity.values(at.tolist(), scale, names=dataset.class_names)


def _order(dataset: Dataset, r: float) -> Similarity:
    return similarity.order(dataset.num_classes, r, names=dataset.class_names)


def _gaussian(dataset: Dataset, width: float) -> Similarity:
    """A bell of `width` classes: the squared distance of SORD."""
    at = torch.arange(dataset.num_classes, dtype=torch.float64)
    costs = (at - at.unsqueeze(1)).square()
    variance = _checks.positive("width", width) ** 2
    return similarity.cost(costs, 2 * variance, names=dataset.class_names)


def _words(dataset: Dataset, lower_bound: float, missing: str = "error") -> Similarity:
    return similarity.words(dataset.class_names, lower_bound=lower_bound, missing=missing)


def _words_angle(dataset: Dataset, temperature: float, missing: str = "error") -> Similarity:
    return similarity.words(
        dataset.class_names, kernel="angle", temperature=temperature, missing=missing
    )


def _tree(dataset: Dataset, temperature: float) -> Similarity:
    return similarity.tree(tree_of(dataset), temperature=temperature)


SIMILARITIES = {
    # The r that is safest where nothing is known of the data: docs/results.md.
    "order": Kind("r", _order, 0.3, (0.3, 0.5, 0.7, 0.9, 0.95), "order(C, r={:g})"),
    "values": Kind("r", _values, 0.3, (0.3, 0.5, 0.7, 0.9, 0.95)),
    "gaussian": Kind("width", _gaussian, 1.0, (0.5, 1.0, 2.0, 3.0)),
    "words": Kind(
        "lower_bound", _words, 0.6, (0.2, 0.4, 0.6, 0.8), "words(names, lower_bound={:g})"
    ),
    "words-angle": Kind(
        *("temperature", _words_angle, 0.5, (0.25, 0.5, 1.0)),
        'words(names, kernel="angle", temperature={:g})',
    ),
    "tree": Kind("temperature", _tree, 0.5, (0.25, 0.5, 1.0, 2.0), "tree(tree, temperature={:g})"),
}
# The same where a class whose name has no vector is like no other.
WORDS = {"words": "words-alone", "words-angle": "words-angle-alone"}
for _name, _make in (("words", _words), ("words-angle", _words_angle)):
    SIMILARITIES[WORDS[_name]] = SIMILARITIES[_name]._replace(
        make=partial(_make, missing="alone"),
        code=f"{SIMILARITIES[_name].code}".replace("names,", 'names, missing="alone",'),
    )
_POWERS = (0.5, 1.0, 2.0)  # of a similarity that is saved or the user's own


def parameter_of(name: str) -> str:
    """The parameter of a similarity: "r", "temperature"; of a saved one, its power."""
    return SIMILARITIES[name].parameter if name in SIMILARITIES else "power"


def values_of(name: str) -> tuple[float, ...]:
    """What a comparison tries of its parameter."""
    return SIMILARITIES[name].values if name in SIMILARITIES else _POWERS


def similarity_of(name: str, value: float | None, dataset: Dataset) -> Similarity:
    """The similarity called `name`, saved at that path or made by that factory, for the data."""
    if name in SIMILARITIES:
        kind = SIMILARITIES[name]
        return kind.make(dataset, kind.default if value is None else value)
    check_name(name)
    return _their_own(name, value, dataset)


def check_name(name: str) -> None:
    """One sentence if it is no kind of similarity, no file and no factory."""
    if not Path(name).is_file() and not names_an_attribute(name):
        names = [each for each in SIMILARITIES if each not in WORDS.values()]
        known = (*names, "module:factory", "the path of a saved one")
        _checks.choice("similarity", name, known)


def short_name(name: str) -> str:
    """What a table calls a similarity: its name, its factory's, or its file's without the folder.

    Example:
        >>> short_name("order"), short_name("my_module:keyboard"), short_name("/a/b/costs.csv")
        ('order', 'keyboard', 'costs')
    """
    if name in SIMILARITIES:
        return name
    return name.partition(":")[2] if names_an_attribute(name) else Path(name).stem


def _their_own(path: str, power: float | None, dataset: Dataset) -> Similarity:
    """A saved one, or what a user's factory makes of the class names; to the given power."""
    if Path(path).exists():
        loaded = similarity.load(path)
    else:
        make = imported("similarity", users_own("similarity", path))
        loaded = as_similarity(make(dataset.class_names))
    if loaded.num_classes != dataset.num_classes:
        raise ValueError(
            f"the similarity in {path} must have the data's {dataset.num_classes} classes, "
            f"but it has {loaded.num_classes}."
        )
    if loaded.names is not None and loaded.names != dataset.class_names:
        names = dataset.class_names
        order = _checks.permutation("classes", names, loaded.names, f"names in {path}")
        loaded = similarity.restricted(loaded, order)
    return loaded if power is None else similarity.sharpened(loaded, power)
