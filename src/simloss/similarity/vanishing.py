"""Which classes SimLoss would never answer with, although they are possible."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .optimum import sim_loss_optimum

# Centres whose rows are held at once.
_CENTRES = 64


def bells(
    similarity: Similarity, prior: Tensor, width: float, step: float, centres: Tensor
) -> Tensor:
    r"""Posteriors of a given width round some classes, (B, C).

    .. math:: P_y(c) \propto \mathrm{prior}_c \exp\Bigl(-\tfrac12 (d_{yc} / w \delta)^2\Bigr)

    with the distance :math:`d = -\log S` and :math:`\delta` one step (:func:`step_length`). For
    r^|i-j| that is a bell of w classes.
    """
    log_rows = similarity.log_rows(centres, torch.float64)  # (B, C)
    own = log_rows.gather(1, centres.unsqueeze(1))  # 0, but for kind "probability"
    distance = (own - log_rows).clamp(min=0)
    weight = prior * (-0.5 * (distance / (width * step)).square()).exp()
    total = weight.sum(1, keepdim=True)
    return torch.where(total > 0, weight / total, prior)


def step_length(similarity: Similarity, classes: Tensor) -> float:
    """The median distance -log S from a class to its nearest; 1 where no class is like another."""
    nearest = []
    for some in classes.split(_CENTRES):
        log_rows = similarity.log_rows(some, torch.float64)
        own = log_rows.gather(1, some.unsqueeze(1))
        distance = (own - log_rows).clamp(min=0).scatter(1, some.unsqueeze(1), float("inf"))
        distance[distance == 0] = float("inf")  # interchangeable classes are no step apart
        nearest.append(distance.amin(1))
    steps = torch.cat(nearest)
    steps = steps[steps.isfinite()]
    return float(steps.median()) if steps.numel() else 1.0


def given_posteriors(uncertainty: Any, num_classes: int) -> Tensor:
    """A (C, C) matrix of posteriors, one row a class, as probabilities."""
    table = _checks.float_tensor("uncertainty", uncertainty).detach().double()
    _checks.square("uncertainty", table)
    _checks.class_counts_agree("uncertainty", len(table), "similarity", num_classes)
    _checks.not_negative("uncertainty", table)
    total = table.sum(1, keepdim=True)
    if bool((total == 0).any()):
        at = int((total == 0).nonzero()[0, 0])
        raise ValueError(f"`uncertainty` must not have empty rows, but row {at} is 0 throughout.")
    return table / total


def bells_among(
    similarity: Similarity, prior: Tensor, width: float, centres: Tensor, local: Tensor, step: float
) -> Tensor:
    """The same cut to some classes round each centre, (B, m); `local` is (B, m)."""
    parts = [
        bells(similarity, prior, width, step, some).gather(1, among)
        for some, among in zip(centres.split(_CENTRES), local.split(_CENTRES), strict=True)
    ]
    return torch.cat(parts)


def optima(similarity: Similarity, local: Tensor, posteriors: Tensor) -> Tensor:
    """SimLoss's optimum for each posterior over some classes, (B, m) as both arguments."""
    classes, place = local.unique(return_inverse=True)
    rows = [similarity.rows(some, torch.float64)[:, classes] for some in classes.split(_CENTRES)]
    part = torch.cat(rows)  # those classes alone
    total = posteriors.sum(1, keepdim=True)
    posteriors = torch.where(total > 0, posteriors / total, 1 / local.shape[1])
    answers = [
        sim_loss_optimum(part[at.unsqueeze(2), at.unsqueeze(1)], p)
        for at, p in zip(place.split(256), posteriors.split(256), strict=True)
    ]
    return torch.cat(answers)
