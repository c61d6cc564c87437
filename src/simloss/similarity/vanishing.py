"""Classes that SimLoss would never answer, although they are possible."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .optimum import sim_loss_optimum

# The number of centres whose rows are held at once.
_CENTRES = 64


def bells(
    similarity: Similarity, prior: Tensor, width: float, step: float, centres: Tensor
) -> Tensor:
    r"""Posteriors of a given width around some classes, (B, C).

    .. math:: P_y(c) \propto \mathrm{prior}_c \exp\Bigl(-\tfrac12 (d_{yc} / w \delta)^2\Bigr)

    with the distance :math:`d = -\log S` and :math:`\delta` one step (:func:`step_length`). For
    r^|i-j| that is a bell of w classes.
    """
    log_rows = similarity.log_rows(centres, torch.float64)  # (B, C)
    own = log_rows.gather(1, centres.unsqueeze(1))  # 0, except for kind "probability"
    distance = (own - log_rows).clamp(min=0)
    weight = prior * (-0.5 * (distance / (width * step)).square()).exp()
    total = weight.sum(1, keepdim=True)
    return torch.where(total > 0, weight / total, prior)


def step_length(similarity: Similarity, classes: Tensor) -> float:
    """The median distance -log S from a class to its nearest; 1 if no two classes are alike."""
    nearest = []
    for some in classes.split(_CENTRES):
        log_rows = similarity.log_rows(some, torch.float64)
        own = log_rows.gather(1, some.unsqueeze(1))
        distance = (own - log_rows).clamp(min=0).scatter(1, some.unsqueeze(1), float("inf"))
        distance[distance == 0] = float("inf")  # interchangeable classes do not count as a step
        nearest.append(distance.amin(1))
    steps = torch.cat(nearest)
    steps = steps[steps.isfinite()]
    return float(steps.median()) if steps.numel() else 1.0


def given_posteriors(uncertainty: Any, num_classes: int) -> Tensor:
    """A (C, C) matrix of posteriors, one row per class, as probabilities."""
    table = _checks.float_tensor("uncertainty", uncertainty).detach().double()
    _checks.square("uncertainty", table)
    _checks.class_counts_agree("uncertainty", len(table), "similarity", num_classes)
    _checks.not_negative("uncertainty", table)
    total = table.sum(1, keepdim=True)
    if bool((total == 0).any()):
        at = int((total == 0).nonzero()[0, 0])
        raise ValueError(f"`uncertainty` must not have empty rows, but row {at} is all 0.")
    return table / total


def bells_among(
    similarity: Similarity, prior: Tensor, width: float, centres: Tensor, local: Tensor, step: float
) -> Tensor:
    """The posteriors cut to some classes around each centre, (B, m); `local` is (B, m)."""
    parts = [
        bells(similarity, prior, width, step, some).gather(1, among)
        for some, among in zip(centres.split(_CENTRES), local.split(_CENTRES), strict=True)
    ]
    return torch.cat(parts)


def optima(similarity: Similarity, local: Tensor, posteriors: Tensor) -> Tensor:
    """SimLoss's optimum for each posterior over some classes; all are (B, m)."""
    classes, place = local.unique(return_inverse=True)
    rows = [similarity.rows(some, torch.float64)[:, classes] for some in classes.split(_CENTRES)]
    part = torch.cat(rows)  # only those classes
    total = posteriors.sum(1, keepdim=True)
    posteriors = torch.where(total > 0, posteriors / total, 1 / local.shape[1])
    answers = [
        sim_loss_optimum(part[at.unsqueeze(2), at.unsqueeze(1)], p)
        for at, p in zip(place.split(256), posteriors.split(256), strict=True)
    ]
    return torch.cat(answers)
