r"""The proper loss, fused.

With :math:`a = S p`, :math:`b = S t` and :math:`q = p / a` its value for a target t (one-hot for a
class) is :math:`\sum_i t_i (1 - \log a_i) - \sum_i q_i b_i`, and its gradient by z, for t of sum 1,

.. math:: p - \bigl(q\, b + p \cdot S^{\!\top} (t - q\, b) / a \bigr)
"""

import torch
from torch import Tensor

from .kernel import Correction, Kernel, Result
from .log_operator import LogOperator
from .operator import Operator


def _of_index(z: Tensor, p: Tensor, y: Tensor, S: Operator, wants_gradient: bool) -> Result:
    """Equals ``1 - a[y].log() - (p / a * S[:, y]).sum(-1)`` with ``a = p @ S.T``."""
    near = S.neighbourhood(y)
    if near is None:
        losses, correction = _of_class(p, y, S, wants_gradient)
    else:
        p = p.gather(1, near.column)
        losses, correction = _of_class(p, near.y, near.operator, wants_gradient)
        if correction is not None:
            correction = correction._replace(column=near.column)
    normalizers = S.normalizers(y)
    if normalizers is not None:
        losses += normalizers
    return losses, correction


def _of_class(p: Tensor, y: Tensor, S: Operator, wants_gradient: bool) -> Result:
    a, b, own = S.mixtures(p, into="mixtures"), S.columns(y), y.unsqueeze(1)
    unsound = _unsound(a, b, S)
    qb = b.mul_(p).div_(a)
    a_own = a.gather(1, own)  # (m, 1)
    losses = 1 - (a_own.log().squeeze(1) + qb.sum(-1))
    if unsound is not None:
        losses.masked_fill_(unsound, float("nan"))
    if not wants_gradient:
        return losses, None
    v = torch.div(qb, a, out=a).scatter_add_(1, own, -a_own.reciprocal_())  # (q b - t) / a
    return losses, Correction(qb.addcmul_(p, S.pullback(v, into="pullback"), value=-1))


def _of_distribution(z: Tensor, p: Tensor, t: Tensor, S: Operator, wants_gradient: bool) -> Result:
    """Equals ``(t * (1 - a.log()) - p / a * (t @ S.T)).sum(-1)`` with ``a = p @ S.T``."""
    a, b = S.mixtures(p), S.mixtures(t)
    unsound = _unsound(a, b, S, t)
    qb = b.mul(p).div_(a)
    losses = (t * (1 - a.log()) - qb).sum(-1)
    normalizers = S.normalizers()
    if normalizers is not None:
        losses += t @ normalizers
    if unsound is not None:
        losses.masked_fill_(unsound, float("nan"))
    if not wants_gradient:
        return losses, None
    pulled = S.pullback((t - qb).div_(a))
    return losses, Correction(qb.addcmul_(p, pulled))


def _unsound(a: Tensor, b: Tensor, S: Operator, t: Tensor | None = None) -> Tensor | None:
    """Rows where an a_i too close to underflow matters; `a` is then kept away from 0."""
    if a.amin() >= S.smallest:
        return None
    low = ~(a >= S.smallest)  # also NaN
    a.clamp_(min=S.smallest)
    unsound = torch.where(low, b.abs(), 0.0).sum(-1) > S.forgiven
    return unsound if t is None else unsound | (low & (t != 0)).any(-1)


def _log_of_index(z: Tensor, p: Tensor, y: Tensor, S: LogOperator, wants_gradient: bool) -> Result:
    """The same in log space."""
    t = S.own(y).to(z.dtype)
    return _log_of_target(z, t, S.columns(y), S, wants_gradient)


def _log_of_distribution(
    z: Tensor, p: Tensor, t: Tensor, S: LogOperator, wants_gradient: bool
) -> Result:
    """The same in log space."""
    return _log_of_target(z, t, S.mixtures(t), S, wants_gradient)


def _log_of_target(z: Tensor, t: Tensor, b: Tensor, S: LogOperator, wants_gradient: bool) -> Result:
    mixtures = S.log_mixtures(z)
    impossible = z == float("-inf")
    qb = torch.where(impossible, 0.0, b * (z - mixtures).exp())
    log_a = mixtures - z.logsumexp(-1, keepdim=True)
    losses = (torch.where(t == 0, 0.0, t * (1 - log_a)) - qb).sum(-1)
    return losses, Correction(qb + S.shared_out(t - qb, z, mixtures)) if wants_gradient else None


def _of_all_classes(z: Tensor, S: Tensor) -> tuple[Tensor, Tensor]:
    p = z.softmax(-1)
    a = p @ S.T
    return torch.addmm(a.log() - 1, p / a, S), a


PROPER_KERNEL = Kernel(
    _of_index, _of_distribution, _log_of_index, _log_of_distribution, _of_all_classes
)
