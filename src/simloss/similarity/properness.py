"""Whether the proper loss is proper with a given S: what is known, and what can be found out."""

import torch
from torch import Tensor

from .._checks import ROUNDING

_GRID = 12
_WORST = 20
_RANDOM = 10
_SEARCHED = 128


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


def counterexample(s: Tensor, triples: Tensor) -> tuple[Tensor, Tensor] | None:
    r"""A posterior p and an answer q with which the proper loss does better than with p, (C) each.

    There are some just where :math:`F(p) = \sum p \log (S p)` is not convex, because the expected
    loss of q exceeds that of p by :math:`F(p) - F(q) - \nabla F(q)^T (p - q)`. Looked for on the
    faces of the triples that break the triangle inequality, and at random; to find none proves
    nothing.
    """
    for triple in triples[:_WORST]:
        corner = triple.unique()
        if len(corner) == 3 and (found := _of_classes(s, corner, _face_points())):
            return found
    few = torch.arange(min(len(s), _SEARCHED))
    return _of_classes(s, few, _random_points(len(few)))


def _of_classes(s: Tensor, classes: Tensor, points: Tensor) -> tuple[Tensor, Tensor] | None:
    """A counterexample in which only some classes are possible."""
    found = _bent_down(s[classes][:, classes], points)
    if found is None:
        return None
    nothing = torch.zeros(len(s), dtype=s.dtype)
    p, q = (nothing.index_put((classes,), each) for each in found)
    return p, q


def _random_points(size: int) -> Tensor:
    """From nearly all on one class to nearly all alike, (G, C)."""
    generator = torch.Generator().manual_seed(0)
    uniform = torch.rand(3 * _RANDOM, size, dtype=torch.float64, generator=generator)
    concentration = torch.tensor([0.05, 0.3, 1.0], dtype=torch.float64).repeat(_RANDOM)
    points = uniform.pow(1 / concentration.unsqueeze(1)) + 1e-4
    return points / points.sum(1, keepdim=True)


def _face_points() -> Tensor:
    """A grid inside the triangle of three probabilities, (G, 3)."""
    some = torch.linspace(0.02, 0.96, _GRID, dtype=torch.float64)
    a, b = torch.cartesian_prod(some, some).unbind(1)
    inside = a + b < 0.99
    return torch.stack([a, b, 1 - a - b], 1)[inside]


def _bent_down(s: Tensor, points: Tensor) -> tuple[Tensor, Tensor] | None:
    """The clearest counterexample along where F curves down most at each of the points (G, C)."""
    size = len(s)
    basis = torch.linalg.qr(torch.eye(size, dtype=s.dtype) - 1 / size).Q[:, : size - 1]
    _, ways = torch.linalg.eigh(basis.T @ _hessians(s, points) @ basis)
    way = ways[:, :, 0] @ basis.T  # (G, C)
    answers = points.unsqueeze(1)  # (G, 1, C)
    posteriors = torch.cat([_along(points, way), _along(points, -way)], 1)  # (G, 16, C)
    slope = ((posteriors - answers) * _gradient(s, answers)).sum(-1)
    gain = _f(s, answers) + slope - _f(s, posteriors)  # (G, 16), of q in place of p
    best = int(gain.argmax())
    if float(gain.flatten()[best]) < 1e-10:
        return None
    return posteriors.flatten(0, 1)[best], points[best // posteriors.shape[1]]


def _along(points: Tensor, way: Tensor) -> Tensor:
    """From each point towards the boundary of the simplex, (G, 8, C)."""
    reach = torch.where(way < 0, -points / way, float("inf")).amin(1, keepdim=True)  # (G, 1)
    shares = 0.9 * 0.5 ** torch.arange(8, dtype=points.dtype).unsqueeze(1)  # (8, 1)
    return points.unsqueeze(1) + shares * (reach * way).unsqueeze(1)


def _f(s: Tensor, p: Tensor) -> Tensor:
    return (p * (p @ s.T).log()).sum(-1)


def _gradient(s: Tensor, p: Tensor) -> Tensor:
    a = p @ s.T
    return a.log() + (p / a) @ s


def _hessians(s: Tensor, p: Tensor) -> Tensor:
    """Second derivatives of F at each point, (G, C, C)."""
    a = p @ s.T  # (G, C)
    first = s / a.unsqueeze(2)
    return first + first.mT - s.T @ ((p / a.square()).unsqueeze(2) * s)
