"""Similarities with few entries per row, for many classes."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .matrix import as_similarity

# Rows to hold at once: few enough that their memory is reused.
_CHUNK_ENTRIES = 1 << 21
# Beyond this many entries a matrix is no longer usefully sparse: 2.4 GB.
_MOST_ENTRIES = 200_000_000


class SparseSimilarity(Similarity):
    """Compressed rows: "crow" (C + 1), and for each entry "column" and "value" (nnz).

    Row i is the entries crow[i] to crow[i + 1], by rising column, and includes the diagonal.
    All other entries are 0. It may be asymmetric.
    """

    structure = "sparse"
    _columns: tuple[list[tuple[int, int]], tuple[Tensor, Tensor, Tensor]] | None = None

    def log_rows(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """The logarithm of the rows, (*, C); minus infinity where S is 0."""
        value = self.tensors["value"]
        wide = torch.promote_types(dtype, value.dtype)
        return self._filled(target, value.to(wide).log(), float("-inf"), dtype)

    def columns(self, target: Any, dtype: torch.dtype | None = None) -> Tensor:
        """The columns of S for the given classes, shape of `target` + (C); reads all entries."""
        target = self._index(target)
        if not _checks.values_can_be_read(target):
            value = self.tensors["value"].to(dtype or self._dtype())
            return self._searched(self._all_classes(), target.unsqueeze(-1), value, 0.0)
        wanted, place = target.reshape(-1).unique(return_inverse=True)
        column = self.tensors["column"]
        entries = torch.isin(column, wanted).nonzero().squeeze(1)
        row = torch.searchsorted(self.tensors["crow"], entries, right=True) - 1
        value = self.tensors["value"][entries].to(dtype or self._dtype())
        columns = value.new_zeros(wanted.numel(), self.num_classes)
        columns[torch.searchsorted(wanted, column[entries]), row] = value
        return columns[place].reshape(*target.shape, self.num_classes)

    def by_columns(self) -> tuple[Tensor, Tensor, Tensor]:
        """The same entries by rising column: the start of each column (C + 1), row, and entry."""
        crow, column = self.tensors["crow"], self.tensors["column"]
        # A tensor counts writes into it, so a stale result is never returned.
        state = [(id(each), each._version) for each in (crow, column) if not each.is_inference()]
        if len(state) == 2 and self._columns is not None and self._columns[0] == state:
            return self._columns[1]
        entry = column.argsort(stable=True)
        row = torch.searchsorted(crow, entry, right=True) - 1
        ccol = torch.zeros_like(crow)
        ccol[1:] = torch.bincount(column, minlength=self.num_classes).cumsum(0)
        self._columns = state, (ccol, row, entry)
        return self._columns[1]

    def normalized(self) -> "SparseSimilarity":
        lengths = self.tensors["crow"].diff()
        sums = self._row_sums(self._all_classes(), self.tensors["value"].dtype)
        value = self.tensors["value"] / sums.repeat_interleave(lengths)
        return SparseSimilarity(
            self.num_classes, {**self.tensors, "value": value}, names=self.names, kind="probability"
        )

    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self._filled(target, self.tensors["value"], 0.0, dtype)

    def _filled(self, target: Tensor, value: Tensor, rest: float, dtype: torch.dtype) -> Tensor:
        """Dense rows of `value`, with `rest` where there is no entry, (*, C)."""
        if not _checks.values_can_be_read(target):
            return self._searched(target.unsqueeze(-1), self._all_classes(), value.to(dtype), rest)
        crow, column = self.tensors["crow"], self.tensors["column"]
        flat = target.reshape(-1)
        start, lengths = crow[flat], crow[flat + 1] - crow[flat]
        row = torch.arange(flat.numel(), device=flat.device).repeat_interleave(lengths)
        first = lengths.cumsum(0) - lengths
        step = torch.arange(row.numel(), device=flat.device) - first[row]
        entries = start[row] + step
        rows = value.new_full((flat.numel(), self.num_classes), rest, dtype=dtype)
        rows[row, column[entries]] = value[entries].to(dtype)
        return rows.reshape(*target.shape, self.num_classes)

    def _searched(self, row: Tensor, column: Tensor, value: Tensor, rest: float) -> Tensor:
        """The same at any places, without reading a value: for devices and `vmap`."""
        lengths = self.tensors["crow"].diff()
        of_entry = self._all_classes().repeat_interleave(lengths, output_size=value.numel())
        places = of_entry * self.num_classes + self.tensors["column"]  # (nnz), rising
        wanted = row * self.num_classes + column
        entry = torch.searchsorted(places, wanted).clamp(max=value.numel() - 1)
        return torch.where(places[entry] == wanted, value[entry], rest)

    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        running = self.tensors["value"].to(self._wide()).cumsum(0)
        running = torch.cat([running.new_zeros(1), running])
        crow = self.tensors["crow"]
        return (running[crow[target + 1]] - running[crow[target]]).to(dtype)

    def _is_normalized_on_the_fly(self) -> bool:
        return False

    def _dtype(self) -> torch.dtype:
        return self.tensors["value"].dtype

    def _description(self) -> str:
        return f", {self.tensors['value'].numel():,} entries"


def sparse(similarity: Any, *, top_k: int | None = None) -> Similarity:
    r"""The rows of a similarity as a few entries each, for many classes.

    Keeps every entry above 0 (so everything above a builder's `lower_bound`), or only the
    `top_k` most similar other classes in each row. C x C is never held: 100,000
    classes with 100-dimensional vectors become sparse rows in well under 4 GB.

    Being the most similar class is not mutual, so with `top_k` the result is not symmetric;
    :func:`symmetrized` makes it so.

    Args:
        similarity: any similarity.
        top_k: the number of other classes to keep per row; None keeps all above 0.

    Example:
        >>> from simloss.similarity import embedding
        >>> S = sparse(embedding([[1, 0], [2, 1], [1, 1], [0, 1]]), top_k=1)
        >>> S
        sparse(4 classes, 8 entries)
        >>> S.to_dense()
        tensor([[1.0000, 0.8944, 0.0000, 0.0000],
                [0.0000, 1.0000, 0.9487, 0.0000],
                [0.0000, 0.9487, 1.0000, 0.0000],
                [0.0000, 0.0000, 0.7071, 1.0000]])
    """
    whole = as_similarity(similarity).detached()
    _checks.of_kind_similarity("similarity", whole.kind)
    if top_k is not None:
        top_k = _checks.class_count("top_k", top_k)
    rows = ((some, whole.rows(some)) for some in chunks(whole.num_classes))
    return from_rows(rows, whole.num_classes, top_k, whole.names)


def chunks(num_classes: int) -> tuple[Tensor, ...]:
    """All classes, in chunks whose rows fit in memory."""
    return torch.arange(num_classes).split(max(1, _CHUNK_ENTRIES // num_classes))


def from_rows(
    rows: Iterable[tuple[Tensor, Tensor]],
    num_classes: int,
    top_k: int | None,
    names: Sequence[str] | None,
) -> SparseSimilarity:
    """Sparse rows from chunks of the matrix: their classes (M), in order, and their rows (M, C)."""
    crow = torch.zeros(num_classes + 1, dtype=torch.long)
    columns, values = _Growing(), _Growing()
    for classes, part in rows:
        row, column, value = _entries(classes, part, top_k)
        crow[classes + 1] = torch.bincount(row, minlength=len(classes))
        columns.extend(column)
        values.extend(value)
        if values.length > _MOST_ENTRIES:
            raise ValueError(
                f"`similarity` must be sparse, but its rows hold more than {_MOST_ENTRIES:,} "
                f"entries; raise the lower bound or pass `top_k`."
            )
    tensors = {"crow": crow.cumsum(0), "column": columns.tensor(), "value": values.tensor()}
    return SparseSimilarity(num_classes, tensors, names=None if names is None else tuple(names))


class _Growing:
    """A tensor that grows at its end.

    A list of parts would sit between the large memory blocks that each chunk of rows allocates
    and frees, and keep them from being reused: gigabytes of holes.
    """

    def __init__(self) -> None:
        self.length = 0
        self._room = torch.empty(0)

    def extend(self, values: Tensor) -> None:
        end = self.length + values.numel()
        if end > self._room.numel():
            room = values.new_empty(max(2 * end, 1 << 22))  # unwritten pages take no memory
            room[: self.length] = self._room[: self.length]
            self._room = room
        self._room[self.length : end] = values
        self.length = end

    def tensor(self) -> Tensor:
        return self._room[: self.length].clone()


def _entries(classes: Tensor, part: Tensor, top_k: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """Row, column and value of the kept entries, by row and then column."""
    if top_k is None or top_k + 1 >= part.shape[1]:
        row, column = part.nonzero(as_tuple=True)
        return row, column, part[row, column]
    own = torch.arange(len(classes)), classes
    part[own] = 2.0  # the class itself comes first, even before interchangeable ones
    value, column = part.topk(top_k + 1, dim=1)  # (M, k + 1)
    column, by_column = column.sort(dim=1)
    value = value.gather(1, by_column).clamp(max=1)
    row, place = value.nonzero(as_tuple=True)
    return row, column[row, place], value[row, place]
