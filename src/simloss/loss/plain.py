"""A loss by its formula in log space: what every fused loss must equal, and their stand-in."""

import torch
from torch import Tensor

from .problem import Problem


def plain_loss(problem: Problem) -> Tensor:
    """The loss of a problem, differentiable in every way torch knows."""
    device = problem.input.device.type
    if device != "meta" and torch.is_autocast_enabled(device):
        with torch.autocast(device, enabled=False):
            return plain_loss(problem)
    z = _classes_last(problem.input).to(problem.dtype)  # (M, C)
    # A shift leaves softmax as it is, and keeps a small loss from drowning in large logits.
    z = z - z.detach().amax(-1, keepdim=True)
    weight = None if problem.weight is None else problem.weight.to(problem.dtype)
    examples = problem.example_weight
    examples = None if examples is None else examples.to(problem.dtype)
    of = _of_indices if problem.has_indices else _of_probabilities
    losses, divisor = of(problem, z, weight, examples)
    if problem.reduction == "none":
        return losses.reshape(problem.batch_shape).to(problem.output_dtype)
    total = losses.sum()
    return (total if problem.reduction == "sum" else total / divisor).to(problem.output_dtype)


def _of_indices(
    problem: Problem, z: Tensor, weight: Tensor | None, examples: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The loss of each row, 0 where it is ignored, and what their sum is divided by."""
    problem.all_count()
    y = problem.target.reshape(-1).long()  # (M)
    counts = y != problem.ignore_index
    y = torch.where(counts, y, 0)
    weights = counts.to(z.dtype) if weight is None else torch.where(counts, weight[y], 0.0)  # (M)
    if examples is not None:
        weights = weights * examples
    smoothing = problem.label_smoothing
    if smoothing:
        each = _of_each_class(problem, z)  # (M, C)
        losses = each.gather(-1, y.unsqueeze(-1)).squeeze(-1) * weights
        smooth = (each if weight is None else each * weight).mean(-1)
        smooth = smooth if examples is None else smooth * examples
        losses = (1 - smoothing) * losses + smoothing * smooth
    else:
        losses = _of_target(problem, z, y) * weights
    divisor = weights.sum()
    # Nothing counts: NaN, as in torch, and not the infinity that smoothing over 0 would give.
    return torch.where(counts, losses, 0.0), torch.where(divisor == 0, float("nan"), divisor)


def _of_probabilities(
    problem: Problem, z: Tensor, weight: Tensor | None, examples: Tensor | None
) -> tuple[Tensor, Tensor]:
    smoothing = problem.label_smoothing
    t = _classes_last(problem.target).to(z.dtype)  # (M, C)
    t = t * (1 - smoothing) + smoothing / z.shape[-1]
    t = t if weight is None else t * weight
    losses = (_of_each_class(problem, z) * t).sum(-1)
    if examples is None:
        return losses, losses.new_tensor(losses.numel())
    return losses * examples, examples.sum()


def _of_target(problem: Problem, z: Tensor, y: Tensor) -> Tensor:
    losses = problem.formula.of_target(z, y, problem.similarity)
    share = problem.cross_entropy_share
    if share:
        plain = z.logsumexp(-1) - z.gather(-1, y.unsqueeze(-1)).squeeze(-1)
        losses = (1 - share) * losses + share * plain
    return losses


def _of_each_class(problem: Problem, z: Tensor) -> Tensor:
    losses = problem.formula.of_each_class(z, problem.similarity)
    share = problem.cross_entropy_share
    if share:
        losses = (1 - share) * losses - share * z.log_softmax(-1)
    return losses


def _classes_last(tensor: Tensor) -> Tensor:
    """(C), (N, C) or (N, C, d1, ..., dK) to (M, C)."""
    if tensor.ndim == 1:
        return tensor.unsqueeze(0)
    return tensor.movedim(1, -1).flatten(0, -2) if tensor.ndim > 2 else tensor
