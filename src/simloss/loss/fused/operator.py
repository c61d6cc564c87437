"""What the fused losses ask of a similarity: rows, columns, S p and v S, each in linear space."""

from typing import NamedTuple

import torch
from torch import Tensor

# Entries of a part of the batch that is worked on at once: it should stay in the cache.
PART_ENTRIES = 1 << 20
# Entries of what is held for a moment where a part of the batch meets a part of S.
BLOCK_ENTRIES = 1 << 22


class Entries(NamedTuple):
    """Rows as the few entries that are not 0, (m, K); a column may come again with value 0."""

    column: Tensor
    value: Tensor


class Neighbourhood(NamedTuple):
    """All that matters around the true class y, as a similarity of fewer classes."""

    column: Tensor  # (m, K), the classes that matter
    y: Tensor  # (m), the place of the true class among them
    operator: "Operator"  # S between them


class Operator:
    r"""S on the CPU, in one dtype and in linear space, for m rows of a batch at a time.

    In linear space a sum :math:`a = \sum_c S_c p_c` loses what underflows, at most C times the
    smallest normal number. So where :math:`a` is at least `smallest`, which is that over the
    rounding error, the sum is as exact as any; :meth:`sound` turns the others into NaN, and their
    rows are done again in log space. With S_ii = 1 the term of class i in the proper loss of y is
    at most S_iy, so terms of up to `forgiven` are below rounding, whatever became of a_i.
    """

    def __init__(self, num_classes: int, dtype: torch.dtype, *, diagonal_is_one: bool) -> None:
        info = torch.finfo(dtype)
        self.num_classes = num_classes
        self.dtype = dtype
        self.smallest = num_classes * info.tiny / info.eps
        self.forgiven = info.eps if diagonal_is_one else 0.0

    def rows(self, y: Tensor) -> Tensor | Entries:
        """``S[y]``, (m, C), in memory that may be written over, until rows are asked for again."""
        raise NotImplementedError

    def columns(self, y: Tensor) -> Tensor:
        """``S[:, y].T``, (m, C), in memory as that of the rows."""
        raise NotImplementedError

    def mixtures(self, x: Tensor, *, into: str | None = None) -> Tensor:
        """``x @ S.T``, (m, C), in memory of its own or, where it can be, in the named scratch."""
        raise NotImplementedError

    def pullback(self, x: Tensor, *, into: str | None = None) -> Tensor:
        """``x @ S``, (m, C), likewise."""
        raise NotImplementedError

    def row_sums(self) -> Tensor:
        """``S.sum(1)``, (C)."""
        raise NotImplementedError

    def matrix(self) -> Tensor | None:
        """All of S as it stands in the loss, (C, C), where it is at hand."""
        return None

    def normalizers(self, y: Tensor | None = None) -> Tensor | None:
        """The log of what the rows of y (or all) are yet to be divided by: it adds to the loss."""
        return None

    def neighbourhood(self, y: Tensor) -> Neighbourhood | None:
        """Where S is 0 far from y: the classes that can have a part in the proper loss of y."""
        return None

    def rows_at_once(self) -> int:
        """Rows of the batch in a part."""
        return max(1, PART_ENTRIES // self.num_classes)

    def sound(self, a: Tensor) -> Tensor:
        """`a` where it is far from underflow, NaN elsewhere."""
        return torch.threshold(a, self.smallest, float("nan"))
