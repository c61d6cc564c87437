"""The cost that a user means, from everything that is accepted as one."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..similarity import Similarity, Tree
from .costs import (
    WORDS,
    AbsoluteCost,
    Cost,
    MatrixCost,
    SimilarityCost,
    SquaredCost,
    TreeCost,
    ZeroOneCost,
    wide,
)
from .example_costs import ExampleCosts, example_costs


def as_cost(
    cost: Any, like: Tensor, positions: Any = None, thresholds: Any = None
) -> Cost | ExampleCosts:
    """The cost for probabilities like `like`, (..., C)."""
    num_classes, device, dtype = like.shape[-1], like.device, wide(like)
    name = WORDS[_checks.choice("cost", cost, tuple(WORDS))] if isinstance(cost, str) else None
    if thresholds is not None and name != "squared":
        raise ValueError(
            "`thresholds` must be used with the cost 'mean', whose expected class they divide, "
            "but got another cost."
        )
    if positions is not None and name not in ("absolute", "squared"):
        raise ValueError(
            "`positions` must be used with the cost 'absolute' or 'squared', which measure a "
            "distance, but got another cost."
        )
    if name == "zero-one":
        return ZeroOneCost()
    if name is not None:
        at = class_positions(positions, num_classes).to(device, dtype)
        if name == "absolute":
            return AbsoluteCost(at)
        cuts = None if thresholds is None else _cuts(thresholds, num_classes).to(device, dtype)
        return SquaredCost(at, cuts)
    if isinstance(cost, Tree):
        _checks.class_counts_agree("cost", cost.num_classes, "probabilities", num_classes)
        return TreeCost(cost, device, dtype)
    if isinstance(cost, Similarity):
        _checks.class_counts_agree("cost", cost.num_classes, "probabilities", num_classes)
        _checks.of_kind_similarity("cost", cost.kind)
        return SimilarityCost(cost)
    if not (hasattr(cost, "shape") or callable(cost)):
        cost = _checks.float_tensor("cost", cost)
    of_each = example_costs(cost, tuple(like.shape[:-1]), num_classes)
    if of_each is not None:
        return of_each
    return MatrixCost(cost_matrix(cost, num_classes).to(device, dtype))


def cost_matrix(cost: Any, num_classes: int) -> Tensor:
    """A cost of every pair of classes, (C, C), row = true class."""
    matrix = _checks.float_tensor("cost", cost).detach()
    _checks.square("cost", matrix)
    _checks.labels_of_both_sides("cost", cost)
    _checks.class_counts_agree("cost", len(matrix), "probabilities", num_classes)
    _checks.finite("cost", matrix)
    _checks.not_a_similarity("cost", matrix)
    return matrix


def class_positions(positions: Any, num_classes: int) -> Tensor:
    """The position of each class, (C); by default class c lies at c."""
    if positions is None:
        return torch.arange(num_classes)
    tensor = _checks.float_tensor("positions", positions).detach()
    _checks.same_shape("positions", tensor.shape, "probabilities", (num_classes,))
    _checks.finite("positions", tensor)
    return tensor


def _cuts(thresholds: Any, num_classes: int) -> Tensor:
    cuts = _checks.float_tensor("thresholds", thresholds).detach()
    if cuts.shape != (num_classes - 1,):
        raise ValueError(
            f"`thresholds` must be {num_classes - 1} numbers, one between each two neighbours of "
            f"the {num_classes} classes, but got shape {tuple(cuts.shape)}."
        )
    if not bool((cuts[1:] >= cuts[:-1]).all()) or bool(cuts.isnan().any()):
        raise ValueError(f"`thresholds` must be in rising order, but got {cuts.tolist()}.")
    return cuts
