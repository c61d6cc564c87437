"""Turns the columns of a table into inputs of a net, fitted on the training part only."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import torch
from torch import Tensor

from .._schema import Finite, misfit
from .columns import MOST_CATEGORIES, Column

# A number outside float32 would become infinite.
_LARGEST = 1e30


class _PlainColumn(TypedDict):
    """A column, as JSON."""

    name: str
    kind: Literal["number", "date", "rank", "category", "vector", "text"]
    words: list[str]
    form: str | None
    has_missing: bool
    size: NotRequired[Annotated[int, lambda size: 1 <= size < 2**20]]


class _Plain(TypedDict):
    """An encoder, as JSON."""

    columns: list[_PlainColumn]
    medians: list[Finite]
    kept: list[list[int]]
    ranges: NotRequired[list[Annotated[list[Finite], lambda ends: len(ends) in (0, 2)]]]


@dataclass(frozen=True)
class Encoder:
    """Fills gaps, and spreads categories over columns of 0 and 1.

    A number is taken relative to the median of the training part, which also replaces a missing
    one. The 30 most frequent categories in the training part get a column each. The others share
    one; if the file has at most 30, a category that no training example has is 0 in all columns.
    A column with gaps gets a second one that marks them. So the number of inputs depends on the
    file, and every value in them on the training part. The numbers of a vector or an encoded text
    stay as they are; a missing one is 0.

    Attributes:
        columns: those of the table.
        medians: one per column; 0 for a category.
        kept: for each column, the categories with a column of their own.
        ranges: for each column, the lowest and the highest number of the training part; empty for
            a category.

    Example:
        >>> import torch
        >>> columns = (Column("size", "number", has_missing=True), Column("sex", "category", "fm"))
        >>> table = torch.tensor([[1.0, 0], [3, 1], [torch.nan, 1]], dtype=torch.float64)
        >>> Encoder.fit(columns, table, torch.tensor([0, 1]))(table)
        tensor([[0., 0., 1., 0.],
                [2., 0., 0., 1.],
                [0., 1., 0., 1.]])
    """

    columns: tuple[Column, ...]
    medians: tuple[float, ...]
    kept: tuple[tuple[int, ...], ...]
    ranges: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def fit(cls, columns: tuple[Column, ...], table: Tensor, indices: Tensor) -> "Encoder":
        """Fit on the rows `indices` of the table's numbers (N, K), NaN if empty."""
        some = table[indices]
        medians, kept, ranges = [], [], []
        for column, cells in by_column(columns, some):
            present = cells[~cells.isnan()]
            is_category = column.kind == "category"
            is_one_number = not is_category and cells.ndim == 1
            medians.append(_median(present) if is_one_number else 0.0)
            kept.append(_most_frequent(present) if is_category else ())
            ranges.append(_range(present) if is_one_number else ())
        return cls(columns, tuple(medians), tuple(kept), tuple(ranges))

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns)

    def __call__(self, table: Tensor) -> Tensor:
        """The inputs of a net, float32 (N, D)."""
        pieces = []
        for at, (column, cells) in enumerate(by_column(self.columns, table)):
            if column.kind == "category":
                pieces += self._category(cells, at)
            else:
                pieces.append((cells - self.medians[at]).nan_to_num(0.0).clamp(-_LARGEST, _LARGEST))
            if column.has_missing:
                pieces.append((cells[:, 0] if cells.ndim > 1 else cells).isnan())
        return torch.cat([piece.float().view(len(table), -1) for piece in pieces], dim=1)  # (N, D)

    def _category(self, cells: Tensor, at: int) -> list[Tensor]:
        words = len(self.columns[at].words)
        own = [cells == code for code in self.kept[at]]
        own += [torch.zeros_like(cells)] * (min(words, MOST_CATEGORIES) - len(own))
        if words <= MOST_CATEGORIES:
            return own
        is_kept = torch.stack(own).any(0)
        return [*own, ~is_kept & ~cells.isnan()]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain = asdict(self)
        return plain if self.ranges else {k: v for k, v in plain.items() if k != "ranges"}

    @classmethod
    def from_dict(cls, plain: Any) -> "Encoder":
        """The reverse of `as_dict`; ValueError for anything else."""
        wrong = misfit(plain, _Plain)
        if wrong is not None or len({len(each) for each in plain.values()}) != 1:
            off = wrong or "length"
            raise ValueError(f"`encoder` must describe columns, but its {off!r} does not fit.")
        known = _PlainColumn.__annotations__
        listed = [{key: each[key] for key in known if key in each} for each in plain["columns"]]
        columns = [Column(**{**each, "words": tuple(each["words"])}) for each in listed]
        kept = tuple(tuple(codes) for codes in plain["kept"])
        ranges = tuple(tuple(ends) for ends in plain.get("ranges", ()))
        return cls(tuple(columns), tuple(plain["medians"]), kept, ranges)


def by_column(columns: Sequence[Column], table: Tensor) -> Iterator[tuple[Column, Tensor]]:
    """Each column with its cells, (N), or (N, size) of a vector or text."""
    sizes = [column.size for column in columns]
    for column, cells in zip(columns, table.split(sizes, dim=1), strict=True):
        yield column, cells if column.kind in ("vector", "text") else cells[:, 0]


def _median(present: Tensor) -> float:
    return float(present.median()) if len(present) else 0.0


def _range(present: Tensor) -> tuple[float, ...]:
    return (float(present.min()), float(present.max())) if len(present) else ()


def _most_frequent(codes: Tensor) -> tuple[int, ...]:
    """The most frequent categories, by number."""
    found, counts = codes.long().unique(return_counts=True)
    most = counts.argsort(descending=True, stable=True)[:MOST_CATEGORIES]
    return tuple(sorted(found[most].tolist()))
