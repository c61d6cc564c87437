"""What answering less buys: fewer examples, or less specific answers."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..decision import decide, expected_cost
from ..decision.answer import in_blocks
from ..decision.costs import wide
from ..decision.nested import Nodes
from ..decision.node import require_tree
from ..similarity import Tree
from ..similarity.ancestors import common_ancestors
from .costs import charged
from .ordinal import distances
from .registry import probabilities_and_truth

POINTS = 100
_ROUNDING = 1e-11  # expected costs this close count as equal, for costs up to 1


@dataclass(frozen=True)
class Curve:
    """Risk against coverage, from the most that can be answered to the least.

    Attributes:
        threshold: the threshold of each point.
        coverage: how much is answered there, in [0, 1].
        risk: the cost of these answers.
    """

    threshold: list[float]
    coverage: list[float]
    risk: list[float]


def abstention_curve(
    probabilities: Any,
    truth: Any,
    cost: Any = "zero-one",
    *,
    positions: Any = None,
    points: int = POINTS,
) -> Curve:
    """The cost of the answers if only those with the lowest expected cost are given.

    `threshold` is the `abstain` of :func:`simloss.decide`, `coverage` the share of examples that
    get an answer, `risk` the mean cost of these answers. If the probabilities know which examples
    are hard, the risk falls with the coverage.

    Args:
        probabilities: (..., C).
        truth: class indices, (...).
        cost: as for :func:`simloss.decide`; costs per example only as a function.
        positions: as for :func:`simloss.decide`.
        points: the maximum number of points.

    Example:
        >>> from simloss import metrics
        >>> p = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]
        >>> metrics.abstention_curve(p, [0, 1, 1, 0])
        Curve(threshold=[0.5, 0.4, 0.19..., 0.09...], coverage=[1.0, 0.75, 0.5, 0.25],
              risk=[0.25, 0.33..., 0.0, 0.0])
    """
    p, y = probabilities_and_truth(probabilities, truth)
    answers = decide(p, cost, positions=positions)
    expected = expected_cost(p, answers, cost, positions=positions).to(wide(p))
    costs = _costs(answers, y, cost, positions).to(wide(p))
    return abstention_points(expected, costs, points)


def abstention_points(expected: Tensor, costs: Tensor, points: int = POINTS) -> Curve:
    """The same from the expected and the actual cost of each answer, (M) each."""
    expected, order = expected.sort(stable=True)
    risk = costs[order].cumsum(0) / torch.arange(1, len(order) + 1, device=costs.device)
    # Examples of equal expected cost are answered all or not at all.
    is_last = torch.ones_like(expected, dtype=torch.bool)
    is_last[:-1] = expected.diff() > _ROUNDING * expected.abs().max()
    at = _some(is_last.nonzero().squeeze(1), points).flip(0)
    coverage = (at + 1).to(wide(at)) / len(order)
    return Curve(expected[at].tolist(), coverage.tolist(), risk[at].tolist())


def _costs(answers: Tensor, truth: Tensor, cost: Any, positions: Any) -> Tensor:
    if positions is None:
        return charged(answers, truth, cost, tuple(answers.shape))
    away = distances(answers, truth, positions)
    return away if cost in ("absolute", "median") else away.square()


def node_curve(probabilities: Any, truth: Any, tree: Tree, *, points: int = POINTS) -> Curve:
    r"""How often nodes are wrong against how specific they are, for every threshold.

    `threshold` is that of :func:`simloss.decide_node`, `risk` the share of answers that the truth
    is not below, and `coverage` how specific they are, 1 for a class and 0 for the root:

    .. math:: \frac1N \sum_n 1 - \frac{\log \ell(v_n)}{\log C}

    where :math:`\ell` is the number of classes below the answered node.

    Args:
        probabilities: (..., C).
        truth: class indices, (...).
        tree: a :class:`simloss.Tree` of the C classes.
        points: the maximum number of points.

    Example:
        >>> import simloss
        >>> tree = simloss.Tree.from_paths(["bird/robin", "bird/crow", "fish/cod", "fish/eel"])
        >>> p = [[0.8, 0.1, 0.1, 0.0], [0.5, 0.4, 0.1, 0.0]]
        >>> simloss.metrics.node_curve(p, [0, 1], tree)
        Curve(threshold=[0.0, 0.5, 0.8, 0.9...], coverage=[1.0, 0.75, 0.5, 0.0],
              risk=[0.5, 0.0, 0.0, 0.0])

    Reference:
        S. Goren et al., Hierarchical Selective Classification, NeurIPS 2024.
    """
    p, y = probabilities_and_truth(probabilities, truth)
    require_tree(tree, p.shape[-1])
    nodes = Nodes(tree, p.device)
    below = nodes.passes.up(torch.eye(p.shape[-1], device=p.device)).sum(0)  # (V), classes
    specific = 1 - below.to(wide(p)).log() / math.log(max(2, p.shape[-1]))

    def lines(block: Tensor, own: Tensor) -> Tensor:
        line, masses = nodes.lines_and_masses(block)
        common = common_ancestors(tree, line, own.unsqueeze(-1).expand_as(line))
        return torch.stack([masses, specific[line], (common != line).to(masses)], -1)

    masses, coverage, wrong = in_blocks(lines, p, y, entries=len(tree.parents)).unbind(-1)
    thresholds = _some(torch.cat([masses.new_zeros(1), masses[:, :-1].flatten()]).unique(), points)
    curve = Curve(thresholds.tolist(), [], [])
    for threshold in thresholds:
        at = nodes.stops(masses, float(threshold))  # (M, 1)
        curve.coverage.append(float(coverage.gather(-1, at).mean()))
        curve.risk.append(float(wrong.gather(-1, at).mean()))
    return curve


def _some(values: Tensor, count: int) -> Tensor:
    """At most this many of the values, including the first and the last."""
    count = _checks.class_count("points", count)
    if len(values) <= count:
        return values
    return values[torch.linspace(0, len(values) - 1, count).round().long()]
