"""The best answer under SimLoss when several classes are possible."""

import torch
from torch import Tensor

_STEPS = 100
_TOLERANCE = 1e-11


def sim_loss_optimum(similarity: Tensor, posteriors: Tensor) -> Tensor:
    r"""The answers that minimise SimLoss, (B, C), for each posterior P, (B, C).

    .. math:: q^* = \arg\min_{q \ge 0,\, \sum q = 1} \; -\sum_y P_y \log (S q)_y

    It is sparse: a possible class can get probability exactly 0, and another class stands in
    for it. These are the paper's "representative classes".

    Scaling q by t lowers the loss by log t, so the minimum over the simplex is that of
    :math:`\sum_c q_c - \sum_y P_y \log (S q)_y` over q >= 0, which is convex. A primal-dual
    interior-point method solves it: with the gradient g and a slack z for each q >= 0, it follows
    g = z, q z = mu while mu goes to 0. In the end either q or z is 0; if q is 0, the class is
    not used.

    Args:
        similarity: S, (C, C), or one for each posterior, (B, C, C).
        posteriors: rows that sum to 1, (B, C).

    Example:
        >>> s = 0.5  # class 1 vanishes once P_1 / P_0 <= s
        >>> S = torch.tensor([[1, s], [s, 1]], dtype=torch.float64)
        >>> sim_loss_optimum(S, torch.tensor([[0.7, 0.3], [0.6, 0.4]], dtype=torch.float64))
        tensor([[1.0000, 0.0000],
                [0.8000, 0.2000]], dtype=torch.float64)
    """
    count, size = posteriors.shape
    s = similarity.double().expand(count, size, size)
    at_once = max(1, (1 << 22) // size**2)  # each has its own Hessian
    parts = zip(s.split(at_once), posteriors.double().split(at_once), strict=True)
    return torch.cat([_solved(*part) for part in parts])


def _solved(s: Tensor, p: Tensor) -> Tensor:
    q = 0.5 * p + 0.5 / p.shape[1]
    z = torch.full_like(q, 0.5)
    for _ in range(_STEPS):
        ratio = p / _times(s, q)  # (B, C); S_yy > 0 keeps the mixture above 0
        gradient = 1 - _times(s.mT, ratio)
        gap = (q * z).mean(1, keepdim=True)
        if float(gap.max()) < _TOLERANCE and float((gradient - z).abs().max()) < 1e-7:
            break
        dq, dz = _step(s, p, q, z, ratio, gradient, 0.1 * gap)
        length = torch.minimum(_to_boundary(q, dq), _to_boundary(z, dz))  # (B, 1)
        q, z = q + length * dq, z + length * dz
    q = torch.where(q > z, q, 0.0)
    return q / q.sum(1, keepdim=True)


def _step(
    s: Tensor, p: Tensor, q: Tensor, z: Tensor, ratio: Tensor, gradient: Tensor, mu: Tensor
) -> tuple[Tensor, Tensor]:
    """Newton step for g(q) = z and q z = mu, (B, C) each."""
    weight = torch.where(p > 0, ratio.square() / p.clamp(min=1e-300), 0.0)  # P / (S q)^2
    hessian = s.mT @ (weight.unsqueeze(2) * s)  # (B, C, C)
    hessian.diagonal(dim1=1, dim2=2).add_(z / q)
    dq = torch.linalg.solve(hessian, mu / q - gradient)
    return dq, mu / q - z - z / q * dq


def _times(s: Tensor, vectors: Tensor) -> Tensor:
    return (s @ vectors.unsqueeze(2)).squeeze(2)  # (B, C)


def _to_boundary(value: Tensor, step: Tensor) -> Tensor:
    """The share of the step, at most 1, that stays just inside value > 0, (B, 1)."""
    share = torch.where(step < 0, -value / step, float("inf")).amin(1, keepdim=True)
    return (0.99 * share).clamp(max=1.0)
