"""The parts of a fused loss: softmax once, the loss of each row, the gradient over the same memory.

With p = softmax(z), the gradient of every loss here is ``p - correction``, where the correction
says where probability should go. A kernel gives losses and corrections; `apply` does the rest.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .log_operator import LogOperator
from .operator import Operator


class Correction(NamedTuple):
    """What is subtracted from p, (m, C): ``value * factor``, or that at a few columns only."""

    value: Tensor  # (m, C), or (m, K) at `column`; in memory of its own
    factor: Tensor | None = None  # (m, 1)
    column: Tensor | None = None  # (m, K)


Result = tuple[Tensor, Correction | None]
Part = Callable[[Tensor, Tensor, Tensor, Any, bool], Result]


class Kernel(NamedTuple):
    """A loss of a part of a batch: of z, p (m, C), target, S and whether a gradient is wanted.

    Attributes:
        of_index: for true classes y (m), with an :class:`Operator`; NaN where it is not sound.
        of_distribution: for t (m, C), how much each class counts; the same.
        log_of_index: in log space, with a :class:`LogOperator`.
        log_of_distribution: the same.
        of_all_classes: of z and S (C, C), the negative loss for each class, (m, C), in operations
            that torch differentiates; and what must not be close to 0 for it to be right.
        needs_logits: whether z must outlive p, which is else written over it.
        in_planes: for logits (N, C, d1, ...) whose classes stay where they are, or None.
    """

    of_index: Part
    of_distribution: Part
    log_of_index: Part
    log_of_distribution: Part
    of_all_classes: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
    needs_logits: bool = False
    in_planes: Callable[..., tuple[Tensor, Tensor]] | None = None


def apply(
    kernel: Kernel,
    z: Tensor,
    target: Tensor,
    S: Operator | LogOperator,
    *,
    scale: Tensor | float,
    share: float,
    out: Tensor,
    wants_gradient: bool,
) -> Tensor:
    """The loss of each row, (m); `out` becomes the gradient by z, times `scale` (m, 1) or a number.

    Rows that are not sound in linear space have the loss NaN. `out` may be z itself where z is not
    needed for long, and where no gradient is wanted it is just memory to work in.
    """
    log_space = isinstance(S, LogOperator)
    log_p = z.log_softmax(-1) if log_space and share else None
    p = torch.softmax(z, -1, out=out)
    if target.is_floating_point():
        part = kernel.log_of_distribution if log_space else kernel.of_distribution
    else:
        part = kernel.log_of_index if log_space else kernel.of_index
    losses, correction = part(z, p, target, S, wants_gradient)
    if share:
        if not target.is_floating_point():  # of the true class alone, (m, 1)
            own = target.unsqueeze(-1)
            p, log_p = p.gather(-1, own), None if log_p is None else log_p.gather(-1, own)
        if log_p is None:
            log_p = S.sound(p).log_()  # type: ignore[union-attr]
        losses, correction = _blend(losses, correction, log_p, target, share)
    if correction is not None:
        _subtract(
            out, correction, scale, target.sum(-1, True) if target.is_floating_point() else None
        )
    return losses


def _blend(
    losses: Tensor, correction: Correction | None, log_p: Tensor, target: Tensor, share: float
) -> tuple[Tensor, Correction | None]:
    """(1 - share) times the loss plus share times cross entropy.

    `log_p` is (m, C), or (m, 1) of the true class where `target` says which that is.
    """
    if target.is_floating_point():
        plain = -torch.where(target == 0, 0.0, target * log_p).sum(-1)
    else:
        plain = -log_p.squeeze(-1)
    # Not by lerp, and nothing of 0 times: that makes NaN of two infinite losses.
    losses = losses * (1 - share) + plain * share if share < 1 else plain
    if correction is None:
        return losses, None
    value, factor, column = correction
    value = value.mul_(1 - share if factor is None else factor * (1 - share))
    if target.is_floating_point():
        if column is not None:
            value = torch.zeros_like(log_p).scatter_add_(1, column, value)
        return losses, Correction(value.add_(target, alpha=share))
    own = target.unsqueeze(-1)
    shares = torch.full_like(log_p, share)
    if column is None:
        return losses, Correction(value.scatter_add_(1, own, shares))
    return losses, Correction(torch.cat([value, shares], 1), column=torch.cat([column, own], 1))


def _subtract(
    out: Tensor, correction: Correction, scale: Tensor | float, total: Tensor | None
) -> None:
    """``out = scale * (out * total - value * factor)``, over `out`, which holds p."""
    factor = -scale if correction.factor is None else correction.factor.mul_(-scale)
    value = correction.value.mul_(factor)
    of_p = scale if total is None else total * scale
    if correction.column is not None:
        out.mul_(of_p).scatter_add_(1, correction.column, value)
    elif isinstance(of_p, Tensor):
        out.mul_(of_p).add_(value)
    else:
        torch.add(value, out, alpha=of_p, out=out)
