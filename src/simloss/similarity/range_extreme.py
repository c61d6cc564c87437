"""The common ancestors of leaves in a tree, without a C x C table or a loop over pairs.

Put the leaves in depth-first order. The lowest common ancestor of two leaves is then the highest
common ancestor of neighbours between them: its height is the largest, its depth the smallest. So
a whole row is a running extreme to the left and to the right.
"""

from bisect import bisect_left
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
    # A node's number is below its parent's, so the smaller of the two is never an ancestor.
    while a != b:
        if a < b:
            a = tree.parents[a]
        else:
            b = tree.parents[b]
    return a


def range_extreme(position: Tensor, between: Tensor, target: Tensor, *, largest: bool) -> Tensor:
    """The extreme of `between` from each target's place to that of every class, (*, C).

    It is 0 for the class itself; `between` holds numbers of at least 0.
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


def inner_nodes(between: Sequence[int]) -> list[list[int]]:
    """The children of each inner node of a tree with these heights at the neighbours' ancestors.

    Leaves are numbered by their places in depth-first order, 0, ..., C - 1; inner nodes follow,
    children before parents, the root last. A node with one child is merged with that child.
    """
    count = len(between) + 1
    found: list[list[int]] = []
    alone = [(0, 0)]  # nodes that have no parent yet: the place of the first leaf, and the node
    begun: list[tuple[int, int]] = []  # inner nodes, highest first: height, place

    def end(start: int) -> None:
        at = bisect_left(alone, (start,))
        found.append([node for _, node in alone[at:]])
        alone[at:] = [(start, count + len(found) - 1)]

    for place, height in enumerate(between):
        start = place
        while begun and begun[-1][0] < height:
            start = begun.pop()[1]
            end(start)
        if not begun or begun[-1][0] > height:
            begun.append((height, start))
        alone.append((place + 1, place + 1))
    while begun:
        end(begun.pop()[1])
    return found
