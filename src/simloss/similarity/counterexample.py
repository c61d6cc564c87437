"""An answer that the proper loss prefers to the truth, if the loss is not proper."""

from collections.abc import Iterator

import torch
from torch import Tensor

from .triangle import triangle_violations

_TINY = 1e-300
# The other answer must be better by at least this much, so that rounding cannot explain it.
_CLEAR = 1e-10
_GRID = 12
_WORST = 20
_RANDOM = 10
_SEARCHED = 128
_STEPS = 300


def counterexample(s: Tensor, corner: int, direction: Tensor) -> tuple[Tensor, Tensor] | None:
    """A truth p and an answer q with a lower expected loss than p itself, (C) each.

    Searches where few classes are possible, then near the corner at which F curves down in the
    given direction, then at random. Finding none proves nothing.
    """
    for classes, points in _places(s, corner, direction):
        part = s[classes][:, classes]
        found = _bent_down(part, points)
        if found is not None:
            nothing = torch.zeros(len(s), dtype=s.dtype)
            p, q = (nothing.index_put((classes,), each) for each in _clearer(part, *found))
            return p, q
    return None


def expected_loss(s: Tensor, p: Tensor, q: Tensor) -> Tensor:
    r"""The expected loss of the answer q if p is true, (...), of (..., C) each.

    .. math:: 1 - \sum_y p_y \log a_y - \sum_i \frac{q_i}{a_i} (S p)_i, \qquad a = S q
    """
    a = q @ s.T
    share = q / a.clamp(min=_TINY)  # where a is 0, q is too
    return 1 - torch.xlogy(p, a).sum(-1) - (share * (p @ s.T)).sum(-1)


def _gain(s: Tensor, p: Tensor, q: Tensor) -> Tensor:
    """By how much the answer q is better than p if p is true."""
    return expected_loss(s, p, p) - expected_loss(s, p, q)


def _places(s: Tensor, corner: int, direction: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Which classes are possible, (M), and where to search, (G, M)."""
    for triple in triangle_violations(s)[0][:_WORST]:
        if len(triple.unique()) == 3:
            yield triple, _face_points()
    yield torch.arange(len(s)), _corner_points(corner, direction)
    few = torch.arange(min(len(s), _SEARCHED))
    yield few, _random_points(len(few))


def _face_points() -> Tensor:
    """A grid inside the triangle of three probabilities, (G, 3)."""
    some = torch.linspace(0.02, 0.96, _GRID, dtype=torch.float64)
    a, b = torch.cartesian_prod(some, some).unbind(1)
    inside = a + b < 0.99
    return torch.stack([a, b, 1 - a - b], 1)[inside]


def _corner_points(corner: int, direction: Tensor) -> Tensor:
    """From half on the corner's class to nearly all on it, (G, C)."""
    here = torch.tensor([corner])
    others = direction.abs().index_fill(0, here, 0.0)
    others = others / others.sum()
    # Give every class some of the rest, or very little: where S is 0, little is enough.
    rest = torch.tensor([[0.1], [1e-6]], dtype=others.dtype)
    others = (1 - rest) * others + rest / len(others)  # (2, C)
    alone = torch.zeros_like(direction).index_fill(0, here, 1.0)
    share = 0.25 ** torch.arange(0.5, 12, dtype=others.dtype).reshape(-1, 1, 1)  # (12, 1, 1)
    return (share * others + (1 - share) * alone).flatten(0, 1)


def _random_points(size: int) -> Tensor:
    """From nearly all on one class to nearly uniform, (G, C)."""
    generator = torch.Generator().manual_seed(0)
    uniform = torch.rand(3 * _RANDOM, size, dtype=torch.float64, generator=generator)
    concentration = torch.tensor([0.05, 0.3, 1.0], dtype=torch.float64).repeat(_RANDOM)
    points = uniform.pow(1 / concentration.unsqueeze(1)) + 1e-4
    return points / points.sum(1, keepdim=True)


def _bent_down(s: Tensor, points: Tensor) -> tuple[Tensor, Tensor] | None:
    """The clearest counterexample along the most negative curvature at each point, (G, C)."""
    size = len(s)
    basis = torch.linalg.qr(torch.eye(size, dtype=s.dtype) - 1 / size).Q[:, : size - 1]
    _, ways = torch.linalg.eigh(basis.T @ _hessians(s, points) @ basis)
    way = ways[:, :, 0] @ basis.T  # (G, C)
    truths = torch.cat([_along(points, way), _along(points, -way)], 1)  # (G, 16, C)
    gain = _gain(s, truths, points.unsqueeze(1))  # (G, 16)
    best = int(gain.argmax())
    if float(gain.flatten()[best]) < _CLEAR:
        return None
    return truths.flatten(0, 1)[best], points[best // truths.shape[1]]


def _along(points: Tensor, way: Tensor) -> Tensor:
    """From each point towards the boundary of the simplex, (G, 8, C)."""
    reach = torch.where(way < 0, -points / way, float("inf")).amin(1, keepdim=True)  # (G, 1)
    shares = 0.9 * 0.5 ** torch.arange(8, dtype=points.dtype).unsqueeze(1)  # (8, 1)
    return points.unsqueeze(1) + shares * (reach * way).unsqueeze(1)


def _clearer(s: Tensor, p: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    """The counterexample improved by some gradient steps."""
    with torch.enable_grad():
        logits = torch.stack([p, q]).clamp(min=1e-12).log().requires_grad_()
        climb = torch.optim.Adam([logits], lr=0.03, eps=_TINY, maximize=True)
        for _ in range(_STEPS):
            climb.zero_grad()
            _gain(s, *logits.softmax(1)).backward()
            climb.step()
    moved = logits.detach().softmax(1)
    return (moved[0], moved[1]) if _gain(s, *moved) > _gain(s, p, q) else (p, q)


def _hessians(s: Tensor, p: Tensor) -> Tensor:
    """Second derivatives of F at each point, (G, C, C)."""
    a = p @ s.T  # (G, C)
    first = s / a.unsqueeze(2)
    return first + first.mT - s.T @ ((p / a.square()).unsqueeze(2) * s)
