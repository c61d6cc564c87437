"""The last layer and a loss, fused: the logits of a few examples at a time, then their gradients.

Equals ``loss(F.linear(input, weight, bias), target, S)``. What is held is the logits of a chunk,
and the gradients of input, weight and bias, to which every chunk adds its share.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..problem import Problem
from .compute import reduced, without_autocast
from .function import scaled
from .targets import targets_of
from .worker import Worker, row_scale

# Logits held at a time: 64 MB, enough rows for the matrix products to be quick.
_CHUNK_ENTRIES = 1 << 24


class Linear(NamedTuple):
    """Features (N, D), and weight (C, D) and bias (C) of the last layer."""

    input: Tensor
    weight: Tensor
    bias: Tensor | None


class Gradients(NamedTuple):
    """By input, weight and bias, in the dtype sums are taken in; None where none is wanted."""

    input: Tensor | None
    weight: Tensor | None
    bias: Tensor | None


NO_GRADIENTS = Gradients(None, None, None)
Plain = Callable[[Problem, Linear], Tensor]


def fused_linear_loss(problem: Problem, linear: Linear, plain: Plain) -> Tensor:
    """Equals ``plain(problem, linear)``, value and gradients."""
    if torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in linear):
        loss: Tensor = FusedLinearLoss.apply(*linear, problem, plain)
        return loss
    return _compute(problem, linear, NO_GRADIENTS, None)


class FusedLinearLoss(torch.autograd.Function):
    """Keeps the gradients, which are made in the forward pass where it is known what scales them.

    The first backward pass scales them in place and gives them away; another one, or one of losses
    that were not reduced, computes them again.
    """

    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        problem: Problem,
        plain: Plain,
    ) -> Tensor:
        linear = Linear(input, weight, bias)
        ctx.gradients = None
        if problem.reduction != "none":
            ctx.gradients = _memory(linear, ctx.needs_input_grad, problem.dtype)
        ctx.problem, ctx.plain = problem.without_input(), plain
        ctx.save_for_backward(weight, bias, *problem.tensors)
        return _compute(problem, linear, ctx.gradients or NO_GRADIENTS, None)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        gradients, ctx.gradients = ctx.gradients, None
        if torch.is_grad_enabled():
            return (*_differentiable(ctx, grad_output), None, None)
        problem, linear = _saved(ctx)
        if gradients is None:
            gradients = _memory(linear, ctx.needs_input_grad, problem.dtype)
            per_row = grad_output if grad_output.ndim else None
            _compute(problem, linear, gradients, per_row)
        if not grad_output.ndim:
            gradients = [None if g is None else scaled(g, grad_output) for g in gradients]
        in_dtype = [
            None if gradient is None or each is None else gradient.to(each.dtype)
            for gradient, each in zip(gradients, linear, strict=True)
        ]
        return (*in_dtype, None, None)


def _saved(ctx: Any) -> tuple[Problem, Linear]:
    weight, bias, *tensors = ctx.saved_tensors
    problem: Problem = ctx.problem.with_tensors(tensors)
    return problem, Linear(problem.input, weight, bias)


def _differentiable(ctx: Any, grad_output: Tensor) -> list[Tensor | None]:
    problem, linear = _saved(ctx)
    needs = ctx.needs_input_grad[:3]
    wanted = [each for each, need in zip(linear, needs, strict=True) if need and each is not None]
    loss = ctx.plain(problem, linear)
    found = iter(torch.autograd.grad(loss, wanted, grad_output, create_graph=True))
    return [next(found) if need else None for need in needs]


def _memory(linear: Linear, needs: tuple[bool, ...], dtype: torch.dtype) -> Gradients:
    """Memory for the gradients that are needed."""
    return Gradients(
        *(
            torch.empty_like(each, dtype=dtype) if need and each is not None else None
            for each, need in zip(linear, needs, strict=False)
        )
    )


def _compute(
    problem: Problem, linear: Linear, gradients: Gradients, per_row: Tensor | None
) -> Tensor:
    """The loss; the memory of the gradients is filled.

    `per_row` is what comes in for each loss that was not reduced, (N).
    """
    targets = targets_of(problem)
    scale = row_scale(targets, problem.reduction)
    if per_row is not None:
        scale = scale * per_row.to(problem.dtype).unsqueeze(1)
    worker = Worker(problem, targets, scale)
    count = linear.input.shape[0]
    step = max(1, min(count, _CHUNK_ENTRIES // worker.num_classes))
    logits = linear.input.new_empty(step, worker.num_classes)
    with without_autocast(linear.input):
        starts = range(0, count, step)
        found = [_of_chunk(worker, linear, gradients, start, logits) for start in starts]
    losses = torch.cat(found)
    return reduced(losses, losses.sum(), targets, problem)


def _of_chunk(
    worker: Worker, linear: Linear, gradients: Gradients, start: int, logits: Tensor
) -> Tensor:
    """The losses of the rows from `start` on, (m), with their share of the gradients."""
    wants_gradient = any(each is not None for each in gradients)
    chunk = linear.input[start : start + logits.shape[0]]  # (m, D)
    z = _logits(linear, chunk, logits[: chunk.shape[0]]).to(worker.dtype)  # (m, C)
    losses = worker.losses_over(z, start, wants_gradient=wants_gradient)
    if worker.may_be_unsound and math.isnan(losses.sum()):
        unsound = losses.isnan().nonzero().squeeze(1)
        some = chunk[unsound]
        again = _logits(linear, some, some.new_empty(some.shape[0], z.shape[1])).to(worker.dtype)
        losses[unsound], z[unsound] = worker.losses_again(
            again, unsound + start, wants_gradient=wants_gradient
        )
    _add(gradients, z, chunk, linear.weight, start)
    return losses


def _logits(linear: Linear, chunk: Tensor, out: Tensor) -> Tensor:
    if linear.bias is None:
        return torch.mm(chunk, linear.weight.T, out=out)
    return torch.addmm(linear.bias, chunk, linear.weight.T, out=out)


def _add(gradients: Gradients, z: Tensor, chunk: Tensor, weight: Tensor, start: int) -> None:
    """The share of a chunk, whose gradient by the logits is z, in the gradients."""
    by_logits = z.to(weight.dtype)  # (m, C)
    if gradients.input is not None:
        gradients.input[start : start + chunk.shape[0]] = by_logits @ weight
    is_first = start == 0  # and finds memory that is not yet filled
    if gradients.weight is not None and gradients.weight.dtype == weight.dtype:
        gradients.weight.addmm_(by_logits.T, chunk, beta=0 if is_first else 1)
    elif gradients.weight is not None:
        _put(gradients.weight, by_logits.T @ chunk, is_first)
    if gradients.bias is not None:
        _put(gradients.bias, z.sum(0), is_first)


def _put(to: Tensor, value: Tensor, is_first: bool) -> None:
    if is_first:
        to.copy_(value)
    else:
        to.add_(value)
