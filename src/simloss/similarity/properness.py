"""Whether the proper loss is proper with a given S: what is known, and what can be found out."""

import torch
from torch import Tensor

from .._checks import ROUNDING

_GRID = 12
_WORST = 20
_RANDOM = 60


def smallest_eigenvalue(s: Tensor) -> float:
    """Of the symmetric part: S is positive definite if it is above 0."""
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


def improper_posterior(s: Tensor, triples: Tensor) -> Tensor | None:
    r"""A posterior p (C) at which :math:`F(p) = \sum p \log (S p)` is not convex, if one is found.

    There the proper loss has a better answer than p. Looked for on the faces of the triples that
    break the triangle inequality, and at random; to find none proves nothing.
    """
    for triple in triples[:_WORST]:
        corner = triple.unique()
        if len(corner) == 3:
            found = _bent_down(s[corner][:, corner], _face_points())
            if found is not None:
                return torch.zeros(len(s), dtype=s.dtype).index_put((corner,), found)
    generator = torch.Generator().manual_seed(0)
    for concentration in (0.05, 0.3, 1.0):
        uniform = torch.rand(_RANDOM // 3, len(s), dtype=s.dtype, generator=generator)
        points = uniform.pow(1 / concentration) + 1e-9
        found = _bent_down(s, points / points.sum(1, keepdim=True))
        if found is not None:
            return found
    return None


def _face_points() -> Tensor:
    """A grid inside the triangle of three probabilities, (G, 3)."""
    some = torch.linspace(0.02, 0.96, _GRID, dtype=torch.float64)
    a, b = torch.cartesian_prod(some, some).unbind(1)
    inside = a + b < 0.99
    return torch.stack([a, b, 1 - a - b], 1)[inside]


def _bent_down(s: Tensor, points: Tensor) -> Tensor | None:
    """The first of the points at which F curves downwards along the simplex, if any."""
    size = len(s)
    basis = torch.linalg.qr(torch.eye(size, dtype=s.dtype) - 1 / size).Q[:, : size - 1]
    for p in points:
        curvature = torch.linalg.eigvalsh(basis.T @ _hessian(s, p) @ basis)[0]
        if float(curvature) < -1e-8:
            return p
    return None


def _hessian(s: Tensor, p: Tensor) -> Tensor:
    a = s @ p
    first = s / a.unsqueeze(1)
    return first + first.T - s.T @ ((p / a.square()).unsqueeze(1) * s)
