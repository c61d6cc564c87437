"""Answers that grow with a threshold from 0 to 1: nodes, intervals, sets.

At 0 each is as small as possible, at 1 it holds every class. The distance of the truth from the
answer falls in steps as the threshold rises; :meth:`Nested.steps` gives their places and heights.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from ..similarity import Tree
from ..similarity.ancestors import common_ancestors
from .costs import Cost
from .passes import TreePasses

# The number of entries of C x C to hold at once.
_CHUNK_ENTRIES = 1 << 22


class Steps(NamedTuple):
    r"""The loss of each of M examples as a function of the threshold t.

    .. math:: L_n(t) = \sum_j h_{nj}\, [t_{nj} > t]

    Attributes:
        at: the place of each step, (M, J).
        height: how much the loss falls there, (M, J), at least 0.
    """

    at: Tensor
    height: Tensor


class Nested(ABC):
    """One kind of such answers, from probabilities p (M, C) in float64.

    Attributes:
        worst: the largest possible distance of the truth from the answer.
        entries: how many numbers are held per example.
    """

    worst: float
    entries: int

    @abstractmethod
    def answers(self, p: Tensor, threshold: float) -> Tensor:
        """The answer of each example."""

    @abstractmethod
    def steps(self, p: Tensor, truth: Tensor) -> Steps:
        """How far outside the answer the truth, (M), lies."""


class Nodes(Nested):
    """The first node above the most probable class with more probability than the threshold.

    The distance of the truth is the number of levels to climb until it is below the node.
    """

    def __init__(self, tree: Tree, device: torch.device) -> None:
        self.tree = tree
        self.passes = TreePasses(tree, device)
        line = [torch.arange(len(tree.parents), device=device)]
        upwards = self.passes.parents.clone()
        upwards[-1] = tree.root
        for _ in range(max(tree.depths)):
            line.append(upwards[line[-1]])
        self.lines = torch.stack(line, -1)  # (V, H + 1), each node and its ancestors, then the root
        self.heights = torch.tensor(tree.heights, device=device)  # (V)
        self.worst = float(tree.heights[tree.root])
        self.entries = len(tree.parents)

    def lines_and_masses(self, p: Tensor) -> tuple[Tensor, Tensor]:
        """The most probable class and its ancestors, and their probabilities, (M, H + 1) each."""
        lines = self.lines[p.argmax(-1)]
        below = self.passes.up(p)
        return lines, (below / below[:, -1:]).gather(-1, lines).clamp(max=1)

    def answers(self, p: Tensor, threshold: float) -> Tensor:
        lines, masses = self.lines_and_masses(p)
        return lines.gather(-1, self.stops(masses, threshold)).squeeze(-1)

    @staticmethod
    def stops(masses: Tensor, threshold: float) -> Tensor:
        """Where each example stops on its path, (M, 1); at the root at the latest."""
        is_enough = masses > threshold
        is_enough[:, -1] = True
        return is_enough.to(torch.uint8).argmax(-1, keepdim=True)

    def steps(self, p: Tensor, truth: Tensor) -> Steps:
        lines, masses = self.lines_and_masses(p)
        common = common_ancestors(self.tree, lines, truth.unsqueeze(-1).expand_as(lines))
        away = (self.heights[common] - self.heights[lines]).to(p)  # (M, H + 1)
        return Steps(masses[:, :-1], -away.diff())


class Intervals(Nested):
    """The classes between two quantiles equally far from the median, for ordered classes.

    The distance of the truth is the number of classes to the nearest end.
    """

    def __init__(self, num_classes: int) -> None:
        self.worst = float(num_classes - 1)
        self.entries = 2 * num_classes

    def answers(self, p: Tensor, threshold: float) -> Tensor:
        below, above = self._reached(p)
        first = (below > threshold).sum(-1)
        last = p.shape[-1] - 1 - (above > threshold).sum(-1)
        return torch.stack([first, last], -1)  # (M, 2)

    def steps(self, p: Tensor, truth: Tensor) -> Steps:
        below, above = self._reached(p)
        classes, y = torch.arange(p.shape[-1] - 1, device=p.device), truth.unsqueeze(-1)
        # Below the truth, classes are missing at the upper end; above it, at the lower end.
        return Steps(
            torch.cat([above, below], -1), torch.cat([classes < y, classes >= y], -1).to(p)
        )

    @staticmethod
    def _reached(p: Tensor) -> tuple[Tensor, Tensor]:
        """The threshold from which each class but the last, and each but the first, is inside."""
        up_to = (p.cumsum(-1) / p.sum(-1, keepdim=True))[:, :-1].clamp(max=1)  # (M, C - 1)
        return 1 - 2 * up_to, 2 * up_to - 1


class Sets(Nested):
    """The most probable class, and all whose probability is at least 1 - threshold.

    The distance of the truth is how much more the cheapest class of the set costs than the
    cheapest of all.
    """

    def __init__(self, cost: Cost, num_classes: int, like: Tensor) -> None:
        self.cost = cost
        self.entries = num_classes
        rows = max(1, _CHUNK_ENTRIES // num_classes)
        every = torch.arange(num_classes, device=like.device).split(rows)
        self.worst = max(float(self._too_much(some, num_classes, like).amax()) for some in every)

    @staticmethod
    def answers(p: Tensor, threshold: float) -> Tensor:
        is_inside = 1 - p / p.sum(-1, keepdim=True) <= threshold
        return is_inside.scatter(-1, p.argmax(-1, keepdim=True), True)  # (M, C)

    def steps(self, p: Tensor, truth: Tensor) -> Steps:
        missing, order = (1 - p / p.sum(-1, keepdim=True)).sort(stable=True)
        away = self._too_much(truth, p.shape[-1], p).gather(-1, order).cummin(-1).values
        return Steps(missing[:, 1:], -away.diff())

    def _too_much(self, truth: Tensor, num_classes: int, like: Tensor) -> Tensor:
        """How much more each answer costs than the cheapest if these classes are true, (M, C)."""
        certain = torch.nn.functional.one_hot(truth, num_classes).to(like)
        costs = self.cost.of_all(certain)
        return costs - costs.amin(-1, keepdim=True)
