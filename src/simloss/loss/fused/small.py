"""A small batch: there the number of operations counts, not their size.

All classes' losses come out of one or two small matrix products, and torch's own `nll_loss` picks
those of the targets; five operations that torch differentiates itself cost less than one autograd
function in Python.
"""

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from ... import _checks
from .choose import operator

if TYPE_CHECKING:
    from .ordinary import Call

# Entries of the logits, and classes, up to which this is the quickest way.
_ENTRIES, _CLASSES = 2048, 64


def is_small(input: Tensor) -> bool:
    """Whether logits (N, C) are so few."""
    return input.numel() <= _ENTRIES and input.shape[1] <= _CLASSES


def small_loss(call: "Call", input: Tensor, target: Tensor, weight: Tensor | None) -> Tensor | None:
    """Equals ``F.nll_loss(-losses_of_all_classes, y)``; None where it is not the way to go."""
    matrix = operator(call.similarity, input.dtype).matrix()
    if matrix is None:
        return None
    assert call.formula.kernel is not None
    if isinstance(weight, Tensor) and weight.requires_grad:
        return None  # torch's nll_loss has no gradient to it
    if weight is not None:
        weight = _checks.class_weight(weight, input.shape[1]).to(input.dtype)
    scores, sums = call.formula.kernel.of_all_classes(input, matrix)
    # Far enough from 0 for the square of the inverse, which a second derivative has.
    if not float(sums.detach().amin()) > torch.finfo(input.dtype).tiny ** 0.5:
        return None
    try:
        return F.nll_loss(
            scores,
            target,
            weight,
            ignore_index=call.ignore_index,
            reduction=call.reduction,
        )
    except IndexError:
        return None  # the long way says what is wrong
