"""Classes that are cells of a grid, or tuples of attributes."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .matrix import as_similarity


class GridSimilarity(Similarity):
    """The attributes of each class, "cells" (C, A), and one small matrix per attribute."""

    structure = "grid"

    def columns(self, target: Any, dtype: torch.dtype | None = None) -> Tensor:
        """The columns of S for the given classes, shape of `target` + (C)."""
        dtype = dtype or self._dtype()
        columns = self._log_product(self._index(target), transposed=True).exp().to(dtype)
        if self._is_normalized_on_the_fly():
            columns = columns / self._row_sums(self._all_classes(), dtype)
        return columns

    def log_rows(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """The sum of the attributes' logarithms."""
        log_rows = self._log_product(target)
        if self._is_normalized_on_the_fly():
            log_rows = log_rows - self._row_sums(target, self._wide()).log().unsqueeze(-1)
        return log_rows.to(dtype)

    def normalized(self) -> "GridSimilarity":
        return self._with_row_sums()

    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self._log_product(target).exp().to(dtype)

    def _log_product(self, target: Tensor, *, transposed: bool = False) -> Tensor:
        cells = self.tensors["cells"]
        total = torch.zeros(
            (*target.shape, self.num_classes), dtype=self._wide(), device=cells.device
        )
        for axis in range(cells.shape[1]):
            log_axis = self.tensors[f"log_axis{axis}"]
            log_axis = log_axis.T if transposed else log_axis
            total = total + log_axis[cells[target, axis]][..., cells[:, axis]]  # (*, C)
        return total

    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self.tensors["row_sums"][target].to(dtype)

    def _description(self) -> str:
        axes = range(self.tensors["cells"].shape[1])
        sizes = " x ".join(str(self.tensors[f"log_axis{axis}"].shape[0]) for axis in axes)
        return f", attributes {sizes}"


def grid(*attributes: Any, cells: Any = None, names: Sequence[str] | None = None) -> Similarity:
    r"""Similarity of classes that are cells of a grid or tuples of attributes.

    .. math:: S_{ij} = \prod_a S^{(a)}_{x_{ia} x_{ja}}

    Each attribute has its own similarity; that of two classes is their product. It stores the
    attributes' small matrices and A numbers per class.

    Args:
        attributes: one similarity per attribute, over that attribute's values.
        cells: the value of each attribute for each class, (C, A) whole numbers. By default the
            classes are all combinations, and the last attribute changes fastest.
        names: one name per class; by default built from the attributes' names if they have any.

    Example:
        >>> from simloss.similarity import circular, matrix, order
        >>> grid(order(3, r=0.5), circular(4, r=0.5))  # a map of 3 x 4 cells, round at the sides
        grid(12 classes, attributes 3 x 4)
        >>> size = order(2, r=0.5, names=["small", "large"])
        >>> shape = matrix([[1, 0.2], [0.2, 1]], names=["cup", "vase"])
        >>> S = grid(size, shape, cells=[[0, 0], [1, 0], [1, 1]])
        >>> S.names
        ('small cup', 'large cup', 'large vase')
        >>> S.to_dense()
        tensor([[1.0000, 0.5000, 0.1000],
                [0.5000, 1.0000, 0.2000],
                [0.1000, 0.2000, 1.0000]])
    """
    if not attributes:
        raise ValueError("`attributes` must be at least one similarity, but got none.")
    parts = [as_similarity(attribute) for attribute in attributes]
    for part in parts:
        _checks.of_kind_similarity("attributes", part.kind)
    table = _cells(cells, [part.num_classes for part in parts])
    all_named = all(part.names for part in parts)
    if names is None and all_named:
        columns = zip(*(_names_of(part, table[:, a]) for a, part in enumerate(parts)), strict=True)
        names = [" ".join(words) for words in columns]
    names = _checks.class_names(names, table.shape[0])
    tensors = {"cells": table}
    for axis, part in enumerate(parts):
        tensors[f"log_axis{axis}"] = part.log_rows(part._all_classes(), torch.float64)
    return GridSimilarity(table.shape[0], tensors, names=names)


def _names_of(part: Similarity, values: Tensor) -> list[str]:
    assert part.names is not None
    return [part.names[i] for i in values.tolist()]


def _cells(cells: Any, sizes: list[int]) -> Tensor:
    if cells is None:
        return torch.cartesian_prod(*(torch.arange(size) for size in sizes)).reshape(-1, len(sizes))
    table = _checks.float_tensor("cells", cells)
    if table.ndim != 2 or table.shape[1] != len(sizes) or table.shape[0] == 0:
        raise ValueError(
            f"`cells` must have shape (C, {len(sizes)}), one value per class and attribute, "
            f"but got shape {tuple(table.shape)}."
        )
    wrong = (table < 0) | (table >= torch.tensor(sizes)) | (table != table.round())
    if bool(wrong.any()):
        row, axis = (int(i) for i in wrong.nonzero()[0])
        raise ValueError(
            f"`cells` must be whole numbers in [0, {sizes[axis]}) for attribute {axis}, "
            f"but got {table[row, axis].item():g} for class {row}."
        )
    return table.long()
