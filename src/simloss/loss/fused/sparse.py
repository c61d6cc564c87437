"""An S of rows with few entries each: as much work as there are entries."""

from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from .dense import SimilarityOperator
from .operator import PART_ENTRIES, Entries


class Compressed(NamedTuple):
    """Row i of a matrix is the entries crow[i] to crow[i + 1]."""

    crow: Tensor  # (C + 1)
    column: Tensor  # (nnz)
    value: Tensor  # (nnz)

    def rows(self, y: Tensor) -> Entries:
        """The rows of y, the shorter ones filled up with zeros."""
        start = self.crow[y]
        length = self.crow[y + 1] - start  # (m)
        step = torch.arange(int(length.max()))
        there = step < length.unsqueeze(1)  # (m, K)
        entry = torch.where(there, step, 0).add_(start.unsqueeze(1))
        column = self.column.index_select(0, entry.view(-1)).view_as(entry)
        value = self.value.index_select(0, entry.view(-1)).view_as(entry)
        return Entries(column, value.mul_(there))

    def product(self, x: Tensor) -> Tensor:
        """``x @ matrix.T``, (m, C): the value-weighted sum of the columns of x in each row."""
        result: Tensor = torch.nn.functional.embedding_bag(
            self.column,
            x.T.contiguous(),
            self.crow,
            mode="sum",
            per_sample_weights=self.value,
            include_last_offset=True,
        )  # (C, m)
        return result.T.contiguous()


class SparseOperator(SimilarityOperator):
    """S in compressed rows; its transpose is found once for as long as the entries stay."""

    def rows(self, y: Tensor) -> Entries:
        return self._matrix.rows(y)

    def columns(self, y: Tensor) -> Tensor:
        entries = self._transposed.rows(y)
        columns = torch.zeros(y.shape[0], self.num_classes, dtype=self.dtype)
        return columns.scatter_add_(1, *entries)

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
        crow, row, by_column = transposition(self._matrix.crow, self._matrix.column)
        return Compressed(crow, row, self._matrix.value[by_column])


# column -> what the entries were when it was transposed, and the transposed entries.
_TRANSPOSED = WeakTensorKeyDictionary()


def transposition(crow: Tensor, column: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Start of each column, row of each entry, and the order of the entries, by column."""
    if crow.is_inference() or column.is_inference():
        return _transposition(crow, column)
    state = [(each.data_ptr(), each._version, each.numel()) for each in (crow, column)]
    known, result = _TRANSPOSED.get(column, (None, None))
    if known != state:
        with torch.inference_mode(False):
            result = _transposition(crow, column)
        _TRANSPOSED[column] = (state, result)
    return result


def _transposition(crow: Tensor, column: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    num_classes = crow.shape[0] - 1
    rows = torch.arange(num_classes).repeat_interleave(crow.diff())
    by_column = column.argsort(stable=True)
    lengths = torch.bincount(column, minlength=num_classes)
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]), rows[by_column], by_column
