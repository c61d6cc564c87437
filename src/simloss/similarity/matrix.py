"""A similarity that is already a matrix."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity


class DenseSimilarity(Similarity):
    """All C x C entries, stored; it may be asymmetric."""

    structure = "matrix"

    def columns(self, target: Any, dtype: torch.dtype | None = None) -> Tensor:
        """The columns of S for the given classes, shape of `target` + (C)."""
        return self.tensors["matrix"].T[self._index(target)].to(dtype or self._dtype())

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """All of S, (C, C)."""
        return self.tensors["matrix"].to(dtype or self._dtype())

    def normalized(self) -> "DenseSimilarity":
        matrix = self.tensors["matrix"]
        return DenseSimilarity(
            self.num_classes,
            {"matrix": matrix / matrix.sum(1, keepdim=True)},
            names=self.names,
            kind="probability",
        )

    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self.tensors["matrix"][target].to(dtype)

    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self.tensors["matrix"].sum(1)[target].to(dtype)

    def _is_normalized_on_the_fly(self) -> bool:
        return False

    def _dtype(self) -> torch.dtype:
        return self.tensors["matrix"].dtype

    def _description(self) -> str:
        return ""


def matrix(
    values: Any, names: Sequence[str] | None = None, *, kind: str = "similarity"
) -> Similarity:
    r"""A similarity from a (C, C) tensor, array or nested list; row = true class.

    Entries are in [0, 1]. For kind "similarity" the diagonal is 1, and a 1 off the diagonal says
    that two classes are interchangeable. For kind "probability" the rows sum to 1, as forward
    correction of noisy labels needs. The matrix may be asymmetric.

    A pandas table must have the same labels on its rows and columns; without `names` they
    become the names of the classes.

    A tensor that requires gradients is not copied, so that S can be learned; others are.

    Example:
        >>> matrix([[1, 0.8], [0.5, 1]], names=["cat", "lynx"])
        matrix(2 classes)
    """
    tensor = _checks.float_tensor("similarity", values)
    _checks.square("similarity", tensor)
    labels = _checks.labels_of_both_sides("similarity", values)
    _checks.choice("kind", kind, ("similarity", "probability"))
    _checks.similarity_values(tensor, kind)
    names = _checks.class_names(labels if names is None else names, tensor.shape[0])
    if not tensor.requires_grad:
        tensor = tensor.clamp(max=1)  # a copy; rounding can put cosines above 1
    return DenseSimilarity(tensor.shape[0], {"matrix": tensor}, names=names, kind=kind)


def as_similarity(value: Any) -> Similarity:
    """`value` itself if it is a Similarity, else a checked view of it as a matrix.

    Every function that takes a similarity calls this first. Nothing is copied.
    """
    if isinstance(value, Similarity):
        return value
    tensor = _checks.float_tensor("similarity", value)
    _checks.square("similarity", tensor)
    labels = _checks.labels_of_both_sides("similarity", value)
    _checks.similarity_values(tensor, "similarity")
    names = _checks.class_names(labels, tensor.shape[0])
    return DenseSimilarity(tensor.shape[0], {"matrix": tensor}, names=names)
