"""The common ancestors of nodes in a tree, for many pairs at once."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from .tree import Tree


def at_level(tree: "Tree", level: int) -> Tensor:
    """The ancestor of each node at `level` steps below the root, (V).

    A node above that level is its own ancestor.
    """
    parents, depths = torch.tensor(tree.parents), torch.tensor(tree.depths)
    found = torch.arange(len(parents))
    for _ in range(max(tree.depths) - level):
        found = torch.where(depths[found] > level, parents[found], found)
    return found


def common_ancestors(tree: "Tree", first: Tensor, second: Tensor) -> Tensor:
    """The lowest common ancestor of each pair of nodes, in their shape; a node is its own ancestor.

    Goes down from the root level by level, as long as the two agree.
    """
    common = torch.full_like(first, tree.root)
    for level in range(1, max(tree.depths) + 1):
        above = at_level(tree, level).to(first.device)  # (V)
        common = torch.where(above[first] == above[second], above[first], common)
    return common
