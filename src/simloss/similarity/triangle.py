"""Whether -log S is a distance, and S a kernel."""

import torch
from torch import Tensor

from .._checks import ROUNDING


def smallest_eigenvalue(s: Tensor) -> float:
    """Of the symmetric part: S is positive definite if this is above 0."""
    return float(torch.linalg.eigvalsh((s + s.T) / 2)[0])


def triangle_violations(s: Tensor) -> tuple[Tensor, Tensor]:
    r"""Where the cost -log S breaks the triangle inequality, worst first.

    :math:`d_{ik} \le d_{ij} + d_{jk}` is :math:`S_{ij} S_{jk} \le S_{ik}`.

    Returns:
        Triples (i, j, k), (V, 3), and by how much the product exceeds the entry, (V).
    """
    detour, middle = torch.empty_like(s), torch.empty_like(s, dtype=torch.long)
    for start, row in enumerate(s):
        detour[start], middle[start] = (row.unsqueeze(1) * s).max(0)  # over j
    excess = detour - s
    i, k = (excess > ROUNDING * s + 1e-12).nonzero(as_tuple=True)
    worst_first = excess[i, k].argsort(descending=True)
    i, k = i[worst_first], k[worst_first]
    return torch.stack([i, middle[i, k], k], 1), excess[i, k]
