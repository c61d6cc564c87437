"""SimLoss, fused."""

import torch
from torch import Tensor

from .kernel import Correction, Kernel, Result
from .log_operator import LogOperator
from .operator import Entries, Operator
from .planes import sim_in_planes


def _of_index(z: Tensor, p: Tensor, y: Tensor, S: Operator, wants_gradient: bool) -> Result:
    """Equals ``-(S[y] * p).sum(-1).log()``."""
    rows = S.rows(y)
    if isinstance(rows, Entries):
        column, mixed = rows.column, rows.value.mul_(p.gather(1, rows.column))
    else:
        column, mixed = None, rows.mul_(p)
    a = S.sound(mixed.sum(-1, keepdim=True))  # (m, 1)
    losses = a.log().neg_().squeeze(1)
    normalizers = S.normalizers(y)
    if normalizers is not None:
        losses += normalizers
    if not wants_gradient:
        return losses, None
    return losses, Correction(mixed, factor=a.reciprocal_(), column=column)


def _of_distribution(z: Tensor, p: Tensor, t: Tensor, S: Operator, wants_gradient: bool) -> Result:
    """Equals ``-(t * (p @ S.T).log()).sum(-1)``."""
    a = torch.where(t == 0, 1.0, S.sound(S.mixtures(p)))
    losses = -(t * a.log()).sum(-1)
    normalizers = S.normalizers()
    if normalizers is not None:
        losses += t @ normalizers
    if not wants_gradient:
        return losses, None
    return losses, Correction(S.pullback(t / a).mul_(p))


def _log_of_index(z: Tensor, p: Tensor, y: Tensor, S: LogOperator, wants_gradient: bool) -> Result:
    """Equals ``z.logsumexp(-1) - (z + S[y].log()).logsumexp(-1)``."""
    x = z + S.log_rows(y)
    losses = z.logsumexp(-1) - x.logsumexp(-1)
    if not wants_gradient:
        return losses, None
    dead = x.amax(-1, keepdim=True) == float("-inf")  # nothing possible is like y: cross entropy
    own = S.own(y).to(z.dtype)
    return losses, Correction(torch.where(dead, own, x.softmax(-1)))


def _log_of_distribution(
    z: Tensor, p: Tensor, t: Tensor, S: LogOperator, wants_gradient: bool
) -> Result:
    """Equals ``(t * (z.logsumexp(-1, keepdim=True) - (z.exp() @ S.T).log())).sum(-1)``."""
    mixtures = S.log_mixtures(z)
    losses = torch.where(t == 0, 0.0, t * (z.logsumexp(-1, keepdim=True) - mixtures)).sum(-1)
    return losses, Correction(S.shared_out(t, z, mixtures)) if wants_gradient else None


def _of_all_classes(z: Tensor, S: Tensor) -> tuple[Tensor, Tensor]:
    a = z.softmax(-1) @ S.T
    return a.log(), a


SIM_KERNEL = Kernel(
    _of_index,
    _of_distribution,
    _log_of_index,
    _log_of_distribution,
    _of_all_classes,
    in_planes=sim_in_planes,
)
