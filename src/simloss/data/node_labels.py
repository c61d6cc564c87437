"""Rows of a table with a superclass but no class."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..similarity import Tree
from .columns import as_text
from .target import Target


def with_node_labels(
    classes: Target, cells: Any, tree: Tree, superclasses: tuple[str, ...]
) -> tuple[Tensor, Any]:
    """The labels and the numbers of the rows with a class or a superclass, in their order.

    Args:
        classes: the classes of the rows that have one.
        cells: the column of superclasses, of all rows (pandas Series).
        tree: the tree of the classes.
        superclasses: the superclass of each class; "plant/flower" names a node and its parent.
    """
    nodes = _nodes(tree, superclasses)
    found = dict(zip(classes.rows.tolist(), classes.labels.tolist(), strict=True))
    for row, text in enumerate(as_text(cells)):
        if row not in found and text in nodes:
            found[row] = nodes[text]
    rows = np.array(sorted(found), dtype=np.int64)
    return torch.tensor([found[row] for row in rows.tolist()]), rows


def _nodes(tree: Tree, superclasses: tuple[str, ...]) -> dict[str, int]:
    """Path -> node, for every node above a class, except a root that only joins them all."""
    found = {}
    for label, superclass in enumerate(superclasses):
        path = superclass.split("/")
        for depth, node in zip(range(len(path), 0, -1), tree.ancestors(label), strict=False):
            found["/".join(path[:depth])] = node
    return found
