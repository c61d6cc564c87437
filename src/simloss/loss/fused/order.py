r"""An S of powers, :math:`r^{|i - j|}`: rows read from one table, S p in O(C).

The table holds the 2C - 1 powers :math:`r^{C-1}, ..., r, 1, r, ..., r^{C-1}`; row y is the C of
them that begin at C - 1 - y, so all of S is a view of it.
"""

import math
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from ...similarity.order import OrderSimilarity
from .operator import Entries, Neighbourhood, Operator
from .powers import PowerProduct
from .scratch import scratch

# A window is worth its indices where it holds at most this share of the classes.
_WINDOW_SHARE = 0.25
# Up to here S is held as it is: 1 MB.
_STORED_UP_TO = 512


def order_operator(similarity: OrderSimilarity, dtype: torch.dtype) -> "OrderOperator":
    """The operator of a similarity, made once for each r: a change of r is seen by its value."""
    r = float(similarity.tensors["r"])
    return _order_operator(similarity.num_classes, r, dtype, similarity.kind)


@lru_cache(maxsize=8)
def _order_operator(num_classes: int, r: float, dtype: torch.dtype, kind: str) -> "OrderOperator":
    with torch.inference_mode(False), torch.no_grad():
        return OrderOperator(num_classes, r, dtype, kind)


class OrderOperator(Operator):
    """S_ij = r^|i - j|, normalised or not: it works on the powers themselves."""

    def __init__(self, num_classes: int, r: float, dtype: torch.dtype, kind: str) -> None:
        tensors = {"r": torch.tensor(r, dtype=torch.float64)}
        super().__init__(num_classes, dtype, diagonal_is_one=True)
        self.similarity = OrderSimilarity(num_classes, tensors, kind=kind)
        powers = tensors["r"].pow(torch.arange(num_classes)).to(dtype)
        self._table = torch.cat([powers.flip(0), powers[1:]])
        rows = self._table.unfold(0, num_classes, 1)  # row y is at C - 1 - y
        self._rows = rows.flip(0).contiguous() if num_classes <= _STORED_UP_TO else None
        # The distance from which on a power is below the smallest normal number.
        tiny = torch.finfo(dtype).tiny
        self._reach = math.ceil(math.log(tiny) / math.log(r)) if r else 0
        self._r = r

    def rows(self, y: Tensor) -> Tensor | Entries:
        width = 2 * self._reach + 1
        if self._rows is not None or width > _WINDOW_SHARE * self.num_classes:
            return self.columns(y)
        first, column = self._window(y, width)
        return Entries(column, self._windows(width, self.num_classes - 1 - y + first))

    def columns(self, y: Tensor) -> Tensor:
        if self._rows is not None:
            return _selected(self._rows, y)
        return self._windows(self.num_classes, self.num_classes - 1 - y)

    def matrix(self) -> Tensor | None:
        return self._rows if self.similarity.kind == "similarity" else None

    def mixtures(self, x: Tensor, *, into: str | None = None) -> Tensor:
        return self._product(x, into)

    def pullback(self, x: Tensor, *, into: str | None = None) -> Tensor:
        return self._product(x, into)  # symmetric

    def row_sums(self) -> Tensor:
        return self.similarity._row_sums(torch.arange(self.num_classes), self.dtype)

    def normalizers(self, y: Tensor | None = None) -> Tensor | None:
        if self.similarity.kind == "similarity":
            return None
        y = torch.arange(self.num_classes) if y is None else y
        return self.similarity._row_sums(y, torch.float64).log().to(self.dtype)

    def neighbourhood(self, y: Tensor) -> Neighbourhood | None:
        # A class within reach of y has a part; so have the classes within reach of that one.
        width = 4 * self._reach + 1
        if self._rows is not None or width > _WINDOW_SHARE * self.num_classes:
            return None
        first, column = self._window(y, width)
        smaller = _order_operator(width, self._r, self.dtype, "similarity")
        return Neighbourhood(column, y - first, smaller)

    @cached_property
    def _product(self) -> PowerProduct:
        return PowerProduct(self.num_classes, self._r, self.dtype)

    def _window(self, y: Tensor, width: int) -> tuple[Tensor, Tensor]:
        """First class and all classes of a window around y, (m) and (m, width)."""
        first = (y - width // 2).clamp_(0, self.num_classes - width)
        return first, first.unsqueeze(1) + torch.arange(width)

    def _windows(self, width: int, start: Tensor) -> Tensor:
        return _selected(self._table.unfold(0, width, 1), start)


def _selected(rows: Tensor, which: Tensor) -> Tensor:
    out = scratch("rows", (which.shape[0], rows.shape[1]), rows.dtype)
    return torch.index_select(rows, 0, which, out=out)
