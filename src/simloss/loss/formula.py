"""A loss by its formula, in plain torch operations: any device, dtype, transform and derivative."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .. import _checks
from ..similarity import Similarity
from .mixture import log_total

if TYPE_CHECKING:
    from .contract import Formula, Options


def dtypes(input: Tensor, target: Tensor) -> tuple[torch.dtype, torch.dtype]:
    """The dtype for sums, and that of the result, as in cross entropy."""
    soft = target.is_floating_point()
    if not soft and input.dtype in (torch.float32, torch.float64):
        return input.dtype, input.dtype
    answer = torch.promote_types(input.dtype, target.dtype) if soft else input.dtype
    # Half precision is for storage; sums are computed in float32 or wider.
    sums = torch.promote_types(answer, torch.float32)
    is_autocast = input.device.type != "meta" and torch.is_autocast_enabled(input.device.type)
    return sums, sums if is_autocast else answer


def formula_loss(
    formula: "Formula", input: Tensor, target: Tensor, similarity: Similarity, options: "Options"
) -> Tensor:
    """The loss, differentiable in every way torch offers. The kernel must equal it."""
    sums, answer = dtypes(input, target)
    device = input.device.type
    if device != "meta" and torch.is_autocast_enabled(device):
        with torch.autocast(device, enabled=False):
            return _in_dtype(sums, formula, input, target, similarity, options).to(answer)
    return _in_dtype(sums, formula, input, target, similarity, options).to(answer)


def _in_dtype(
    sums: torch.dtype,
    formula: "Formula",
    input: Tensor,
    target: Tensor,
    similarity: Similarity,
    options: "Options",
) -> Tensor:
    z = _classes_last(input).to(sums)  # (M, C)
    # A shift does not change softmax, and keeps a small loss from drowning in large logits.
    z = z - z.detach().amax(-1, keepdim=True)
    weight, examples = (
        None if each is None else each.to(sums) for each in (options.weight, options.example_weight)
    )
    of = _of_probabilities if target.is_floating_point() else _of_indices
    losses, divisor = of(formula, z, target, similarity, options, weight, examples)
    if options.reduction == "none":
        shape = input.shape[:1] + input.shape[2:] if input.ndim > 1 else torch.Size()
        return losses.reshape(shape)
    total = losses.sum()
    return total if options.reduction == "sum" else total / divisor


def _of_indices(
    formula: "Formula",
    z: Tensor,
    target: Tensor,
    similarity: Similarity,
    options: "Options",
    weight: Tensor | None,
    examples: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """The loss of each row, 0 if it is ignored, and the divisor of their sum."""
    _checks.target_range(target, similarity.num_rows, options.ignore_index)
    y = target.reshape(-1).long()  # (M)
    counts = y != options.ignore_index
    y = torch.where(counts, y, 0)
    weights = counts.to(z.dtype) if weight is None else torch.where(counts, weight[y], 0.0)  # (M)
    if examples is not None:
        weights = weights * examples
    smoothing = options.label_smoothing
    if smoothing:
        each = _of_each_class(formula, z, similarity, options)  # (M, C)
        if similarity.num_rows == similarity.num_classes:
            losses = each.gather(-1, y.unsqueeze(-1)).squeeze(-1) * weights
        else:  # the target may be a node above the classes
            losses = _of_target(formula, z, y, similarity, options) * weights
        smooth = (each if weight is None else each * weight).mean(-1)
        smooth = smooth if examples is None else smooth * examples
        losses = (1 - smoothing) * losses + smoothing * smooth
    else:
        losses = _of_target(formula, z, y, similarity, options) * weights
    divisor = weights.sum()
    # Nothing counts: NaN, as in torch, not the infinity that smoothing over 0 would give.
    return torch.where(counts, losses, 0.0), torch.where(divisor == 0, float("nan"), divisor)


def _of_probabilities(
    formula: "Formula",
    z: Tensor,
    target: Tensor,
    similarity: Similarity,
    options: "Options",
    weight: Tensor | None,
    examples: Tensor | None,
) -> tuple[Tensor, Tensor]:
    smoothing = options.label_smoothing
    t = _classes_last(target).to(z.dtype)  # (M, C)
    t = t * (1 - smoothing) + smoothing / z.shape[-1]
    t = t if weight is None else t * weight
    losses = (_of_each_class(formula, z, similarity, options) * t).sum(-1)
    if examples is None:
        return losses, losses.new_tensor(losses.numel())
    return losses * examples, examples.sum()


def _of_target(
    formula: "Formula", z: Tensor, y: Tensor, similarity: Similarity, options: "Options"
) -> Tensor:
    share = options.cross_entropy_share
    losses = formula.of_target(z, y, similarity) if share < 1 else z.new_zeros(())
    if share:
        plain = log_total(z) - z.gather(-1, y.unsqueeze(-1)).squeeze(-1)
        losses = (1 - share) * losses + share * plain
    return losses if options.graph is None else losses + options.graph.penalty(z)


def _of_each_class(
    formula: "Formula", z: Tensor, similarity: Similarity, options: "Options"
) -> Tensor:
    share = options.cross_entropy_share
    losses = formula.of_each_class(z, similarity) if share < 1 else z.new_zeros(())
    if share:
        losses = (1 - share) * losses - share * z.log_softmax(-1)
    return losses if options.graph is None else losses + options.graph.penalty(z).unsqueeze(-1)


def _classes_last(tensor: Tensor) -> Tensor:
    """(C), (N, C) or (N, C, d1, ..., dK) to (M, C)."""
    if tensor.ndim == 1:
        return tensor.unsqueeze(0)
    return tensor.movedim(1, -1).flatten(0, -2) if tensor.ndim > 2 else tensor
