"""A stored S, and an S whose rows are computed when they are asked for."""

from functools import cached_property

import torch
from torch import Tensor

from ...similarity import Similarity
from .operator import BLOCK_ENTRIES, PART_ENTRIES, Operator
from .scratch import scratch


class SimilarityOperator(Operator):
    """S of a given similarity."""

    def __init__(self, similarity: Similarity, dtype: torch.dtype) -> None:
        diagonal_is_one = similarity.kind == "similarity"
        super().__init__(similarity.num_classes, dtype, diagonal_is_one=diagonal_is_one)
        self.similarity = similarity


class DenseOperator(SimilarityOperator):
    """S as it is stored: a row is a look-up, S p a matrix product."""

    @cached_property
    def _matrix(self) -> Tensor:
        return self.matrix()

    def rows(self, y: Tensor) -> Tensor:
        matrix = self.similarity.tensors["matrix"]
        if matrix.dtype != self.dtype:
            return matrix.index_select(0, y).to(self.dtype)
        out = scratch("rows", (y.shape[0], self.num_classes), self.dtype)
        return torch.index_select(matrix, 0, y, out=out)

    def columns(self, y: Tensor) -> Tensor:
        return self.similarity.tensors["matrix"].index_select(1, y).T.to(self.dtype).contiguous()

    def mixtures(self, x: Tensor, *, into: str | None = None) -> Tensor:
        return _product(x, self._matrix.T, into)

    def pullback(self, x: Tensor, *, into: str | None = None) -> Tensor:
        return _product(x, self._matrix, into)

    def row_sums(self) -> Tensor:
        return self._matrix.sum(1)

    def matrix(self) -> Tensor:
        return self.similarity.tensors["matrix"].to(self.dtype)

    def rows_at_once(self) -> int:
        return max(256, PART_ENTRIES // self.num_classes)  # few rows make a slow matrix product


def _product(x: Tensor, matrix: Tensor, into: str | None) -> Tensor:
    if into is None:
        return x @ matrix
    return torch.mm(x, matrix, out=scratch(into, tuple(x.shape), x.dtype))


class ComputedOperator(SimilarityOperator):
    """S of any other structure, through its rows; never more than a block of them is held."""

    def rows(self, y: Tensor) -> Tensor:
        return self.similarity.rows(y, self.dtype)

    def columns(self, y: Tensor) -> Tensor:
        return self.similarity.columns(y, self.dtype)

    def mixtures(self, x: Tensor, *, into: str | None = None) -> Tensor:
        parts = [x @ self.rows(classes).T for classes in self._classes(x)]
        return parts[0] if len(parts) == 1 else torch.cat(parts, 1)

    def pullback(self, x: Tensor, *, into: str | None = None) -> Tensor:
        result = torch.zeros_like(x)
        for classes in self._classes(x):
            result.addmm_(x[:, classes], self.rows(classes))
        return result

    def row_sums(self) -> Tensor:
        return torch.cat([self.rows(classes).sum(1) for classes in self._classes(None)])

    def _classes(self, x: Tensor | None) -> tuple[Tensor, ...]:
        device = None if x is None else x.device
        classes = torch.arange(self.num_classes, device=device)
        return classes.split(max(1, BLOCK_ENTRIES // self.num_classes))
