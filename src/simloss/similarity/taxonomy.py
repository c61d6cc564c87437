"""Classes in a tree: the lower their common ancestor, the more alike."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .distance import DistanceSimilarity
from .range_extreme import depth_first_order, range_extreme
from .tree import Tree

MEASURES = ("height", "path", "wu-palmer")


class TreeSimilarity(DistanceSimilarity):
    """Places in depth-first order, what neighbours there share, and depths."""

    structure = "tree"

    def _distance(self, target: Tensor) -> Tensor:
        measure = self.options["measure"]
        common = range_extreme(
            self.tensors["position"],
            self.tensors["between"],
            target,
            largest=measure == "height",
        ).to(self._wide())  # (*, C)
        if measure == "height":
            return common
        depth = self.tensors["depth"].to(self._wide())
        both = depth + depth[target].unsqueeze(-1)  # (*, C)
        if measure == "path":
            distance = both - 2 * common
        else:
            distance = -(2 * (common + 1) / (both + 2)).log()
        own = self._all_classes() == target.unsqueeze(-1)
        return torch.where(own, 0.0, distance)

    def _description(self) -> str:
        temperature = float(self.tensors["scale"])
        return f", {self.options['measure']}, temperature={temperature:.6g}"


def tree(
    tree: Tree | Mapping[str, Any] | Iterable[str | PathLike[str] | Sequence[str]],
    temperature: float = 1.0,
    *,
    measure: str = "height",
) -> Similarity:
    r"""Similarity of classes that are the leaves of a tree.

    .. math:: S_{ij} = \exp(-d_{ij} / \mathrm{temperature})

    where the distance, with the lowest common ancestor a of i and j, is

    - "height": the height of a, as :meth:`Tree.cost`;
    - "path": the steps from i up to a and down to j;
    - "wu-palmer": :math:`-\log \frac{2 n_a}{n_i + n_j}`, with n the number of nodes on the path
      from the root; temperature 1 gives the similarity of Wu and Palmer, others a power of it.

    "height" keeps the proper loss proper, and so do the others if all leaves are equally deep;
    if not, :func:`diagnose` tells. It stores 3 numbers per class.

    Args:
        tree: a :class:`simloss.Tree`, a nested dict as for :meth:`Tree.from_dict`, or one
            path per class as for :meth:`Tree.from_paths`. It gives the classes, their order and
            their names.
        temperature: the larger, the more alike; close to 0 it is the identity.
        measure: "height", "path" or "wu-palmer".

    Example:
        >>> taxonomy = {"bird": ["robin", "crow"], "fish": ["cod"]}
        >>> tree(taxonomy).to_dense()
        tensor([[1.0000, 0.3679, 0.1353],
                [0.3679, 1.0000, 0.1353],
                [0.1353, 0.1353, 1.0000]])
        >>> tree(taxonomy, measure="wu-palmer").to_dense()
        tensor([[1.0000, 0.6667, 0.3333],
                [0.6667, 1.0000, 0.3333],
                [0.3333, 0.3333, 1.0000]])

    Reference:
        Z. Wu and M. Palmer, Verb semantics and lexical selection, ACL 1994.
    """
    tree = _as_tree(tree)
    temperature = _checks.positive("temperature", temperature)
    measure = _checks.choice("measure", measure, MEASURES)
    position, between = depth_first_order(
        tree, tree.heights if measure == "height" else tree.depths
    )
    tensors = {
        "position": position,
        "between": between,
        "depth": torch.tensor(tree.depths[: tree.num_classes], dtype=torch.int32),
        "scale": torch.tensor(temperature, dtype=torch.float64),
    }
    return TreeSimilarity(tree.num_classes, tensors, names=tree.class_names, measure=measure)


def _as_tree(tree: Any) -> Tree:
    """A tree, or the one that a nested dict or paths describe."""
    if isinstance(tree, Tree):
        return tree
    if isinstance(tree, Mapping):
        if tree and all(isinstance(below, str) for below in tree.values()):
            raise ValueError(
                "`tree` must be a nested dict, group -> its classes, but got names to names, which "
                "could be read either way; pass Tree.from_parents(...) of class -> group, or lists."
            )
        return Tree.from_dict(tree)
    if isinstance(tree, (str, PathLike)) or not isinstance(tree, Iterable):
        raise TypeError(
            f"`tree` must be a simloss.Tree, a nested dict or a list of paths, but got "
            f"{type(tree).__name__}; Tree.from_csv reads a file."
        )
    return Tree.from_paths(tree)
