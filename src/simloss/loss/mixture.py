"""log of S times exp(z), exact at any logits: what every loss here is made of."""

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ..similarity import Similarity

_MINUS_INFINITY = float("-inf")


def log_mixture(z: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
    r""":math:`\log \sum_c S_{yc} e^{z_c}` for the true class y of each row, (M).

    Equals ``(S[y] * z.exp()).sum(-1).log()`` where that neither under- nor overflows.
    """
    own = z.gather(-1, y.unsqueeze(-1)).squeeze(-1)  # (M)
    if _is_learned(similarity):
        return _learned_log_mixture(z, own, similarity.rows(y, z.dtype))
    return _log_sum_exp(z + similarity.log_rows(y, z.dtype), own)


def log_mixtures(z: Tensor, similarity: Similarity) -> Tensor:
    r""":math:`\log \sum_c S_{ic} e^{z_c}` for every class i, (M, C).

    Equals ``(z.exp() @ S.T).log()`` where that neither under- nor overflows.
    """
    classes = torch.arange(similarity.num_classes, device=z.device)
    if _is_learned(similarity):
        return _learned_log_mixture(z.unsqueeze(1), z, similarity.to_dense(z.dtype))
    return _log_sum_exp(z.unsqueeze(1) + similarity.log_rows(classes, z.dtype), z)


def _log_sum_exp(x: Tensor, own: Tensor) -> Tensor:
    """Logsumexp over the last dimension; where all of it is -inf, `own`.

    There the class itself has the logit -inf, and the gradient is cross entropy's, not NaN.
    """
    dead = x.detach().amax(-1) == _MINUS_INFINITY
    return torch.where(dead, own, torch.where(dead.unsqueeze(-1), 0.0, x).logsumexp(-1))


def _is_learned(similarity: Similarity) -> bool:
    """Whether a gradient is wanted for a stored S."""
    matrix = similarity.tensors.get("matrix")
    if matrix is None:
        return False
    return matrix.requires_grad or forward_ad.unpack_dual(matrix).tangent is not None


def _learned_log_mixture(z: Tensor, own: Tensor, s: Tensor) -> Tensor:
    r"""The same with a gradient to S, :math:`e^{z_c} / \sum_k S_k e^{z_k}`, also where S is 0.

    The derivative of log S times S would be 0 times infinity there, so the entries that are 0 come
    in as a second, linear term whose value is 0.
    """
    zero = s == 0
    log_s = torch.where(zero, _MINUS_INFINITY, torch.where(zero, 1.0, s).log())
    result = _log_sum_exp(z + log_s, own)
    limit = torch.finfo(z.dtype).max ** 0.5
    ratio = (z - result.unsqueeze(-1)).exp().clamp(max=limit)
    return result + torch.where(zero, s * ratio, 0.0).sum(-1)
