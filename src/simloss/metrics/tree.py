"""Classes in a tree: how far up one must go until answer and truth meet."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..similarity import Tree
from .registry import answers_and_truth, metric, total_and_count

# What a number about the errors alone cannot be read without.
_BESIDE_ERRORS = ("accuracy", "mean_height")


def _superclasses(tree: Any, level: int) -> Tensor:
    """The superclass of each class as a number, (C)."""
    if isinstance(tree, Tree):
        return tree.superclass(level)
    if level != 1:
        raise ValueError(
            f"`level` must be 1 for a list of superclasses, which has no other, "
            f"but got {level!r}; a simloss.Tree has more."
        )
    names = _names(tree)
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return torch.tensor([numbers[name] for name in names])


def _names(superclasses: Any) -> list[Any]:
    if isinstance(superclasses, Tensor):
        superclasses = superclasses.tolist()
    if isinstance(superclasses, str) or not hasattr(superclasses, "__len__"):
        raise TypeError(
            f"`tree` must be a simloss.Tree or the superclass of each class, "
            f"but got {type(superclasses).__name__}."
        )
    names = list(superclasses)
    for name in names:
        if hasattr(name, "__len__") and not isinstance(name, (str, bytes)):
            raise TypeError(
                f"`tree` must be the superclass of each class, (C), one name or number each, "
                f"but got {name!r} for one; a deeper tree is a simloss.Tree."
            )
    return names


def common_heights(answers: Tensor, truth: Tensor, tree: Tree | Sequence[Any]) -> Tensor:
    """The height of the lowest common ancestor of each answer and its truth, (M).

    Equal to ``tree.cost()[truth, answers]`` without the (C, C) matrix: level by level from the
    root down, as long as the two still agree.
    """
    if not isinstance(tree, Tree):
        names = [str(name) for name in _names(tree)]
        tree = Tree.from_superclasses([str(i) for i in range(len(names))], names)
    for name, indices in (("answers", answers), ("truth", truth)):
        _checks.class_indices(name, indices, tree.num_classes)
    height_of = torch.tensor(tree.heights, device=answers.device)  # (V)
    heights = torch.full_like(answers, tree.heights[tree.root])
    for level in range(1, tree.heights[tree.root] + 1):
        ancestors = tree.superclass(level).to(answers.device)  # (C)
        above = ancestors[truth]
        heights = torch.where(ancestors[answers] == above, height_of[above], heights)
    return torch.where(answers == truth, 0, heights)


@metric(
    "SA",
    formula="share of answers in the superclass of the truth",
    higher_is_better=True,
    needs={"tree"},
    percent=True,
)
def superclass_accuracy(answers: Any, truth: Any, tree: Any, *, level: int = 1) -> Tensor:
    r"""The share of answers in the right superclass, :math:`\frac1N \sum_n [s(a_n) = s(y_n)]`.

    The paper's SA. Never below accuracy.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        tree: a :class:`simloss.Tree`, or the superclass of each class, (C), by name or number.
        level: which ancestors of a :class:`simloss.Tree` are the superclasses, in steps below the
            root.

    Example:
        >>> from simloss import metrics
        >>> superclasses = ["flower", "flower", "fish"]  # rose, tulip, cod
        >>> metrics.superclass_accuracy([0, 1, 1], [0, 0, 2], superclasses)
        0.66...
    """
    above = _superclasses(tree, level)
    a, y = answers_and_truth(answers, truth, len(above))
    above = above.to(a.device)
    return total_and_count(above[a] == above[y])


def _of_errors(sums: Tensor, without_errors: float) -> Tensor:
    return torch.where(sums[1] > 0, sums[0] / sums[1].clamp(min=1), without_errors)


def _one_without_errors(sums: Tensor) -> Tensor:
    return _of_errors(sums, 1.0)


def _zero_without_errors(sums: Tensor) -> Tensor:
    return _of_errors(sums, 0.0)


@metric(
    "FSA",
    formula="share of wrong answers that are in the superclass of the truth",
    higher_is_better=True,
    needs={"tree"},
    percent=True,
    companions=_BESIDE_ERRORS,
    finish=_one_without_errors,
)
def failed_superclass_accuracy(answers: Any, truth: Any, tree: Any, *, level: int = 1) -> Tensor:
    r"""Of the wrong answers, the share in the right superclass.

    .. math:: \frac{\sum_n [a_n \ne y_n]\,[s(a_n) = s(y_n)]}{\sum_n [a_n \ne y_n]}

    The paper's FSA. 1 where there is no error at all. **It rises when more examples are answered
    wrong but nearly right**: read it beside accuracy and the mean height over all examples, which
    :func:`simloss.metrics.evaluate` always adds.

    Args: as :func:`superclass_accuracy`.

    Example:
        >>> from simloss import metrics
        >>> superclasses = ["flower", "flower", "fish"]  # rose, tulip, cod
        >>> metrics.failed_superclass_accuracy([0, 1, 1], [0, 0, 2], superclasses)
        0.5
    """
    above = _superclasses(tree, level)
    a, y = answers_and_truth(answers, truth, len(above))
    above = above.to(a.device)
    return total_and_count((above[a] == above[y])[a != y])


@metric(
    "Height",
    formula="mean over all examples of the height of the lowest common ancestor (0 where right)",
    higher_is_better=False,
    needs={"tree"},
)
def mean_height(answers: Any, truth: Any, tree: Any) -> Tensor:
    r"""How far up the tree answer and truth meet, over all examples.

    .. math:: \frac1N \sum_n h(\mathrm{lca}(a_n, y_n))

    h is the height of a node, 0 for a class: a right answer counts 0, a wrong one in the right
    lowest group 1, and so on.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        tree: a :class:`simloss.Tree`, or the superclass of each class, (C), by name or number.

    Example:
        >>> from simloss import metrics
        >>> metrics.mean_height([0, 1, 1], [0, 0, 2], ["flower", "flower", "fish"])
        1.0
    """
    a, y = answers_and_truth(answers, truth)
    return total_and_count(common_heights(a, y, tree))


@metric(
    "Severity",
    formula="mean over the wrong answers of the height of the lowest common ancestor",
    higher_is_better=False,
    needs={"tree"},
    companions=_BESIDE_ERRORS,
    finish=_zero_without_errors,
)
def severity(answers: Any, truth: Any, tree: Any) -> Tensor:
    r"""How far up the tree answer and truth meet, over the wrong answers alone.

    .. math:: \frac{\sum_n [a_n \ne y_n]\, h(\mathrm{lca}(a_n, y_n))}{\sum_n [a_n \ne y_n]}

    0 where there is no error at all. **It falls when easy examples are answered wrong**: read it
    beside accuracy and :func:`mean_height`, which :func:`simloss.metrics.evaluate` always adds.

    Args: as :func:`mean_height`.

    Example:
        >>> from simloss import metrics
        >>> metrics.severity([0, 1, 1], [0, 0, 2], ["flower", "flower", "fish"])
        1.5
    """
    a, y = answers_and_truth(answers, truth)
    return total_and_count(common_heights(a, y, tree)[a != y])
