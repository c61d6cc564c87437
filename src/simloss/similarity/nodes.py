"""Labels that name only an inner node of a tree: "some bird"."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .matrix import as_similarity
from .tree import Tree

# The largest size to hold: half a gigabyte.
_MOST_ENTRIES = 1 << 26


class NodeSimilarity(Similarity):
    """One row per class and one per inner node, (V, C), stored."""

    structure = "nodes"

    @property
    def num_rows(self) -> int:
        """V: the number of classes and inner nodes."""
        return len(self.tensors["rows"])

    def columns(self, target: Any, dtype: torch.dtype | None = None) -> Tensor:
        """The columns of the classes' own rows, shape of `target` + (C)."""
        own = self.tensors["rows"][: self.num_classes]
        at = _checks.class_indices("target", target, self.num_classes).to(own.device)
        return own.T[at].to(dtype or self._dtype())

    def normalized(self) -> "NodeSimilarity":
        rows = self.tensors["rows"]
        divided = {"rows": rows / rows.sum(1, keepdim=True)}
        return NodeSimilarity(self.num_classes, divided, names=self.names, kind="probability")

    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self.tensors["rows"][target].to(dtype)

    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self.tensors["rows"].sum(1)[target].to(dtype)

    def _is_normalized_on_the_fly(self) -> bool:
        return False

    def _dtype(self) -> torch.dtype:
        return self.tensors["rows"].dtype

    def _description(self) -> str:
        return f" and {self.num_rows - self.num_classes} nodes above them"


def with_nodes(similarity: Any, tree: Tree) -> Similarity:
    r"""The similarity with a row for each inner node, for labels known only that far.

    .. math:: S_{vc} = \max_{k \text{ below } v} S_{kc}

    The row is 1 for every class below the node, because the label does not choose between them;
    for other classes it is the largest similarity to one of them. With the identity, "some bird"
    has the loss :math:`-\log \sum_{c \text{ below } v} p_c`: minus the log probability of a bird.

    Nodes are numbered as in the tree: the classes first. :func:`simloss.sim_loss` and
    :func:`simloss.soft_target_loss` take any of them as a target, and `rows` accepts any;
    the columns are still the classes.

    Args:
        similarity: a :class:`simloss.Similarity` of the classes, or a (C, C) array.
        tree: a :class:`simloss.Tree` of the same classes.

    Example:
        >>> from simloss import Tree, similarity
        >>> tree = Tree.from_paths(["bird/robin", "bird/crow", "fish/cod"])
        >>> S = similarity.with_nodes(similarity.tree(tree), tree)
        >>> S.rows([0, 3])  # a robin; some bird
        tensor([[1.0000, 0.3679, 0.1353],
                [1.0000, 1.0000, 0.1353]])
        >>> import simloss, torch
        >>> logits = torch.tensor([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
        >>> truth = torch.tensor([1, 3])  # a crow; some bird
        >>> simloss.sim_loss(logits, truth, S, reduction="none")
        tensor([0.3816, 0.2024])
    """
    whole = as_similarity(similarity)
    _checks.of_kind_similarity("similarity", whole.kind)
    if not isinstance(tree, Tree):
        raise TypeError(f"`tree` must be a simloss.Tree, but got {type(tree).__name__}.")
    _checks.class_counts_agree("tree", tree.num_classes, "similarity", whole.num_classes)
    if whole.names is not None and tuple(whole.names) != tree.class_names:
        pairs = zip(whole.names, tree.class_names, strict=True)
        a, b = next((a, b) for a, b in pairs if a != b)
        raise ValueError(
            f"`tree` must have the classes of `similarity` in the same order, but it has {b!r} "
            f"where `similarity` has {a!r}."
        )
    if len(tree.parents) * tree.num_classes > _MOST_ENTRIES:
        raise ValueError(
            f"`tree` must have at most {_MOST_ENTRIES:,} pairs of a node and a class, "
            f"but got {len(tree.parents) * tree.num_classes:,}."
        )
    dense = whole.to_dense()
    above = dense.new_zeros(len(tree.parents) - tree.num_classes, tree.num_classes)
    rows = torch.cat([dense, above])  # (V, C)
    for node, parent in enumerate(tree.parents[:-1]):  # children come before their parents
        rows[parent] = torch.maximum(rows[parent], rows[node])
    return NodeSimilarity(tree.num_classes, {"rows": rows}, names=tree.class_names)
