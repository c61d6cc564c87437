"""An S of rows with few entries each: as much work as there are entries."""

from functools import cached_property

import torch
from torch import Tensor

from .compressed import Compressed, transposed
from .dense import SimilarityOperator
from .operator import PART_ENTRIES, Entries


class SparseOperator(SimilarityOperator):
    """S in compressed rows."""

    def rows(self, y: Tensor) -> Entries:
        return self._matrix.rows(y)

    def columns(self, y: Tensor) -> Tensor:
        return self._transposed.dense_rows(y)

    def mixtures(self, x: Tensor) -> Tensor:
        return self._matrix.product(x)

    def pullback(self, x: Tensor) -> Tensor:
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
