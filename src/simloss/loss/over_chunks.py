"""The last layer and a loss, with the logits of a few examples at a time.

Equals ``loss(F.linear(input, weight, bias), target, S)``. It holds the logits of one chunk,
overwritten by their gradient, and the gradients of input, weight and bias, to which every
chunk adds its share.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import _checks
from ..similarity import Similarity
from .contract import Formula, Options, suits
from .formula import dtypes, formula_loss
from .kernel import loss_and_gradient, scaled

# The number of logits to hold at once: 64 MB, enough rows for fast matrix products.
_CHUNK_ENTRIES = 1 << 24


class Linear(NamedTuple):
    """Features (N, D), and weight (C, D) and bias (C) of the last layer."""

    input: Tensor
    weight: Tensor
    bias: Tensor | None


def loss_over_chunks(
    formula: Formula, linear: Linear, target: Tensor, similarity: Similarity, options: Options
) -> Tensor:
    """The loss of the last layer's logits, and its gradients for all three of `linear`."""
    call = formula, target, similarity, options
    if torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in linear):
        loss: Tensor = LossOverChunks.apply(*linear, call)
        return loss
    return _computed(linear, call, [None, None, None])


class LossOverChunks(torch.autograd.Function):
    """Keeps the gradients, computed in the forward pass if it is known what scales them.

    The first backward pass scales them in place and hands them over; another one, or one of losses
    that were not reduced, computes them again.
    """

    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None, call: Any) -> Tensor:
        linear = Linear(input, weight, bias)
        _, target, similarity, options = ctx.call = call
        ctx.gradients = None
        found: list[Tensor | None] = [None, None, None]
        if options.reduction != "none":
            ctx.gradients = found = _memory(linear, ctx.needs_input_grad, target)
        ctx.save_for_backward(*linear, target, *similarity.tensors.values())
        return _computed(linear, call, found)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        gradients, ctx.gradients = ctx.gradients, None
        input, weight, bias, target, *tensors = ctx.saved_tensors
        formula, _, similarity, options = ctx.call
        similarity = similarity.with_tensors(dict(zip(similarity.tensors, tensors, strict=True)))
        linear = Linear(input, weight, bias)
        if torch.is_grad_enabled():
            loss = formula_loss(formula, F.linear(*linear), target, similarity, options)
            wanted = [each for each in linear if each is not None and each.requires_grad]
            found = iter(torch.autograd.grad(loss, wanted, grad_output, create_graph=True))
            needs = ctx.needs_input_grad[:3]
            return (*(next(found) if need else None for need in needs), None)
        if gradients is None:
            gradients = _memory(linear, ctx.needs_input_grad, target)
            if grad_output.ndim:  # nothing was reduced: each row has its own factor
                rows = grad_output.double()
                examples = options.example_weight
                rows = rows if examples is None else rows * examples
                options = options._replace(reduction="sum", example_weight=rows)
            _computed(linear, (formula, target, similarity, options), gradients)
        if not grad_output.ndim:
            gradients = [None if g is None else scaled(g, grad_output) for g in gradients]
        in_dtype = [
            None if gradient is None or each is None else gradient.to(each.dtype)
            for gradient, each in zip(gradients, linear, strict=True)
        ]
        return (*in_dtype, None)


def _memory(linear: Linear, needs: tuple[bool, ...], target: Tensor) -> list[Tensor | None]:
    """Memory for the gradients that are needed."""
    dtype = dtypes(linear.input, target)[0]
    return [
        torch.empty_like(each, dtype=dtype) if need and each is not None else None
        for each, need in zip(linear, needs, strict=False)
    ]


def _computed(linear: Linear, call: Any, gradients: list[Tensor | None]) -> Tensor:
    """The loss; fills the memory of the gradients."""
    formula, target, similarity, options = call
    dtype, answer = dtypes(linear.input, target)
    count, C = linear.input.shape[0], similarity.num_classes
    if options.reduction == "mean":
        options = _as_sum(target, C, options)
    wanted = any(each is not None for each in gradients)
    # The formula holds several arrays of the size of the logits, the kernel only one.
    entries = C if suits(formula, linear.input, similarity) else 4 * C
    step = max(1, min(count, _CHUNK_ENTRIES // entries))
    memory = linear.input.new_empty(step, C)
    losses = []
    with torch.no_grad(), torch.autocast(linear.input.device.type, enabled=False):
        for start in range(0, count, step):
            rows = slice(start, start + step)
            some = options
            if options.example_weight is not None:
                some = options._replace(example_weight=options.example_weight[rows])
            chunk = linear.input[rows]  # (m, D)
            logits = _logits(linear, chunk, memory[: chunk.shape[0]]).to(dtype)  # (m, C)
            loss, slope = _of_chunk(formula, logits, target[rows], similarity, some, wanted)
            losses.append(loss.to(dtype))
            if slope is not None:
                _add(gradients, slope, chunk, linear.weight, start)
    whole = torch.cat(losses) if options.reduction == "none" else torch.stack(losses).sum()
    return whole.to(answer)


def _of_chunk(
    formula: Formula,
    logits: Tensor,
    target: Tensor,
    similarity: Similarity,
    options: Options,
    wanted: bool,
) -> tuple[Tensor, Tensor | None]:
    """The loss of a chunk, and its gradient for the logits if requested."""
    if suits(formula, logits, similarity):
        return loss_and_gradient(
            formula, logits, target, similarity, options, wants_gradient=wanted, over=True
        )
    with torch.set_grad_enabled(wanted):
        leaf = logits.detach().requires_grad_(wanted)
        loss = formula_loss(formula, leaf, target, similarity, options)
        slope = torch.autograd.grad(loss, leaf)[0] if wanted else None
    return loss.detach(), slope


def _as_sum(target: Tensor, num_classes: int, options: Options) -> Options:
    """A mean as a sum in which each example counts its share of the whole."""
    if target.is_floating_point():
        counts = target.new_ones(target.shape[0], dtype=torch.float64)
        weights = counts
    else:
        counts = (target != options.ignore_index).double()
        _checks.target_range(target, num_classes, options.ignore_index)
        weights = counts
        if options.weight is not None:
            weights = counts * options.weight.double()[torch.where(counts > 0, target, 0).long()]
    if options.example_weight is not None:
        counts, weights = counts * options.example_weight, weights * options.example_weight
    return options._replace(reduction="sum", example_weight=counts / weights.sum())


def _logits(linear: Linear, chunk: Tensor, out: Tensor) -> Tensor:
    if linear.bias is None:
        return torch.mm(chunk, linear.weight.T, out=out)
    return torch.addmm(linear.bias, chunk, linear.weight.T, out=out)


def _add(
    gradients: list[Tensor | None], slope: Tensor, chunk: Tensor, weight: Tensor, start: int
) -> None:
    """Add the share of a chunk, whose gradient for the logits is `slope`, to the gradients."""
    by_input, by_weight, by_bias = gradients
    by_logits = slope.to(weight.dtype)  # (m, C)
    is_first = start == 0  # its memory is not filled yet
    if by_input is not None:
        by_input[start : start + chunk.shape[0]] = by_logits @ weight
    if by_weight is not None and by_weight.dtype == weight.dtype:
        by_weight.addmm_(by_logits.T, chunk, beta=0 if is_first else 1)
    elif by_weight is not None:
        _put(by_weight, by_logits.T @ chunk, is_first)
    if by_bias is not None:
        _put(by_bias, slope.sum(0), is_first)


def _put(to: Tensor, value: Tensor, is_first: bool) -> None:
    if is_first:
        to.copy_(value)
    else:
        to.add_(value)
