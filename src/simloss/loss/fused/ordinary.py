"""The ordinary call: logits on the CPU, class indices, a mean or a sum, no more.

There the work of a small batch is done so soon that asking after everything else would take longer
than the loss itself. This way asks once whether the call is an ordinary one; any other, and any
that has a mistake in it, goes the long way.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ... import _checks
from ...similarity import Similarity
from .. import problem as _problem
from . import small
from .choose import operator
from .compute import compute
from .function import Plain, differentiable, scaled
from .kernel import apply
from .operator import Operator

_DTYPES = (torch.float32, torch.float64)
_NARROW = (torch.int32, torch.uint8, torch.int16, torch.int8)


class Call(NamedTuple):
    """What there is to know besides the logits, the target and the tensors of the similarity."""

    formula: "_problem.Formula"
    plain: Plain
    similarity: Similarity
    ignore_index: int
    reduction: str

    def problem(self, input: Tensor, target: Tensor, *tensors: Tensor) -> "_problem.Problem":
        """The same as the long way has it."""
        held = dict(zip(self.similarity.tensors, tensors, strict=True))
        return _problem.Problem(
            self.formula,
            input,
            target,
            self.similarity.with_tensors(held),
            None,
            self.ignore_index,
            self.reduction,
            0.0,
            0.0,
            input.dtype,
            input.dtype,
        )


def ordinary_loss(
    call: Call, input: Tensor, target: Tensor, weight: Tensor | None
) -> Tensor | None:
    """Equals ``call.plain(call.problem(...))``; None where the call is not an ordinary one."""
    if type(target) is Tensor and target.dtype in _NARROW:
        target = target.long()
    if not _is_ordinary(call, input, target):
        return None
    if input.ndim == 2 and small.is_small(input):
        return small.small_loss(call, input, target, weight)
    if weight is not None or call.reduction == "none":
        return None
    if not torch.is_grad_enabled() or not input.requires_grad:
        return None
    low, high = target.aminmax()
    first, last = int(low), int(high)
    some_ignored = first <= call.ignore_index <= last
    if input.ndim > 2:
        if not _can_stay_in_planes(call, input, target, some_ignored):
            return None
    elif first < 0 or last >= input.shape[1] or some_ignored:
        return None
    loss: Tensor = OrdinaryLoss.apply(input, target, call)
    return loss


def _can_stay_in_planes(call: Call, input: Tensor, target: Tensor, some_ignored: bool) -> bool:
    kernel = call.formula.kernel
    if kernel is None or kernel.in_planes is None:
        return False
    if operator(call.similarity, input.dtype).matrix() is None:
        return False
    _checks.target_range(target, input.shape[1], call.ignore_index)
    return not some_ignored or bool((target != call.ignore_index).any())


def _is_ordinary(call: Call, input: Tensor, target: Tensor) -> bool:
    if type(input) is not Tensor or type(target) is not Tensor or input.ndim < 2:
        return False
    batch = input.shape[:1] if input.ndim == 2 else input.shape[:1] + input.shape[2:]
    for tensor in call.similarity.tensors.values():
        if tensor.requires_grad or not tensor.is_cpu:
            return False
    return (
        input.dtype in _DTYPES
        and target.dtype == torch.long
        and input.shape[1] == call.similarity.num_classes
        and target.shape == batch
        and input.numel() > 0
        and input.is_cpu
        and target.is_cpu
        and input.is_contiguous()
        and target.is_contiguous()
        and call.reduction in _checks.REDUCTIONS
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()  # type: ignore[attr-defined]
        and not torch._C._are_functorch_transforms_active()
        and forward_ad._current_level < 0
        and not torch.is_autocast_enabled("cpu")
    )


class OrdinaryLoss(torch.autograd.Function):
    """As `FusedLoss`, which it falls back to, but for an ordinary call."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, target: Tensor, call: Call) -> Tensor:
        ctx.call = call
        ctx.save_for_backward(input, target, *call.similarity.tensors.values())
        loss, ctx.buffer = _computed(call, input, target)
        return loss

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        buffer, ctx.buffer = ctx.buffer, None
        if torch.is_grad_enabled():
            problem = ctx.call.problem(*ctx.saved_tensors)
            return differentiable(ctx.call.plain, problem, grad_output), None, None
        if buffer is None:
            buffer = _computed(ctx.call, *ctx.saved_tensors[:2])[1]
        return scaled(buffer, grad_output), None, None


def _computed(call: Call, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The loss and its gradient."""
    assert call.formula.kernel is not None
    S = operator(call.similarity, input.dtype)
    if input.ndim > 2:
        return _checked(call, input, target, *_in_planes(call, input, target, S))
    gradient = torch.empty_like(input)
    scale = 1.0 / input.shape[0] if call.reduction == "mean" else 1.0
    step, losses = S.rows_at_once(), []
    for start in range(0, input.shape[0], step):
        part = slice(start, start + step)
        losses.append(
            apply(
                call.formula.kernel,
                input[part],
                target[part],
                S,
                scale=scale,
                share=0.0,
                out=gradient[part],
                wants_gradient=True,
            )
        )
    all_losses = losses[0] if len(losses) == 1 else torch.cat(losses)
    loss = all_losses.mean() if call.reduction == "mean" else all_losses.sum()
    return _checked(call, input, target, loss, gradient)


def _in_planes(call: Call, input: Tensor, target: Tensor, S: Operator) -> tuple[Tensor, Tensor]:
    kernel, matrix = call.formula.kernel, S.matrix()
    assert kernel is not None
    assert kernel.in_planes is not None
    assert matrix is not None
    ignored = call.ignore_index if bool((target == call.ignore_index).any()) else None
    mean = call.reduction == "mean"
    return kernel.in_planes(input, target, S, matrix, ignored=ignored, mean=mean)


def _checked(
    call: Call, input: Tensor, target: Tensor, loss: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor]:
    """The loss and its gradient, again the long way if linear space was not enough for some."""
    if math.isnan(loss):
        problem = call.problem(input, target, *call.similarity.tensors.values())
        loss, again = compute(problem, wants_gradient=True)
        assert again is not None
        return loss, again
    return loss, gradient
