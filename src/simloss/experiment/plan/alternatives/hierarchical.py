"""Hierarchical cross entropy (Bertinetto et al. 2020)."""

import math

import torch
from torch import Tensor

from .... import _checks
from ....similarity import Tree
from .objective import Objective


class HierarchicalCrossEntropy(Objective):
    r"""Cross entropy of each step down the tree, the first steps weighing more.

    .. math::

        -\sum_{v \in \mathrm{path}(y)} e^{-\alpha\, (d(v) - 1)}
        \log \frac{P(v)}{P(\mathrm{parent}(v))},
        \qquad P(v) = \sum_{c \text{ below } v} p_c, \quad p = \mathrm{softmax}(z)

    with d the number of steps from the root; the path leaves the root out. With alpha = 0 it is
    plain cross entropy; the larger alpha, the less a mistake among siblings counts against one
    between far branches.

    Args:
        tree: of the classes.
        alpha: how fast weights fall from the root down, at least 0.

    Example:
        >>> tree = Tree.from_superclasses(["robin", "crow", "cod"], ["bird", "bird", "fish"])
        >>> z, y = torch.zeros(1, 3), torch.tensor([0])
        >>> HierarchicalCrossEntropy(tree, alpha=0.0)(z, y).item()  # log 3
        1.098...
        >>> HierarchicalCrossEntropy(tree, alpha=1.0)(z, y).item()  # log 1.5 + log(2) / e
        0.660...
    """

    below: Tensor
    share: Tensor

    def __init__(self, tree: Tree, alpha: float) -> None:
        super().__init__()
        alpha = _checks.at_least_zero("alpha", alpha)
        weights = [math.exp(-alpha * (depth - 1)) for depth in tree.depths]
        nodes = len(tree.parents)
        below = torch.zeros(nodes, tree.num_classes, dtype=torch.bool)
        # The loss is -sum_v share(y, v) log P(v): a node's own weight less that of the step below.
        share = torch.zeros(tree.num_classes, nodes)
        for c in range(tree.num_classes):
            node, weight_below = c, 0.0
            while node != -1:
                below[node, c] = True
                weight = weights[node] if tree.parents[node] != -1 else 0.0
                share[c, node] = weight - weight_below
                node, weight_below = tree.parents[node], weight
        self.register_buffer("below", below[tree.num_classes : -1], persistent=False)
        self.register_buffer("share", share[:, :-1], persistent=False)

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        log_p = outputs.log_softmax(-1)  # (N, C)
        inner = torch.where(self.below, log_p.unsqueeze(-2), -torch.inf).logsumexp(-1)
        log_nodes = torch.cat([log_p, inner], dim=-1)  # (N, nodes but the root)
        return -(self.share[target].to(log_p.dtype) * log_nodes).sum(-1).mean()
