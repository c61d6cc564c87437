"""The loss against soft targets, fused: cross entropy against T, the rows of S over their sums."""

import torch
from torch import Tensor

from .kernel import Correction, Kernel, Result
from .log_operator import LogOperator
from .operator import Entries, Operator


def _of_index(z: Tensor, p: Tensor, y: Tensor, S: Operator, wants_gradient: bool) -> Result:
    """Equals ``-(S[y] / S[y].sum(-1, keepdim=True) * p.log()).sum(-1)``."""
    rows = S.rows(y)
    largest = z.amax(-1, keepdim=True)
    if isinstance(rows, Entries):
        value, column = rows.value, rows.column
        x = z.gather(1, column).sub_(largest)
    else:
        value, column = rows, None
        x = z - largest
    factor = value.sum(-1, keepdim=True).reciprocal_()  # (m, 1)
    # The largest logit is 0 in x, and its probability says what the logarithm of the sum is.
    losses = -(p.amax(-1).log() + x.mul_(value).sum(-1) * factor.squeeze(1))
    return losses, Correction(value, factor, column) if wants_gradient else None


def _of_distribution(z: Tensor, p: Tensor, t: Tensor, S: Operator, wants_gradient: bool) -> Result:
    """Equals ``-((t / S.sum(1)) @ S * p.log()).sum(-1)``."""
    wanted = S.pullback(t / S.row_sums())  # (m, C)
    x = z - z.amax(-1, keepdim=True)
    losses = -(t.sum(-1) * p.amax(-1).log() + x.mul_(wanted).sum(-1))
    return losses, Correction(wanted) if wants_gradient else None


def _log_of_index(z: Tensor, p: Tensor, y: Tensor, S: LogOperator, wants_gradient: bool) -> Result:
    """The same where a logit is -inf."""
    rows = S.rows(y)
    return _log_of_wanted(z, rows / rows.sum(-1, keepdim=True), wants_gradient)


def _log_of_distribution(
    z: Tensor, p: Tensor, t: Tensor, S: LogOperator, wants_gradient: bool
) -> Result:
    """The same where a logit is -inf."""
    return _log_of_wanted(z, S.pullback(t / S.row_sums()), wants_gradient)


def _log_of_wanted(z: Tensor, wanted: Tensor, wants_gradient: bool) -> Result:
    # A class that is impossible and not wanted costs nothing: here 0 times -inf is 0.
    losses = -torch.where(wanted == 0, 0.0, wanted * z.log_softmax(-1)).sum(-1)
    return losses, Correction(wanted) if wants_gradient else None


def _of_all_classes(z: Tensor, S: Tensor) -> tuple[Tensor, Tensor]:
    log_p = z.log_softmax(-1)
    return log_p @ (S / S.sum(1, keepdim=True)).T, log_p.detach().exp()


SOFT_TARGET_KERNEL = Kernel(
    _of_index,
    _of_distribution,
    _log_of_index,
    _log_of_distribution,
    _of_all_classes,
    needs_logits=True,
)
