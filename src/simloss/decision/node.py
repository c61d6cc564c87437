"""An answer from anywhere in a tree: as specific as it pays to be."""

from typing import Any

from torch import Tensor

from .. import _checks
from ..similarity import Tree
from .answer import in_blocks, in_kind_of, rounding_of
from .costs import TreeCost, first_lowest, wide


def decide_node(probabilities: Any, tree: Tree, *, price: float = 0.5) -> Any:
    r"""The node of a tree of lowest expected cost: it stops at the parent where deeper is a gamble.

    .. math::

        \hat v = \operatorname*{argmin}_v \sum_k p_k\, D_{kv}, \qquad
        D_{kv} = \underbrace{h(\mathrm{lca}(k, v)) - h(v)}_{\text{wrong}}
               + \mathrm{price} \cdot \underbrace{h(v)}_{\text{vague}}

    h is the height of a node, 0 for a class. To climb from the answer v until the truth k is below
    costs 1 a level, and is 0 where v is right; an answer that starts above the classes costs
    `price` a level, right or wrong. Answering a class costs what :func:`simloss.decide` counts for
    it, the height of the lowest common ancestor. With two levels this says: answer the class where
    its parent is believed and the class has more than ``1 - price`` of the probability, else the
    parent.

    Equal expected costs go to the less specific node.

    Args:
        probabilities: of the classes, (..., C), as for :func:`simloss.decide`.
        tree: a :class:`simloss.Tree` of the C classes.
        price: in [0, 1]. The lower, the sooner it stops: 0 always answers the root, and at 1 no
            inner node is cheaper than every class below it.

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
    """
    p = _checks.probabilities(probabilities)
    if not isinstance(tree, Tree):
        raise TypeError(f"`tree` must be a simloss.Tree, but got {type(tree).__name__}.")
    _checks.class_counts_agree("tree", tree.num_classes, "probabilities", p.shape[-1])
    price = _checks.share("price", price)
    cost = TreeCost(tree, p.device, wide(p))
    rounding = rounding_of(probabilities)

    def nodes(block: Tensor) -> Tensor:
        discount = (1 - price) * cost.heights * block.sum(-1, keepdim=True)  # (M, V)
        costs = cost.of_nodes(block) - discount
        # Parents have higher numbers than their children, so the last of equals is least specific.
        return costs.shape[-1] - 1 - first_lowest(costs.flip(-1), cost.slack(costs, rounding))

    return in_kind_of(probabilities, in_blocks(nodes, p))
