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
        below = p.new_zeros(len(self.parents), len(p))  # (V, M): whole rows are added at once
        below[: self.num_classes] = p.T
        for level in reversed(self.levels):
            below.index_add_(0, self.parents[level], below.index_select(0, level))
        return below.T

    def down(self, values: Tensor) -> Tensor:
        """The sum over each node and its ancestors, of and to (M, V)."""
        sums = values.T.clone(memory_format=torch.contiguous_format)  # (V, M), as above
        for level in self.levels:
            sums.index_add_(0, level, sums.index_select(0, self.parents[level]))
        return sums.T
