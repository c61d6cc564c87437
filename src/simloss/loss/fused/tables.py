"""Many losses at once, each row of logits with a row of S of its own: nets trained side by side.

These give losses and the gradient by the logits, and leave the rest to the caller; nothing is
checked. Each is exact as the losses themselves are: rows that underflow in linear space are done
again in log space.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from .kernel import Kernel, apply
from .log_operator import LogOperator
from .operator import BLOCK_ENTRIES, PART_ENTRIES, Operator
from .proper import PROPER_KERNEL
from .sim import SIM_KERNEL
from .soft_target import SOFT_TARGET_KERNEL


def sim_rows(
    z: Tensor,
    table: Tensor,
    row: Tensor,
    *,
    log_table: Tensor | None = None,
    scale: Tensor | float = 1.0,
) -> tuple[Tensor, Tensor]:
    r"""SimLoss of M rows of logits, each with its own row of a table, and its gradient.

    Equals ``-(table[row] * z.softmax(-1)).sum(-1).log()``. With K = T C rows, `table` holds S for
    T values of r one below the other, and `row` is ``t * C + y``, y the true class.

    Args:
        z: logits, (M, C), float32 or float64.
        table: rows of similarities of the same dtype, (K, C).
        row: the row of the table for each row of logits, (M).
        log_table: its logarithm, (K, C), for similarities too small for their dtype.
        scale: what the gradient of each row is multiplied by, (M) or a number.

    Returns:
        The losses, (M), and ``scale * (p - table[row] * p / a)``, (M, C).

    Example:
        >>> import torch
        >>> from simloss.similarity import order
        >>> table = torch.cat([order(3, r).to_dense() for r in (0.0, 0.5)])
        >>> losses, gradient = sim_rows(torch.zeros(2, 3), table, torch.tensor([1, 3 + 1]))
        >>> losses
        tensor([1.0986, 0.4055])
        >>> gradient
        tensor([[ 0.3333, -0.6667,  0.3333],
                [ 0.0833, -0.1667,  0.0833]])
    """
    step = max(1, PART_ENTRIES // z.shape[1])
    return _run(
        SIM_KERNEL, z, row, _Table(table), lambda _: _LogTable(table, log_table), scale, step
    )


def soft_target_rows(
    z: Tensor, table: Tensor, row: Tensor, *, scale: Tensor | float = 1.0
) -> tuple[Tensor, Tensor]:
    r"""Cross entropy of M rows of logits against rows of a table over their sums, as `sim_rows`.

    Equals ``-(T[row] * z.log_softmax(-1)).sum(-1)`` with ``T = table / table.sum(-1, True)``.

    Example:
        >>> import torch
        >>> losses, gradient = soft_target_rows(
        ...     torch.zeros(1, 2), torch.tensor([[1.0, 0.25]]), torch.tensor([0])
        ... )
        >>> gradient
        tensor([[-0.3000,  0.3000]])
    """
    step = max(1, PART_ENTRIES // z.shape[1])
    return _run(
        SOFT_TARGET_KERNEL, z, row, _Table(table), lambda _: _LogTable(table, None), scale, step
    )


def proper_batch(
    z: Tensor,
    y: Tensor,
    similarity: Tensor,
    *,
    log_similarity: Tensor | None = None,
    scale: Tensor | float = 1.0,
) -> tuple[Tensor, Tensor]:
    r"""The proper loss of T batches of logits, each with its own S, and its gradient.

    Equals ``1 - a[y].log() - (p / a * S[:, y]).sum(-1)`` with ``a = p @ S.mT`` in every batch.

    Args:
        z: logits, (T, n, C), float32 or float64.
        y: true classes, (T, n).
        similarity: S with diagonal 1 of the same dtype, (T, C, C).
        log_similarity: its logarithm, (T, C, C), for similarities too small for their dtype.
        scale: what the gradient of each row is multiplied by, (T, n) or a number.

    Returns:
        The losses, (T, n), and the gradient by z times `scale`, (T, n, C).

    Example:
        >>> import torch
        >>> from simloss.similarity import order
        >>> S = torch.stack([order(3, r).to_dense() for r in (0.0, 0.5)])
        >>> losses, _ = proper_batch(torch.zeros(2, 1, 3), torch.tensor([[1], [1]]), S)
        >>> losses
        tensor([[1.0986],
                [0.3340]])
    """
    T, n, C = z.shape
    batch = torch.arange(T, device=z.device).repeat_interleave(n)  # (T n)

    def again(rows: Tensor) -> LogOperator:
        which = batch[rows]
        own = similarity[which]  # (k, C, C)
        return _LogStack(own, own.log() if log_similarity is None else log_similarity[which])

    scale = scale.reshape(-1) if isinstance(scale, Tensor) else scale
    losses, gradient = _run(
        PROPER_KERNEL,
        z.reshape(-1, C),
        y.reshape(-1),
        _Stack(similarity, batch),
        again,
        scale,
        T * n,
    )
    return losses.view(T, n), gradient.view(T, n, C)


def _run(
    kernel: Kernel,
    z: Tensor,
    target: Tensor,
    S: Operator,
    log_S: Callable[[Tensor], LogOperator],
    scale: Tensor | float,
    step: int,
) -> tuple[Tensor, Tensor]:
    """All rows in parts of `step`, and those that are unsound again in log space."""
    gradient = torch.empty_like(z)

    def part(rows: slice | Tensor, S: Operator | LogOperator, out: Tensor) -> Tensor:
        by = scale[rows].unsqueeze(1) if isinstance(scale, Tensor) else scale
        return apply(
            kernel, z[rows], target[rows], S, scale=by, share=0.0, out=out, wants_gradient=True
        )

    starts = range(0, z.shape[0], step)
    parts = [slice(start, start + step) for start in starts]
    losses = torch.cat([part(rows, S, gradient[rows]) for rows in parts])
    if math.isnan(losses.sum()):
        unsound = losses.isnan().nonzero().squeeze(1)
        for rows in unsound.split(max(1, BLOCK_ENTRIES // z.shape[1] ** 2)):
            out = torch.empty_like(z[rows])
            losses[rows] = part(rows, log_S(rows), out)
            gradient[rows] = out
    return losses, gradient


class _Table(Operator):
    """Rows of a table; there is no S, so nothing else can be asked."""

    def __init__(self, table: Tensor) -> None:
        super().__init__(table.shape[1], table.dtype, diagonal_is_one=True)
        self._table = table

    def rows(self, y: Tensor) -> Tensor:
        return self._table.index_select(0, y)


class _LogTable(LogOperator):
    def __init__(self, table: Tensor, log_table: Tensor | None) -> None:
        self.num_classes = table.shape[1]
        self._table, self._log_table = table, log_table

    def rows(self, y: Tensor) -> Tensor:
        return self._table[y]

    def log_rows(self, y: Tensor) -> Tensor:
        return self._table[y].log() if self._log_table is None else self._log_table[y]

    def own(self, y: Tensor) -> Tensor:
        return super().own(y % self.num_classes)


class _Stack(Operator):
    """One S a batch, (T, C, C); the rows of a batch stand together."""

    def __init__(self, similarity: Tensor, batch: Tensor) -> None:
        super().__init__(similarity.shape[1], similarity.dtype, diagonal_is_one=True)
        self._similarity, self._batch = similarity, batch

    def columns(self, y: Tensor) -> Tensor:
        columns = self._similarity.mT.reshape(-1, self.num_classes)
        return columns.index_select(0, self._batch * self.num_classes + y)

    def mixtures(self, x: Tensor, *, into: str | None = None) -> Tensor:
        return self._times(x, self._similarity.mT)

    def pullback(self, x: Tensor, *, into: str | None = None) -> Tensor:
        return self._times(x, self._similarity)

    def _times(self, x: Tensor, matrices: Tensor) -> Tensor:
        batches = x.view(matrices.shape[0], -1, self.num_classes)
        return torch.bmm(batches, matrices).view_as(x)


class _LogStack(LogOperator):
    """One S a row, (k, C, C)."""

    def __init__(self, similarity: Tensor, log_similarity: Tensor) -> None:
        self.num_classes = similarity.shape[1]
        self._similarity, self._log_similarity = similarity, log_similarity

    def columns(self, y: Tensor) -> Tensor:
        return self._similarity[torch.arange(y.shape[0], device=y.device), :, y]

    def log_mixtures(self, z: Tensor) -> Tensor:
        mixtures = (z.unsqueeze(1) + self._log_similarity).logsumexp(-1)
        return torch.where(mixtures == float("-inf"), z, mixtures)

    def shared_out(self, k: Tensor, z: Tensor, log_mixtures: Tensor) -> Tensor:
        x = z.unsqueeze(1) + self._log_similarity  # (k, C, C)
        dead = x.amax(-1, keepdim=True) == float("-inf")
        own = torch.eye(self.num_classes, dtype=z.dtype, device=z.device)
        shares = torch.where(dead, own, torch.where(dead, 0.0, x).softmax(-1))
        return torch.bmm(k.unsqueeze(1), shares).squeeze(1)
