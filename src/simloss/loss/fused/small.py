"""A small batch: there the number of operations counts, not their size.

All classes' losses come out of one or two small matrix products, and torch's own `nll_loss` picks
those of the targets; five operations that torch differentiates itself cost less than one autograd
function in Python.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from ..problem import Problem
from .choose import operator, reads_values

# Entries of the logits, and classes, up to which this is the quickest way.
_ENTRIES, _CLASSES = 2048, 64


def small_loss(problem: Problem) -> Tensor | None:
    """Equals ``F.nll_loss(-losses_of_all_classes, y)``; None where it is not the way to go."""
    input = problem.input
    if (
        input.ndim != 2
        or input.numel() > _ENTRIES
        or input.shape[1] > _CLASSES
        or input.dtype != problem.output_dtype
        or input.dtype != problem.dtype
        or not problem.has_indices
        or problem.label_smoothing
        or problem.cross_entropy_share
        or problem.example_weight is not None
        or not reads_values(input)
        or torch.is_autocast_enabled("cpu")
    ):
        return None
    S = operator(problem.similarity, problem.dtype)
    matrix = S.matrix()
    if matrix is None:
        return None
    assert problem.formula.kernel is not None
    scores, sums = problem.formula.kernel.of_all_classes(input, matrix)
    # Far enough from 0 for the square of the inverse, which a second derivative has.
    if not float(sums.detach().amin()) > torch.finfo(problem.dtype).tiny ** 0.5:
        return None
    weight = None if problem.weight is None else problem.weight.to(problem.dtype)
    target = problem.target if problem.target.dtype == torch.long else problem.target.long()
    try:
        return F.nll_loss(
            scores, target, weight, ignore_index=problem.ignore_index, reduction=problem.reduction
        )
    except IndexError:
        problem.all_count()  # says it better
        raise
