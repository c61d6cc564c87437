"""The proper variant: it uses class similarity, and its optimum is the true posterior."""

from typing import Any

import torch
from torch import Tensor

from ..similarity import ClassGraph, Similarity
from .contract import Formula, Options, applied
from .mixture import log_mixtures, log_total
from .module import SimilarityLoss


def _of_target(z: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
    mixtures = log_mixtures(z, similarity)  # (M, C)
    expected = (similarity.columns(y, z.dtype) * _ratio(z, mixtures)).sum(-1)  # (M)
    own = mixtures.gather(-1, y.unsqueeze(-1)).squeeze(-1)
    return log_total(z) - own + 1 - expected


def _of_each_class(z: Tensor, similarity: Similarity) -> Tensor:
    mixtures = log_mixtures(z, similarity)  # (M, C)
    expected = _ratio(z, mixtures) @ similarity.to_dense(z.dtype)  # (M, C)
    return log_total(z, keepdim=True) - mixtures + 1 - expected


def _ratio(z: Tensor, mixtures: Tensor) -> Tensor:
    """p_i / a_i, (M, C). S_ii = 1 makes a_i >= p_i, so it is at most 1; 0 for a class at -inf."""
    impossible = z.detach() == float("-inf")
    return torch.where(impossible, float("-inf"), z - mixtures).exp()


PROPER_SIM_LOSS = Formula(_of_target, _of_each_class, "proper")


def proper_sim_loss(
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
    r"""The scoring rule of similarity-sensitive entropy: a SimLoss whose optimum is the posterior.

    .. math::

        \ell(z, y) = -\log a_y + 1 - \sum_i \frac{p_i\, S_{iy}}{a_i},
        \qquad a = S p, \quad p = \mathrm{softmax}(z)

    It is 0 for a certain, right answer and plain cross entropy if S is the identity. It is the
    gradient of :math:`F(p) = \sum_i p_i \log (S p)_i` made into a loss, and therefore proper if
    F is convex on the simplex. That is a theorem for :func:`~simloss.similarity.order`,
    :func:`~simloss.similarity.values` and :func:`~simloss.similarity.tree` by height; for any other
    S, ``S.diagnose()`` proves it, refutes it by an example, or says that it is unknown. The angle
    kernel of :func:`~simloss.similarity.embedding` usually passes, a clipped cosine usually fails.
    A `cross_entropy_share` keeps it proper, because a sum of proper losses is proper; for an order
    with r = .95, start with .1.

    It needs S p for all classes, so an example costs O(C^2) with a stored S.

    Args: as :func:`simloss.sim_loss`.

    Returns:
        As :func:`simloss.sim_loss`.

    Example:
        >>> import torch, simloss
        >>> S = simloss.similarity.order(3, r=0.5)
        >>> posterior = torch.tensor([0.5, 0.3, 0.2])
        >>> logits = posterior.log().requires_grad_()
        >>> for loss in (simloss.sim_loss, simloss.proper_sim_loss):
        ...     gradient = torch.autograd.grad(loss(logits, posterior, S), logits)[0]
        ...     print(loss.__name__, bool(gradient.abs().max() < 1e-6))
        sim_loss False
        proper_sim_loss True

    References:
        T. Leinster and C. Cobbold, Measuring diversity: the importance of species similarity,
        Ecology 2012. J. Gallego-Posada et al., GAIT: A Geometric Approach to Information Theory,
        AISTATS 2020.
    """
    options = Options(
        weight, ignore_index, reduction, label_smoothing, cross_entropy_share, smoothness
    )
    return applied(PROPER_SIM_LOSS, input, target, similarity, options)


class ProperSimLoss(SimilarityLoss):
    """:func:`simloss.proper_sim_loss` as a module.

    Example:
        >>> import simloss
        >>> simloss.ProperSimLoss(simloss.similarity.order(90, r=0.8), reduction="sum")
        ProperSimLoss(order(90 classes, r=0.8), reduction='sum')
    """

    function = staticmethod(proper_sim_loss)
    formula = PROPER_SIM_LOSS
