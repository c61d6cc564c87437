"""Sparse rows in log space: as much work as there are entries, and any device."""

import torch
from torch import Tensor

from ...similarity import Similarity
from .compressed import Compressed, transposed
from .log_operator import ComputedLogOperator
from .operator import BLOCK_ENTRIES

_MINUS_INFINITY = float("-inf")


class SparseLogOperator(ComputedLogOperator):
    """S in compressed rows."""

    def __init__(self, similarity: Similarity, dtype: torch.dtype) -> None:
        super().__init__(similarity, dtype)
        crow, column, value = (similarity.tensors[k] for k in ("crow", "column", "value"))
        self._matrix = Compressed(crow, column, value.to(dtype))
        wide = torch.promote_types(dtype, value.dtype)  # here S may underflow before its logarithm
        self._log_value = value.to(wide).log().to(dtype)  # (nnz)

    def rows(self, y: Tensor) -> Tensor:
        return self._matrix.dense_rows(y)

    def columns(self, y: Tensor) -> Tensor:
        return transposed(self._matrix).dense_rows(y)

    def mixtures(self, t: Tensor) -> Tensor:
        return self._matrix.product(t)

    def pullback(self, t: Tensor) -> Tensor:
        return transposed(self._matrix).product(t)

    def row_sums(self) -> Tensor:
        ones = torch.ones(1, self.num_classes, dtype=self.dtype, device=self._matrix.value.device)
        return self._matrix.product(ones).squeeze(0)

    def log_mixtures(self, z: Tensor) -> Tensor:
        return torch.cat([self._log_mixtures(some) for some in z.split(self._rows_at_once())])

    def shared_out(self, k: Tensor, z: Tensor, log_mixtures: Tensor) -> Tensor:
        step = self._rows_at_once()
        parts = zip(k.split(step), z.split(step), log_mixtures.split(step), strict=True)
        return torch.cat([self._shared_out(*some) for some in parts])

    def _log_mixtures(self, z: Tensor) -> Tensor:
        row = self._matrix.row.expand(z.shape[0], -1)  # (m, nnz)
        x = z[:, self._matrix.column] + self._log_value
        largest = torch.full_like(z, _MINUS_INFINITY).scatter_reduce_(1, row, x, "amax")
        dead = largest == _MINUS_INFINITY
        largest = torch.where(dead, 0.0, largest)
        sums = torch.zeros_like(z).scatter_add_(1, row, (x - largest.gather(1, row)).exp())
        return torch.where(dead, z, largest + sums.log())

    def _shared_out(self, k: Tensor, z: Tensor, log_mixtures: Tensor) -> Tensor:
        row, column = self._matrix.row, self._matrix.column
        dead = log_mixtures == _MINUS_INFINITY
        below = torch.where(dead, 0.0, log_mixtures)
        shares = (z[:, column] + self._log_value - below[:, row]).exp()  # (m, nnz)
        kept = torch.where(dead, k, 0.0)
        return kept.scatter_add_(1, column.expand(z.shape[0], -1), shares.mul_(k[:, row]))

    def _rows_at_once(self) -> int:
        return max(1, BLOCK_ENTRIES // self._matrix.value.numel())
