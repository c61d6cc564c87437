"""Metrics of classes in a tree: how far up answer and truth meet.

Answers and truths are classes or, with a :class:`simloss.Tree`, any nodes: an answer that stops
at the parent (:func:`simloss.decide_node`), or a truth known only as "some bird". An answer below
the truth counts as right, because nothing says that it is wrong.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..similarity import Tree
from ..similarity.ancestors import at_level, common_ancestors
from .registry import answers_and_truth, metric, total_and_count

# Always shown with a metric of the errors alone.
_BESIDE_ERRORS = ("accuracy", "mean_height")


def as_tree(tree: Any) -> Tree:
    """The tree itself, or that of the superclass of each class, by name or number."""
    if isinstance(tree, Tree):
        return tree
    if isinstance(tree, Tensor):
        tree = tree.tolist()
    if isinstance(tree, str) or not hasattr(tree, "__len__"):
        raise TypeError(
            f"`tree` must be a simloss.Tree or the superclass of each class, "
            f"but got {type(tree).__name__}."
        )
    names = list(tree)
    for name in names:
        if hasattr(name, "__len__") and not isinstance(name, (str, bytes)):
            raise TypeError(
                f"`tree` must be the superclass of each class, (C), one name or number each, "
                f"but got {name!r} for one; for a deeper tree, pass a simloss.Tree."
            )
    return Tree.from_superclasses([str(i) for i in range(len(names))], [str(n) for n in names])


def nodes_and_truth(answers: Any, truth: Any, tree: Any) -> tuple[Tensor, Tensor, Tree]:
    """Both as flat nodes on one device, (M); without a :class:`simloss.Tree`, classes only."""
    known = as_tree(tree)
    count = len(known.parents) if isinstance(tree, Tree) else known.num_classes
    return *answers_and_truth(answers, truth, count), known


def judged_and_truth(answers: Any, truth: Any, tree: Any) -> tuple[Tensor, Tensor, Tree]:
    """Both as flat nodes, the answers no more specific than the truth.

    If the truth is an inner node, an answer below it counts as that node.
    """
    a, y, known = nodes_and_truth(answers, truth, tree)
    return torch.where(common_ancestors(known, a, y) == y, y, a), y, known


def common_heights(answers: Tensor, truth: Tensor, tree: Any) -> Tensor:
    """How far above the truth it meets each answer, (M).

    For classes this equals ``tree.cost()[truth, answers]``, without the (C, C) matrix.
    """
    a, y, known = judged_and_truth(answers, truth, tree)
    heights = torch.tensor(known.heights, device=a.device)  # (V)
    return heights[common_ancestors(known, a, y)] - heights[y]


def _same_superclass(answers: Any, truth: Any, tree: Any, level: int) -> tuple[Tensor, Tensor]:
    """Whether each answer is in the superclass of the truth, and whether it is wrong, (M) each."""
    if level != 1 and not isinstance(tree, Tree):
        raise ValueError(
            f"`level` must be 1 for a list of superclasses, which has one level, "
            f"but got {level!r}; for more levels, pass a simloss.Tree."
        )
    a, y, known = judged_and_truth(answers, truth, tree)
    _checks.index("level", level, known.heights[known.root] + 1)
    above = at_level(known, level).to(a.device)  # (V)
    return above[a] == above[y], a != y


@metric(
    "SA",
    formula="share of answers in the superclass of the truth",
    higher_is_better=True,
    needs={"tree"},
    percent=True,
)
def superclass_accuracy(answers: Any, truth: Any, tree: Any, *, level: int = 1) -> Tensor:
    r"""The share of answers in the right superclass, :math:`\frac1N \sum_n [s(a_n) = s(y_n)]`.

    The paper's SA. It is never below accuracy.

    Args:
        answers: classes or nodes, any shape.
        truth: classes or nodes of the same shape.
        tree: a :class:`simloss.Tree`, or the superclass of each class, (C), by name or number.
        level: the level of a :class:`simloss.Tree` that holds the superclasses, in steps below
            the root.

    Example:
        >>> from simloss import metrics
        >>> superclasses = ["flower", "flower", "fish"]  # rose, tulip, cod
        >>> metrics.superclass_accuracy([0, 1, 1], [0, 0, 2], superclasses)
        0.66...
    """
    is_same, _ = _same_superclass(answers, truth, tree, level)
    return total_and_count(is_same)


def _of_errors(sums: Tensor, without_errors: float) -> Tensor:
    return torch.where(sums[1] > 0, sums[0] / sums[1].clamp(min=1), without_errors)


@metric(
    "FSA",
    formula="share of wrong answers that are in the superclass of the truth",
    higher_is_better=True,
    needs={"tree"},
    percent=True,
    companions=_BESIDE_ERRORS,
    finish=partial(_of_errors, without_errors=1.0),
)
def failed_superclass_accuracy(answers: Any, truth: Any, tree: Any, *, level: int = 1) -> Tensor:
    r"""The share of the wrong answers that are in the right superclass.

    .. math:: \frac{\sum_n [a_n \ne y_n]\,[s(a_n) = s(y_n)]}{\sum_n [a_n \ne y_n]}

    The paper's FSA. It is 1 if there are no errors. **It rises when more examples are answered
    wrong but nearly right**: read it beside accuracy and the mean height over all examples, which
    :func:`simloss.metrics.evaluate` always adds.

    Args: as :func:`superclass_accuracy`.

    Example:
        >>> from simloss import metrics
        >>> superclasses = ["flower", "flower", "fish"]  # rose, tulip, cod
        >>> metrics.failed_superclass_accuracy([0, 1, 1], [0, 0, 2], superclasses)
        0.5
    """
    is_same, is_wrong = _same_superclass(answers, truth, tree, level)
    return total_and_count(is_same[is_wrong])


@metric(
    "Height",
    formula="mean over all examples of the height of the lowest common ancestor (0 if right)",
    higher_is_better=False,
    needs={"tree"},
)
def mean_height(answers: Any, truth: Any, tree: Any) -> Tensor:
    r"""How far up the tree answer and truth meet, over all examples.

    .. math:: \frac1N \sum_n h(\mathrm{lca}(a_n, y_n))

    h is the height of a node, 0 for a class: a right answer counts 0, a wrong one in the right
    lowest group 1, and so on. If the truth is an inner node, :math:`h(y_n)` is subtracted, and
    an answer below it counts 0.

    Args:
        answers: classes or nodes, any shape.
        truth: classes or nodes of the same shape.
        tree: a :class:`simloss.Tree`, or the superclass of each class, (C), by name or number.

    Example:
        >>> from simloss import metrics
        >>> metrics.mean_height([0, 1, 1], [0, 0, 2], ["flower", "flower", "fish"])
        1.0
    """
    return total_and_count(common_heights(answers, truth, tree))


@metric(
    "Severity",
    formula="mean over the wrong answers of the height of the lowest common ancestor",
    higher_is_better=False,
    needs={"tree"},
    companions=_BESIDE_ERRORS,
    finish=partial(_of_errors, without_errors=0.0),
)
def severity(answers: Any, truth: Any, tree: Any) -> Tensor:
    r"""How far up the tree answer and truth meet, over the wrong answers alone.

    .. math:: \frac{\sum_n [a_n \ne y_n]\, h(\mathrm{lca}(a_n, y_n))}{\sum_n [a_n \ne y_n]}

    It is 0 if there are no errors. **It falls when easy examples are answered wrong**: read it
    beside accuracy and :func:`mean_height`, which :func:`simloss.metrics.evaluate` always adds.

    Args: as :func:`mean_height`.

    Example:
        >>> from simloss import metrics
        >>> metrics.severity([0, 1, 1], [0, 0, 2], ["flower", "flower", "fish"])
        1.5
    """
    heights = common_heights(answers, truth, tree)
    return total_and_count(heights[heights > 0])
