"""log of S times exp(z), exact at any logits: every loss here is built from it."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import forward_ad
from torch.utils.checkpoint import checkpoint

from ..similarity import Similarity

_MINUS_INFINITY = float("-inf")
# The number of entries of (M, C, C), or of sparse rows, to hold at once.
_MOST_ENTRIES = 1 << 24


def log_total(z: Tensor, *, keepdim: bool = False) -> Tensor:
    r""":math:`\log \sum_c e^{z_c}` for z whose largest entry in each row is 0, (M) or (M, 1)."""
    return z.exp().sum(-1, keepdim=keepdim).log()


def log_mixture(z: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
    r""":math:`\log \sum_c S_{yc} e^{z_c}` for the true class y of each row, (M).

    Equals ``(S[y] * z.exp()).sum(-1).log()`` if that neither under- nor overflows.
    """
    if similarity.num_rows > similarity.num_classes:  # y may be a node above the classes
        return (z + similarity.log_rows(y, z.dtype)).logsumexp(-1)
    own = z.gather(-1, y.unsqueeze(-1)).squeeze(-1)  # (M)
    if _is_learned(similarity):
        return _learned_log_mixture(z, own, similarity.rows(y, z.dtype))
    return _log_sum_exp(z + similarity.log_rows(y, z.dtype), own)


def log_mixtures(z: Tensor, similarity: Similarity) -> Tensor:
    r""":math:`\log \sum_c S_{ic} e^{z_c}` for every class i, (M, C).

    Equals ``(z.exp() @ S.T).log()`` if that neither under- nor overflows.
    """
    C = similarity.num_classes
    if similarity.structure == "order":
        mixtures = _of_order(z, similarity.tensors["r"])
        if similarity.kind == "probability":
            every = torch.arange(C, device=z.device)
            mixtures = mixtures - similarity._row_sums(every, z.dtype).log()
        return mixtures
    if similarity.structure == "sparse":
        row = torch.arange(C, device=z.device).repeat_interleave(
            similarity.tensors["crow"].diff(), output_size=similarity.tensors["column"].numel()
        )
        return _in_blocks(lambda z: _of_entries(z, row, similarity), z, len(row))
    return _in_blocks(lambda z: _of_all_pairs(z, similarity), z, C * C)


def _of_order(z: Tensor, r: Tensor) -> Tensor:
    """Running sums from both sides at once, by doubling: after k rounds over 2^k classes."""
    log_r = r.to(_wide(z)).log().to(z.dtype)
    low = torch.finfo(z.dtype).min / 8  # -inf minus -inf would have no gradient
    x = z.clamp(min=low)
    sums, step = torch.stack((x, x.flip(-1))), 1  # (2, M, C)
    while step < z.shape[-1]:
        sums = _log_add(sums, F.pad(sums, (step, -step), value=low) + step * log_r)
        step *= 2
    left, right = sums.unbind()
    mixtures = _log_add(left, F.pad(right, (1, -1), value=low).flip(-1) + log_r)
    return torch.where(mixtures.detach() < low / 2, z, mixtures)  # everything is impossible


def _log_add(a: Tensor, b: Tensor) -> Tensor:
    """log(e^a + e^b); far from 0, `torch.logaddexp` cannot be differentiated twice."""
    high = torch.maximum(a.detach(), b.detach())
    return ((a - high).exp() + (b - high).exp()).log() + high


def _of_entries(z: Tensor, row: Tensor, similarity: Similarity) -> Tensor:
    """From the entries of sparse rows; `row` says which row each entry belongs to."""
    value = similarity.tensors["value"]
    log_value = value.to(torch.promote_types(value.dtype, z.dtype)).log().to(z.dtype)
    x = z[..., similarity.tensors["column"]] + log_value  # (m, nnz)
    every = row.expand(x.shape)
    high = torch.full_like(z, _MINUS_INFINITY).scatter_reduce(-1, every, x.detach(), "amax")
    dead = high == _MINUS_INFINITY
    high = torch.where(dead, 0.0, high)
    sums = torch.zeros_like(z).index_add(-1, row, (x - high[..., row]).exp())
    return torch.where(dead, z, torch.where(dead, 1.0, sums).log() + high)


def _of_all_pairs(z: Tensor, similarity: Similarity) -> Tensor:
    if _is_learned(similarity):
        return _learned_log_mixture(z.unsqueeze(1), z, similarity.to_dense(z.dtype))
    every = torch.arange(similarity.num_classes, device=z.device)
    return _log_sum_exp(z.unsqueeze(1) + similarity.log_rows(every, z.dtype), z)


def _in_blocks(function: Callable[[Tensor], Tensor], z: Tensor, entries: int) -> Tensor:
    """`function` of z (M, C), a few rows at a time if all would be too much to hold.

    The backward pass computes each block again. Transforms and compilers see the whole.
    """
    is_traced = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
    if is_traced or z.shape[0] * entries <= _MOST_ENTRIES:
        return function(z)
    again = partial(checkpoint, function, use_reentrant=False, preserve_rng_state=False)
    return torch.cat([again(block) for block in z.split(max(1, _MOST_ENTRIES // entries))])


def _log_sum_exp(x: Tensor, own: Tensor) -> Tensor:
    """Logsumexp over the last dimension; if all of it is -inf, `own`.

    In that case the class itself has the logit -inf, and the gradient is cross entropy's, not NaN.
    """
    high = x.detach().amax(-1)
    dead = high == _MINUS_INFINITY
    high = torch.where(dead, 0.0, high)
    sums = (x - high.unsqueeze(-1)).exp().sum(-1)
    return torch.where(dead, own, torch.where(dead, 1.0, sums).log() + high)


def _wide(z: Tensor) -> torch.dtype:
    return torch.float32 if z.device.type == "mps" else torch.float64


def _is_learned(similarity: Similarity) -> bool:
    """Whether a stored S needs a gradient."""
    matrix = similarity.tensors.get("matrix")
    if matrix is None:
        return False
    return matrix.requires_grad or forward_ad.unpack_dual(matrix).tangent is not None


def _learned_log_mixture(z: Tensor, own: Tensor, s: Tensor) -> Tensor:
    r"""The same with a gradient for S, :math:`e^{z_c} / \sum_k S_k e^{z_k}`, even where S is 0.

    There the derivative of log S times S would be 0 times infinity, so the entries that are 0 are
    added as a second, linear term whose value is 0.
    """
    zero = s == 0
    log_s = torch.where(zero, _MINUS_INFINITY, torch.where(zero, 1.0, s).log())
    result = _log_sum_exp(z + log_s, own)
    limit = torch.finfo(z.dtype).max ** 0.5
    ratio = (z - result.unsqueeze(-1)).exp().clamp(max=limit)
    return result + torch.where(zero, s * ratio, 0.0).sum(-1)
