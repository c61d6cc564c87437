"""An S of rows with few entries each: as much work as there are entries."""

from functools import cached_property

import torch
from torch import Tensor

from ...similarity import Similarity
from ...similarity.matrix import DenseSimilarity
from .compressed import Compressed, transposed
from .dense import DenseOperator, SimilarityOperator
from .memo import Memo
from .operator import PART_ENTRIES, Entries, Operator

# A matrix that holds more than this share of its entries, and few classes, is quicker stored.
_DENSE_SHARE, _DENSE_UP_TO = 0.125, 1024
_DENSE = Memo()


def sparse_operator(similarity: Similarity, dtype: torch.dtype) -> Operator:
    """The operator of compressed rows, or of the matrix they are where they are not that sparse."""
    tensors = [similarity.tensors[name] for name in ("value", "column", "crow")]
    C = similarity.num_classes
    if C > _DENSE_UP_TO or tensors[0].numel() < _DENSE_SHARE * C * C:
        return SparseOperator(similarity, dtype)
    matrix = _DENSE.get(tensors, similarity.to_dense)
    dense = DenseSimilarity(C, {"matrix": matrix}, kind=similarity.kind)
    return DenseOperator(dense, dtype)


class SparseOperator(SimilarityOperator):
    """S in compressed rows."""

    def rows(self, y: Tensor) -> Entries:
        return self._matrix.rows(y)

    def columns(self, y: Tensor) -> Tensor:
        return self._transposed.dense_rows(y)

    def mixtures(self, x: Tensor, *, into: str | None = None) -> Tensor:
        return self._matrix.product(x)

    def pullback(self, x: Tensor, *, into: str | None = None) -> Tensor:
        return self._transposed.product(x)

    def row_sums(self) -> Tensor:
        return self.mixtures(torch.ones(1, self.num_classes, dtype=self.dtype)).squeeze(0)

    def rows_at_once(self) -> int:
        return max(16, PART_ENTRIES // self.num_classes)  # every part walks all entries

    @cached_property
    def _matrix(self) -> Compressed:
        crow, column, value = (self.similarity.tensors[k] for k in ("crow", "column", "value"))
        return Compressed(crow, column, value.to(self.dtype))

    @cached_property
    def _transposed(self) -> Compressed:
        return transposed(self._matrix)
