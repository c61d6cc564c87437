"""A matrix in compressed rows: some of its rows, its products, its transpose."""

from functools import cached_property

import torch
from torch import Tensor

from ..._checks import values_can_be_read
from .memo import Memo
from .operator import Entries


class Compressed:
    """Row i is the entries crow[i] to crow[i + 1], each with a column and a value."""

    def __init__(self, crow: Tensor, column: Tensor, value: Tensor) -> None:
        self.crow = crow  # (C + 1)
        self.column = column  # (nnz), rising within a row
        self.value = value  # (nnz)
        self.num_classes = crow.shape[0] - 1

    @cached_property
    def row(self) -> Tensor:
        """The row of each entry, (nnz)."""
        classes = torch.arange(self.num_classes, device=self.crow.device)
        return classes.repeat_interleave(self.crow.diff(), output_size=self.column.shape[0])

    def rows(self, y: Tensor) -> Entries:
        """The rows of y, the shorter ones filled up with zeros; looks at how long they are."""
        start = self.crow[y]
        length = self.crow[y + 1] - start  # (m)
        step = torch.arange(int(length.max()), device=y.device)
        there = step < length.unsqueeze(1)  # (m, K)
        entry = torch.where(there, step, 0).add_(start.unsqueeze(1))
        column = self.column.index_select(0, entry.view(-1)).view_as(entry)
        value = self.value.index_select(0, entry.view(-1)).view_as(entry)
        return Entries(column, value.mul_(there))

    def dense_rows(self, y: Tensor) -> Tensor:
        """The rows of y, (m, C)."""
        if not values_can_be_read(y):
            return self.dense_rows_unseen(y)
        rows = torch.zeros(y.shape[0], self.num_classes, dtype=self.value.dtype)
        return rows.scatter_add_(1, *self.rows(y))

    def dense_rows_unseen(self, y: Tensor) -> Tensor:
        """The same without a look at any value: each place is searched for among the entries."""
        places = self.row * self.num_classes + self.column  # (nnz), rising
        classes = torch.arange(self.num_classes, device=y.device)
        wanted = y.unsqueeze(1) * self.num_classes + classes  # (m, C)
        entry = torch.searchsorted(places, wanted).clamp_(max=places.shape[0] - 1)
        return torch.where(places[entry] == wanted, self.value[entry], 0.0)

    def product(self, x: Tensor) -> Tensor:
        """``x @ matrix.T``, (m, C): for each row the sum of the columns of x, by its values."""
        result: Tensor = torch.nn.functional.embedding_bag(
            self.column,
            x.T.contiguous(),
            self.crow,
            mode="sum",
            per_sample_weights=self.value,
            include_last_offset=True,
        )  # (C, m)
        return result.T.contiguous()


_TRANSPOSED = Memo()


def transposed(matrix: Compressed) -> Compressed:
    """The transpose; the order of its entries is found once for as long as they stay."""
    crow, row, by_column = _TRANSPOSED.get([matrix.column, matrix.crow], lambda: _by_column(matrix))
    return Compressed(crow, row, matrix.value[by_column])


def _by_column(matrix: Compressed) -> tuple[Tensor, Tensor, Tensor]:
    """Where each column starts, and rows and places of the entries, by column."""
    column, by_column = matrix.column.sort(stable=True)
    ends = torch.arange(matrix.num_classes + 1, device=column.device)
    return torch.searchsorted(column, ends), matrix.row[by_column], by_column
