"""The autograd of a fused loss: the gradient is made in the forward pass and handed over."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..problem import Problem
from .choose import reads_values
from .compute import compute

Plain = Callable[[Problem], Tensor]


def fused_loss(problem: Problem, plain: Plain) -> Tensor:
    """Equals ``plain(problem)``, value and gradient."""
    if torch.is_grad_enabled() and problem.input.requires_grad:
        loss: Tensor = FusedLoss.apply(problem.input, problem, plain)
        return loss
    return compute(problem, wants_gradient=False)[0]


class FusedLoss(torch.autograd.Function):
    """Keeps one buffer of the size of the input: its gradient.

    The first backward pass scales the buffer in place and gives it away; another one computes it
    again. A backward pass that is itself to be differentiated goes through the plain formula.
    """

    @staticmethod
    def forward(ctx: Any, input: Tensor, problem: Problem, plain: Plain) -> Tensor:
        loss, ctx.buffer = compute(problem, wants_gradient=True)
        ctx.problem, ctx.plain, ctx.dtype = problem.without_input(), plain, input.dtype
        ctx.save_for_backward(*problem.tensors)
        return loss

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        buffer, ctx.buffer = ctx.buffer, None
        if torch.is_grad_enabled():
            return differentiable(ctx.plain, _problem(ctx), grad_output), None, None
        if buffer is None:
            buffer = compute(_problem(ctx), wants_gradient=True)[1]
        return scaled(buffer, grad_output).to(ctx.dtype), None, None


def scaled(buffer: Tensor, by: Tensor) -> Tensor:
    """``buffer * by``, over the buffer where that can be; `by` is a scalar or (N, d1, ..., dK)."""
    if by.ndim and buffer.ndim > 1:
        by = by.unsqueeze(1)
    if not reads_values(by) or torch._C._functorch.is_legacy_batchedtensor(by):
        return buffer * by
    if by.numel() == 1 and by.item() == 1:
        return buffer
    return buffer.mul_(by)


def _problem(ctx: Any) -> Problem:
    problem: Problem = ctx.problem.with_tensors(ctx.saved_tensors)
    return problem


def differentiable(plain: Plain, problem: Problem, grad_output: Tensor) -> Tensor:
    """The gradient by the input, through the plain formula: it can be differentiated again."""
    return torch.autograd.grad(plain(problem), problem.input, grad_output, create_graph=True)[0]
