"""The similarity and decision that a user names, for the classes of a training set."""

import math
from collections.abc import Sequence
from typing import Any

from .. import _checks, similarity
from ..decision.costs import WORDS
from ..similarity import Similarity, Tree
from .class_order import LabelOrder

SIMILARITIES = ("order", "values", "words")


def similarity_of(
    choice: Any, order: LabelOrder, *, r: float, lower_bound: float, temperature: float
) -> Similarity:
    """The similarity of the classes that have examples, in class order."""
    if isinstance(choice, str):
        whole = _by_word(choice, order, r, lower_bound)
    elif isinstance(choice, Tree):
        whole = similarity.tree(choice, temperature)
    else:
        whole = similarity.as_similarity(choice)
    return _restricted(whole, _places("similarity", whole.names, whole.num_classes, order))


def _by_word(choice: str, order: LabelOrder, r: float, lower_bound: float) -> Similarity:
    _checks.choice("similarity", choice, SIMILARITIES)
    if choice == "words":
        return similarity.words(order.names, lower_bound)
    count = len(order.labels)
    if choice == "order" or _checks.fraction("r", r) == 0:
        return similarity.order(count, r)
    return similarity.values(order.numbers, -1 / math.log(r))  # r^|a - b|


def cost_of(
    choice: Any, order: LabelOrder, *, by_value: bool = False, name: str = "decision"
) -> tuple[Any, Any]:
    """The cost and the positions that :func:`simloss.decide` uses for the answers.

    Args:
        choice: the cost the user passed.
        order: the classes.
        by_value: whether distances are those of the labels as numbers.
        name: the name of the argument, for errors.
    """
    if isinstance(choice, str):
        if WORDS[_checks.choice(name, choice, tuple(WORDS))] == "zero-one":
            return choice, None
        positions = order.numbers if by_value else list(map(float, range(len(order.labels))))
        return choice, [positions[at] for at in order.kept]
    if isinstance(choice, Similarity):
        at = _places(name, choice.names, choice.num_classes, order)
        return _restricted(choice, at), None
    if isinstance(choice, Tree):
        at = _places(name, choice.class_names, choice.num_classes, order)
        return choice.cost()[at][:, at], None
    matrix = _checks.float_tensor(name, choice)
    _checks.square(name, matrix)
    labels = _checks.labels_of_both_sides(name, choice)
    at = _places(name, labels, len(matrix), order)
    _checks.not_a_similarity(name, matrix)
    return matrix[at][:, at], None


def _places(name: str, names: Sequence[str] | None, count: int, order: LabelOrder) -> list[int]:
    """The indices of the classes with examples: by name, or consecutive without names."""
    if names is None:
        _checks.class_counts_agree(name, count, "class_order", len(order.labels))
        return list(order.kept)
    place = {each: at for at, each in enumerate(names)}
    wanted = [order.names[at] for at in order.kept]
    for each in wanted:
        if each not in place:
            remedy = _checks.nearest_spelling(each, names)
            raise ValueError(f"`{name}` must contain every class, but {each!r} is missing{remedy}.")
    return [place[each] for each in wanted]


def _restricted(whole: Similarity, places: list[int]) -> Similarity:
    """The similarity of these classes; the object itself, with its structure, if they are all."""
    if places == list(range(whole.num_classes)):
        return whole
    return similarity.restricted(whole, places)
