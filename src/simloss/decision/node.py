"""An answer at any level of a tree: as specific as it pays to be."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..similarity import Tree
from .answer import in_blocks, in_kind_of, rounding_of
from .costs import TreeCost, first_lowest, wide
from .nested import Nodes
from .passes import TreePasses

MEASURES = ("height", "f1", "wu-palmer")
_PRICE = 0.5


def decide_node(
    probabilities: Any,
    tree: Tree,
    *,
    measure: str = "height",
    price: float | None = None,
    leaves: bool = False,
    threshold: float | None = None,
) -> Any:
    r"""The node of a tree with the lowest expected cost: it stops early if deeper is a gamble.

    .. math:: \hat v = \operatorname*{argmin}_v \sum_k p_k\, D_{kv}

    where a is the lowest common ancestor of the truth k and the answer v and, by `measure`,

    - "height": :math:`D_{kv} = \underbrace{h(a) - h(v)}_{\text{wrong}}
      + \mathrm{price} \cdot \underbrace{h(v)}_{\text{vague}}`, h the height of a node, 0 for a
      class. Climbing from the answer until the truth is below costs 1 per level, and 0 if v is
      right; an answer above the classes costs `price` per level, right or wrong. With two levels
      this means: answer the class if its parent is trusted and the class has more than
      ``1 - price`` of the probability, else the parent. At `price` 1 it is h(a), which
      :func:`simloss.metrics.mean_height` measures.
    - "f1": 1 minus the hierarchical F1, :math:`\frac{2 d_a}{d_v + d_k}`, d the steps from the root
      (:func:`simloss.metrics.hierarchical_f1`).
    - "wu-palmer": 1 minus :math:`\frac{2 (d_a + 1)}{d_v + d_k + 2}`, Wu and Palmer's similarity
      (:func:`simloss.metrics.wu_palmer`).

    Of nodes with equal expected costs the least specific is answered; of classes, the first.

    Args:
        probabilities: those of the classes, (..., C), as for :func:`simloss.decide`.
        tree: a :class:`simloss.Tree` of the C classes.
        measure: "height", "f1" or "wu-palmer".
        price: for "height", in [0, 1], by default 0.5. The lower, the sooner it stops: 0 always
            answers the root, and at 1 no inner node is cheaper than every class below it.
        leaves: whether only classes may be answered.
        threshold: in [0, 1]. Replaces the above: climb from the most probable class to the first
            node with more probability than this, at 1 to the root. With a threshold from
            :func:`simloss.promise_threshold`, the truth is below the answer as often as
            promised.

    Returns:
        Nodes, (...): those below C are classes, ``tree.names`` has the names of all. A tensor if
        `probabilities` is one, else an array.

    Example:
        >>> import torch, simloss
        >>> tree = simloss.Tree.from_paths(["bird/robin", "bird/crow", "fish/cod"])
        >>> p = torch.tensor([[0.9, 0.1, 0.0], [0.5, 0.4, 0.1], [0.3, 0.2, 0.5]])
        >>> [tree.names[node] for node in simloss.decide_node(p, tree)]
        ['robin', 'bird', 'root']
        >>> [tree.names[node] for node in simloss.decide_node(p, tree, price=0.9)]
        ['robin', 'robin', 'cod']
        >>> [tree.names[node] for node in simloss.decide_node(p, tree, measure="f1")]
        ['robin', 'robin', 'cod']

    References:
        J. Deng et al., Hedging Your Bets: Optimizing Accuracy-Specificity Trade-offs in Large Scale
        Visual Recognition, CVPR 2012. R. Plaud et al., To Each Metric Its Decoding: Post-Hoc
        Optimal Decision Rules of Probabilistic Hierarchical Classifiers, ICML 2025.
    """
    p = _checks.probabilities(probabilities)
    require_tree(tree, p.shape[-1])
    if threshold is not None:
        _only_threshold(measure, price, leaves)
        limit, climbing = _checks.share("threshold", threshold), Nodes(tree, p.device)
        climbed = in_blocks(lambda b: climbing.answers(b, limit), p, entries=len(tree.parents))
        return in_kind_of(probabilities, climbed)
    costs_of = _costs(tree, measure, price, p)
    rounding = rounding_of(probabilities)
    own = 4 * torch.finfo(wide(p)).eps * (tree.heights[tree.root] + 1)  # sums of differences

    def nodes(block: Tensor) -> Tensor:
        costs = costs_of(block)
        costs = costs[:, : tree.num_classes] if leaves else costs
        slack = rounding * costs.amin(-1, keepdim=True) + own
        if leaves:
            return first_lowest(costs, slack)
        # Parents have higher numbers than their children, so the last of equals is least specific.
        return costs.shape[-1] - 1 - first_lowest(costs.flip(-1), slack)

    return in_kind_of(probabilities, in_blocks(nodes, p, entries=len(tree.parents)))


def _only_threshold(measure: str, price: float | None, leaves: bool) -> None:
    if measure != "height" or price is not None or leaves:
        raise ValueError(
            "`threshold` must be used alone, but got `measure`, `price` or `leaves` as well: "
            "they are for answers of lowest expected cost."
        )


def require_tree(tree: Any, num_classes: int) -> None:
    """A tree with this many classes."""
    if not isinstance(tree, Tree):
        raise TypeError(f"`tree` must be a simloss.Tree, but got {type(tree).__name__}.")
    _checks.class_counts_agree("tree", tree.num_classes, "probabilities", num_classes)


def _costs(
    tree: Tree, measure: str, price: float | None, like: Tensor
) -> Callable[[Tensor], Tensor]:
    """A function from probabilities (M, C) to the expected cost of every node, (M, V)."""
    _checks.choice("measure", measure, MEASURES)
    if measure == "height":
        share = _checks.share("price", _PRICE if price is None else price)
        cost = TreeCost(tree, like.device, wide(like))
        discount = (1 - share) * cost.heights  # (V)
        return lambda p: cost.of_nodes(p) - discount * p.sum(-1, keepdim=True)
    if price is not None:
        raise ValueError(f"`price` must be used with the measure 'height', but got {measure!r}.")
    overlap = _Overlap(tree, 1 if measure == "wu-palmer" else 0, like)
    return lambda p: p.sum(-1, keepdim=True) - overlap.of_nodes(p)


class _Overlap:
    r"""The overlap of two nodes' paths from the root, :math:`2 (d_a + o) / (d_v + d_k + 2o)`.

    :math:`d_a + o` counts the nodes on both paths, the root as o. So for classes of equal depth,
    one pass up sums the probability below each node, and one pass down adds up what
    lies below each node of a path.
    """

    def __init__(self, tree: Tree, root_counts: int, like: Tensor) -> None:
        self.passes = TreePasses(tree, like.device)
        self.root_counts = root_counts
        self.depths = torch.tensor(tree.depths, device=like.device, dtype=wide(like))  # (V)

    def of_nodes(self, p: Tensor) -> Tensor:
        """The expected overlap of the truth and each node, (M, V)."""
        own = self.depths[: p.shape[-1]]  # (C), of the classes
        total = p.new_zeros(len(p), len(self.depths))  # (M, V)
        for depth in own.unique():
            below = self.passes.up(torch.where(own == depth, p, 0.0))
            below[:, -1] *= self.root_counts
            lengths = self.depths + depth + 2 * self.root_counts  # (V)
            total += 2 * self.passes.down(below) / lengths.clamp(min=1)
        # If the root is the only class, it shares nothing with itself.
        return p if len(self.depths) == 1 else total
