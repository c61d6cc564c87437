"""How far down a tree answer and truth agree. Both may be any nodes."""

from typing import Any

import torch
from torch import Tensor

from ..decision.costs import wide
from ..similarity.ancestors import common_ancestors
from .registry import metric, total_and_count
from .tree import judged_and_truth, nodes_and_truth


def _overlap(answers: Any, truth: Any, tree: Any, root_counts: int) -> Tensor:
    """The nodes that the paths from the root share, over their mean number, (M)."""
    a, y, known = judged_and_truth(answers, truth, tree)
    lengths = torch.tensor(known.depths, device=a.device).to(wide(a)) + root_counts  # (V)
    shared = 2 * lengths[common_ancestors(known, a, y)]
    both = lengths[a] + lengths[y]
    return torch.where(both > 0, shared / both.clamp(min=1), 1.0)  # two empty sets are equal


@metric(
    "hF1",
    formula="mean of 2 × steps both share / (steps to the answer + steps to the truth)",
    higher_is_better=True,
    needs={"tree"},
    percent=True,
)
def hierarchical_f1(answers: Any, truth: Any, tree: Any) -> Tensor:
    r"""Hierarchical F1, the mean over examples.

    .. math:: \frac1N \sum_n \frac{2\, d(\mathrm{lca}(a_n, y_n))}{d(a_n) + d(y_n)}

    d is the number of steps from the root. It is the F1 of two sets: the answer and its ancestors,
    the truth and its ancestors, both without the root. An answer that stops early loses recall;
    one that goes wrong early loses both. :func:`simloss.decide_node` with measure="f1" gives the
    answers with the highest expected score.

    Args:
        answers: classes or nodes, any shape.
        truth: classes or nodes of the same shape.
        tree: a :class:`simloss.Tree`, or the superclass of each class, (C), by name or number.

    Example:
        >>> import simloss
        >>> tree = simloss.Tree.from_paths(["bird/robin", "bird/crow", "fish/cod"])
        >>> [simloss.metrics.hierarchical_f1([answer], [0], tree) for answer in (0, 1, 3, 2)]
        [1.0, 0.5, 0.66..., 0.0]

    Reference:
        S. Kiritchenko et al., Learning and Evaluation in the Presence of Class Hierarchies, 2006.
    """
    return total_and_count(_overlap(answers, truth, tree, 0))


@metric(
    "Wu-Palmer",
    formula="mean of 2 × nodes both share / (nodes down to the answer + nodes down to the truth)",
    higher_is_better=True,
    needs={"tree"},
    percent=True,
)
def wu_palmer(answers: Any, truth: Any, tree: Any) -> Tensor:
    r"""The similarity of Wu and Palmer between answer and truth, the mean over examples.

    .. math:: \frac1N \sum_n \frac{2\, (d(\mathrm{lca}(a_n, y_n)) + 1)}{d(a_n) + d(y_n) + 2}

    As :func:`hierarchical_f1` with the root counted, so any two nodes have something in common.

    Args: as :func:`hierarchical_f1`.

    Example:
        >>> import simloss
        >>> tree = simloss.Tree.from_paths(["bird/robin", "bird/crow", "fish/cod"])
        >>> [simloss.metrics.wu_palmer([answer], [0], tree) for answer in (0, 1, 3, 2)]
        [1.0, 0.66..., 0.8, 0.33...]

    Reference:
        Z. Wu and M. Palmer, Verb semantics and lexical selection, ACL 1994.
    """
    return total_and_count(_overlap(answers, truth, tree, 1))


@metric(
    "Node accuracy",
    formula="share of answers that are the truth, an ancestor of it or a descendant of it",
    higher_is_better=True,
    needs={"tree"},
    percent=True,
    companions=("hierarchical_f1",),
)
def node_accuracy(answers: Any, truth: Any, tree: Any) -> Tensor:
    r"""The share of answers that do not contradict the truth.

    The two are equal, or one is an ancestor of the other: "bird" is right for a robin, if vague,
    and if all that is known is "bird", nothing says that "robin" is wrong. For classes it is
    accuracy. **The root is always right**: read it beside :func:`hierarchical_f1`, which
    :func:`simloss.metrics.evaluate` always adds.

    Args: as :func:`hierarchical_f1`.

    Example:
        >>> import simloss
        >>> tree = simloss.Tree.from_paths(["bird/robin", "bird/crow", "fish/cod"])
        >>> simloss.metrics.node_accuracy([0, 3, 0, 2], [0, 0, 3, 3], tree)
        0.75
    """
    a, y, known = nodes_and_truth(answers, truth, tree)
    common = common_ancestors(known, a, y)
    return total_and_count((common == a) | (common == y))
