"""Sums over a tree, level by level: from the classes up, from the root down."""

import torch
from torch import Tensor

from ..similarity import Tree


class TreePasses:
    """The nodes of a tree by their level.

    Attributes:
        num_classes: C.
        parents: of each node, (V).
        levels: the nodes of each level below the root, from the top.
    """

    def __init__(self, tree: Tree, device: torch.device) -> None:
        self.num_classes = tree.num_classes
        self.parents = torch.tensor(tree.parents, device=device)  # (V)
        depths = torch.tensor(tree.depths, device=device)
        self.levels = [(depths == d).nonzero().squeeze(-1) for d in range(1, max(tree.depths) + 1)]

    def up(self, p: Tensor) -> Tensor:
        """The sum over the classes below each node, of (M, C), (M, V)."""
        below = p.new_zeros(len(p), len(self.parents))  # (M, V)
        below[:, : self.num_classes] = p
        for level in reversed(self.levels):
            below.index_add_(1, self.parents[level], below[:, level])
        return below

    def down(self, values: Tensor) -> Tensor:
        """The sum over each node and its ancestors, of and to (M, V)."""
        sums = values.clone()
        for level in self.levels:
            sums[:, level] += sums[:, self.parents[level]]
        return sums
