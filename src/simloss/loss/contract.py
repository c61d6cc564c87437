"""The contract of `F.cross_entropy`, kept once for every loss: shapes, weights, reductions.

A loss of this package is a `Formula`: what an answer costs when one given class is true, and what
it costs for each class that could be true. Everything torch's users expect around that is here.
"""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..similarity import as_similarity
from .fused.choose import can_be_fused
from .fused.function import fused_loss
from .fused.ordinary import Call, ordinary_loss
from .plain import plain_loss
from .problem import Formula, Problem


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
    similarity = as_similarity(similarity)
    if not label_smoothing and not cross_entropy_share and formula.kernel is not None:
        call = Call(formula, plain_loss, similarity, ignore_index, reduction)
        loss = ordinary_loss(call, input, target, weight)
        if loss is not None:
            return loss
    num_classes = _checks.logits(input)
    _checks.same_class_count(similarity.num_classes, input, num_classes)
    _checks.target_is_index(input, target)
    problem = checked_problem(
        formula,
        input,
        target,
        similarity,
        weight=weight,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
        cross_entropy_share=cross_entropy_share,
    )
    if formula.kernel is not None and can_be_fused([problem.input], problem.constants):
        return fused_loss(problem, plain_loss)
    return plain_loss(problem)


def checked_problem(
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
    example_weight: Tensor | None = None,
) -> Problem:
    """The arguments of a call whose shapes go together, if the rest makes sense.

    What class indices there are is left to :meth:`Problem.all_count`: not every way needs to ask.
    """
    similarity = as_similarity(similarity)
    num_classes = similarity.num_classes
    _checks.choice("reduction", reduction, _checks.REDUCTIONS)
    _checks.share("label_smoothing", label_smoothing)
    _checks.share("cross_entropy_share", cross_entropy_share)
    if weight is not None:
        weight = _checks.class_weight(weight, num_classes)
    if target.is_floating_point():
        _checks.no_ignored_class(ignore_index)
        output_dtype = torch.promote_types(input.dtype, target.dtype)
    else:
        output_dtype = input.dtype
    # Half precision is for storing; sums are taken in float32 or wider.
    dtype = torch.promote_types(output_dtype, torch.float32)
    if input.device.type != "meta" and torch.is_autocast_enabled(input.device.type):
        output_dtype = dtype  # as cross entropy does there
    return Problem(
        formula,
        input,
        target,
        similarity,
        weight,
        ignore_index,
        reduction,
        label_smoothing,
        cross_entropy_share,
        dtype,
        output_dtype,
        example_weight,
    )
