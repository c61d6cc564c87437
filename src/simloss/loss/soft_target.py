"""Soft targets, the third use of the same S: cross entropy against its normalised rows."""

from typing import Any

import torch
from torch import Tensor

from ..similarity import ClassGraph, Similarity
from .contract import Formula, Options, applied
from .mixture import log_total
from .module import SimilarityLoss

_MINUS_INFINITY = float("-inf")


def _of_target(z: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
    t = _distributions(similarity.rows(y, z.dtype))  # (M, C)
    # An impossible class that is not wanted costs nothing: here 0 times -inf is 0.
    wanted = torch.where((z == _MINUS_INFINITY) & (t == 0), 0.0, z)
    return log_total(z) - (t * wanted).sum(-1)


def _of_each_class(z: Tensor, similarity: Similarity) -> Tensor:
    t = _distributions(similarity.to_dense(z.dtype))  # (C, C)
    impossible = z == _MINUS_INFINITY
    mean = torch.where(impossible, 0.0, z) @ t.T  # (M, C)
    mean = torch.where(impossible.to(z.dtype) @ t.T > 0, _MINUS_INFINITY, mean)
    return log_total(z, keepdim=True) - mean


def _distributions(rows: Tensor) -> Tensor:
    return rows / rows.sum(-1, keepdim=True)


SOFT_TARGET_LOSS = Formula(_of_target, _of_each_class, "soft-target")


def soft_target_loss(
    input: Tensor,
    target: Tensor,
    similarity: Any,
    *,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    cross_entropy_share: float = 0.0,
    smoothness: float | ClassGraph = 0.0,
) -> Tensor:
    r"""Cross entropy against the normalised rows of S (known as SORD or label distribution).

    .. math::

        \ell(z, y) = -\sum_{c} T_{yc} \log p_c, \qquad T_{yc} = \frac{S_{yc}}{\sum_k S_{yk}},
        \quad p = \mathrm{softmax}(z)

    :func:`simloss.sim_loss` forgives probability on similar classes; this loss demands it. Its
    optimum is the posterior blurred by T, so its minimum is the entropy of the rows, not 0. It is
    cheap, well calibrated and hard to beat: include it in every comparison. If S is the identity,
    it is plain cross entropy.

    Args: as :func:`simloss.sim_loss`.

    Returns:
        As :func:`simloss.sim_loss`.

    Example:
        >>> import torch, simloss
        >>> S = simloss.similarity.order(3, r=0.5)
        >>> logits = torch.tensor([[0.0, 2.0, 0.0]])
        >>> rows = S.normalized().rows([0])
        >>> simloss.soft_target_loss(logits, torch.tensor([0]), S)
        tensor(1.6681)
        >>> torch.nn.functional.cross_entropy(logits, rows)
        tensor(1.6681)

    References:
        R. Diaz and A. Marathe, Soft Labels for Ordinal Regression, CVPR 2019. B.-B. Gao et al.,
        Deep Label Distribution Learning With Label Ambiguity, 2017.
    """
    options = Options(
        weight, ignore_index, reduction, label_smoothing, cross_entropy_share, smoothness
    )
    return applied(SOFT_TARGET_LOSS, input, target, similarity, options)


class SoftTargetLoss(SimilarityLoss):
    """:func:`simloss.soft_target_loss` as a module.

    Example:
        >>> import simloss
        >>> simloss.SoftTargetLoss(simloss.similarity.order(90, r=0.8))
        SoftTargetLoss(order(90 classes, r=0.8))
    """

    function = staticmethod(soft_target_loss)
    formula = SOFT_TARGET_LOSS
