"""The contract of `F.cross_entropy`, kept once for every loss: shapes, weights, reductions.

A loss of this package is a `Formula`: what an answer costs when one given class is true, and what
it costs for each class that could be true. Everything torch's users expect around that is here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _checks
from ..similarity import Similarity, as_similarity


class Formula(NamedTuple):
    """A loss of logits z (M, C), whose largest entry in each row is 0, and a similarity.

    Attributes:
        of_target: (z, y (M), S) -> loss of each row when class y is true, (M).
        of_each_class: (z, S) -> loss of each row for every class that could be true, (M, C).
    """

    of_target: Callable[[Tensor, Tensor, Similarity], Tensor]
    of_each_class: Callable[[Tensor, Similarity], Tensor]


def _cross_entropy_of_target(z: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
    return z.logsumexp(-1) - z.gather(-1, y.unsqueeze(-1)).squeeze(-1)


def _cross_entropy_of_each_class(z: Tensor, similarity: Similarity) -> Tensor:
    return -z.log_softmax(-1)


CROSS_ENTROPY = Formula(_cross_entropy_of_target, _cross_entropy_of_each_class)


def loss_by_contract(
    formula: Formula,
    input: Tensor,
    target: Tensor,
    similarity: Any,
    *,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
    cross_entropy_share: float,
) -> Tensor:
    r"""Apply a formula the way `F.cross_entropy` applies its own.

    With :math:`\ell(y)` the formula's loss for true class y, :math:`w` the class weights and
    :math:`\epsilon` the label smoothing, an example of class y costs

    .. math:: (1 - \epsilon)\, w_y \ell(y) + \frac{\epsilon}{C} \sum_c w_c \ell(c)

    and one with class probabilities t costs
    :math:`\sum_c w_c \bigl((1 - \epsilon) t_c + \epsilon / C\bigr) \ell(c)`.
    """
    num_classes = _checks.logits(input)
    similarity = as_similarity(similarity)
    _checks.same_class_count(similarity.num_classes, input, num_classes)
    _checks.choice("reduction", reduction, _checks.REDUCTIONS)
    _checks.share("label_smoothing", label_smoothing)
    _checks.share("cross_entropy_share", cross_entropy_share)
    if weight is not None:
        weight = _checks.class_weight(weight, num_classes)
    index_target = _checks.target_is_index(input, target)

    # Half precision is for storing; sums are taken in float32 or wider.
    output_dtype = input.dtype if index_target else torch.promote_types(input.dtype, target.dtype)
    dtype = torch.promote_types(output_dtype, torch.float32)
    if input.device.type != "meta" and torch.is_autocast_enabled(input.device.type):
        output_dtype = dtype  # as cross entropy does there
    z = _classes_last(input).to(dtype)  # (M, C)
    # A shift leaves softmax as it is, and keeps a small loss from drowning in large logits.
    z = z - z.detach().amax(-1, keepdim=True)
    formula = _blend(formula, cross_entropy_share)
    class_weights = weight.to(dtype) if weight is not None else None

    if index_target:
        _checks.target_range(target, num_classes, ignore_index)
        batch_shape = target.shape
        y = target.reshape(-1).long()  # (M)
        losses, divisor = _of_indices(
            formula, z, y, similarity, class_weights, ignore_index, label_smoothing
        )
    else:
        if ignore_index >= 0:
            raise ValueError(
                f"`ignore_index` must be negative with class probabilities as `target`, "
                f"as in torch, but got {ignore_index}; give such examples probabilities 0 instead."
            )
        t = _classes_last(target).to(dtype)  # (M, C)
        t = t * (1 - label_smoothing) + label_smoothing / num_classes
        each = formula.of_each_class(z, similarity)  # (M, C)
        losses = (each * t if class_weights is None else each * t * class_weights).sum(-1)
        batch_shape = input.shape[:1] + input.shape[2:] if input.ndim > 1 else torch.Size()
        divisor = losses.new_tensor(losses.numel())

    if reduction == "none":
        return losses.reshape(batch_shape).to(output_dtype)
    total = losses.sum()
    return (total if reduction == "sum" else total / divisor).to(output_dtype)


def _of_indices(
    formula: Formula,
    z: Tensor,
    y: Tensor,
    similarity: Similarity,
    weight: Tensor | None,
    ignore_index: int,
    label_smoothing: float,
) -> tuple[Tensor, Tensor]:
    """The loss of each row, 0 where it is ignored, and what their sum is divided by."""
    counts = y != ignore_index  # (M)
    y = torch.where(counts, y, 0)
    weights = counts.to(z.dtype) if weight is None else torch.where(counts, weight[y], 0.0)  # (M)
    if label_smoothing:
        each = formula.of_each_class(z, similarity)  # (M, C)
        losses = each.gather(-1, y.unsqueeze(-1)).squeeze(-1) * weights
        smooth = (each if weight is None else each * weight).mean(-1)
        losses = (1 - label_smoothing) * losses + label_smoothing * smooth
    else:
        losses = formula.of_target(z, y, similarity) * weights
    divisor = weights.sum()
    # Nothing counts: NaN, as in torch, and not the infinity that smoothing over 0 would give.
    return torch.where(counts, losses, 0.0), torch.where(divisor == 0, float("nan"), divisor)


def _blend(formula: Formula, share: float) -> Formula:
    """(1 - share) times the formula plus share times cross entropy."""
    if share == 0:
        return formula

    def of_target(z: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
        plain = CROSS_ENTROPY.of_target(z, y, similarity)
        return (1 - share) * formula.of_target(z, y, similarity) + share * plain

    def of_each_class(z: Tensor, similarity: Similarity) -> Tensor:
        plain = CROSS_ENTROPY.of_each_class(z, similarity)
        return (1 - share) * formula.of_each_class(z, similarity) + share * plain

    return Formula(of_target, of_each_class)


def _classes_last(tensor: Tensor) -> Tensor:
    """(C), (N, C) or (N, C, d1, ..., dK) to (M, C)."""
    if tensor.ndim == 1:
        return tensor.unsqueeze(0)
    return tensor.movedim(1, -1).flatten(0, -2) if tensor.ndim > 2 else tensor
