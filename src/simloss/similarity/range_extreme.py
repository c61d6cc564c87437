"""What two leaves of a tree have in common, without a C x C table or a loop over pairs.

Put the leaves in depth-first order. The lowest common ancestor of two leaves is the highest of
those of the neighbours between them: its height is the largest, its depth the smallest. So a whole
row is a running extreme to the left and to the right.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from .tree import Tree


def depth_first_order(tree: "Tree", measure: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The place of each class (C), and `measure` at the common ancestor of neighbours (C - 1)."""
    order = []
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        if node < tree.num_classes:
            order.append(node)
        waiting.extend(reversed(tree.children[node]))
    position = torch.empty(len(order), dtype=torch.long)
    position[torch.tensor(order)] = torch.arange(len(order))
    common = [_common_ancestor(tree, a, b) for a, b in pairwise(order)]
    return position, torch.tensor([measure[node] for node in common], dtype=torch.int32)


def _common_ancestor(tree: "Tree", a: int, b: int) -> int:
    # A node's number is below its parent's, so the smaller of two is never an ancestor.
    while a != b:
        if a < b:
            a = tree.parents[a]
        else:
            b = tree.parents[b]
    return a


def range_extreme(position: Tensor, between: Tensor, target: Tensor, *, largest: bool) -> Tensor:
    """The extreme of `between` from each target's place to every class's, (*, C).

    0 for the class itself; `between` holds numbers of at least 0.
    """
    if between.numel() == 0:
        return torch.zeros((*target.shape, 1), dtype=between.dtype, device=between.device)
    values = between if largest else -between
    bottom = -(1 << 30)
    steps = torch.arange(between.numel(), device=between.device)
    start = position[target].unsqueeze(-1)  # (*, 1)
    right = torch.where(steps >= start, values, bottom).cummax(-1).values  # (*, C - 1)
    left = torch.where(steps < start, values, bottom).flip(-1).cummax(-1).values.flip(-1)
    row = right.new_full((*target.shape, between.numel() + 1), bottom)
    row[..., 1:] = right
    row[..., :-1] = torch.maximum(row[..., :-1], left)  # (*, C), in depth-first order
    row = row if largest else -row
    own = torch.arange(position.numel(), device=position.device) == target.unsqueeze(-1)
    return torch.where(own, 0, row[..., position])
