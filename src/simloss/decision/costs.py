"""The costs of wrong answers. Each has a fast way to its lowest expected value.

All of them equal these two lines of plain torch, where D[k, c] is the cost of answering c
if k is true::

    expected = probabilities @ D      # (M, C)
    best = expected.argmin(-1)        # (M); the first of equals

and only :class:`MatrixCost` ever holds D.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor

from ..similarity import Similarity, Tree
from .passes import TreePasses
from .rules import RULES

# Each cost by its name, and by the word for what it answers with.
_BY_WORD = {name: RULES[name].cost or "" for name in ("argmax", "median", "mean")}
WORDS = {cost: cost for cost in _BY_WORD.values()} | _BY_WORD

# The number of entries of C x C to hold at once if all of them are too many.
_CHUNK_ENTRIES = 1 << 22


class Cost(ABC):
    """The cost of every answer, as functions of the probabilities p, (M, C), in float64."""

    entries = 0  # how many numbers of its own it holds per example

    def at(self, examples: Tensor, like: Tensor) -> "Cost":
        """The cost of these examples: the same for all."""
        return self

    @abstractmethod
    def of_all(self, p: Tensor) -> Tensor:
        """The expected cost of every answer, (M, C)."""

    @abstractmethod
    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        """The expected cost of the given answers, (M)."""

    @abstractmethod
    def best(self, p: Tensor, rounding: float) -> Tensor:
        """The answer of lowest expected cost, (M); costs within `rounding` count as equal."""


class ZeroOneCost(Cost):
    """1 for every wrong answer: the most probable class is best."""

    def of_all(self, p: Tensor) -> Tensor:
        return p.sum(-1, keepdim=True) - p

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return p.sum(-1) - p.gather(-1, answers.unsqueeze(-1)).squeeze(-1)

    def best(self, p: Tensor, rounding: float) -> Tensor:
        return p.argmax(-1)


class PositionCost(Cost):
    """A cost that depends on the distance between two positions on a line; `place` sorts them."""

    def __init__(self, positions: Tensor) -> None:
        self.positions = positions  # (C)
        self.sorted, self.place = positions.sort(stable=True)
        # Of classes at the same position, the first is answered.
        self.first_class = self.place[torch.searchsorted(self.sorted, self.sorted)]  # (C)

    def in_order(self, p: Tensor) -> Tensor:
        """The probabilities from the lowest position to the highest, (M, C)."""
        is_in_order = torch.equal(self.place, torch.arange(len(self.place), device=p.device))
        return p if is_in_order else p[:, self.place]

    def in_class_order(self, costs: Tensor) -> Tensor:
        return torch.empty_like(costs).index_copy_(1, self.place, costs)


class AbsoluteCost(PositionCost):
    r"""|x_k - x_c|: the median is best, the first class that reaches half of the probability.

    One running sum gives all expected costs, because the step from one position to the next costs
    (x_{c+1} - x_c) times the probability at or below c minus that above.
    """

    def of_all(self, p: Tensor) -> Tensor:
        p = self.in_order(p)
        total = p.sum(-1, keepdim=True)
        steps = self.sorted.diff() * (2 * p.cumsum(-1)[:, :-1] - total)  # (M, C-1)
        lowest = (p * (self.sorted - self.sorted[0])).sum(-1, keepdim=True)  # (M, 1)
        return self.in_class_order(torch.cat([lowest, lowest + steps.cumsum(-1)], -1))

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return (p * (self.positions - self.positions[answers].unsqueeze(-1)).abs()).sum(-1)

    def best(self, p: Tensor, rounding: float) -> Tensor:
        below = self.in_order(p).cumsum(-1)  # (M, C)
        half = below[:, -1:] / 2 * (1 - rounding)
        return self.first_class[torch.searchsorted(below, half).squeeze(-1)]


class SquaredCost(PositionCost):
    r"""(x_k - x_c)^2: the class closest to the mean is best, the lower of two at equal distance.

    With `thresholds`, (C - 1), the mean is divided there instead.
    """

    def __init__(self, positions: Tensor, thresholds: Tensor | None = None) -> None:
        super().__init__(positions)
        halfway = (self.sorted[1:] + self.sorted[:-1]) / 2  # (C-1)
        self.thresholds = halfway if thresholds is None else thresholds

    def of_all(self, p: Tensor) -> Tensor:
        mean = self._mean(p)  # (M, 1)
        variance = (p * (self.positions - mean).square()).sum(-1, keepdim=True)
        return variance + p.sum(-1, keepdim=True) * (self.positions - mean).square()

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return (p * (self.positions - self.positions[answers].unsqueeze(-1)).square()).sum(-1)

    def best(self, p: Tensor, rounding: float) -> Tensor:
        return self.first_class[torch.searchsorted(self.thresholds, self.scores(p, rounding))]

    def scores(self, p: Tensor, rounding: float) -> Tensor:
        """The mean, minus what rounding may have added to it, (M)."""
        mean = self._mean(p)
        # How far rounding of this example's probabilities moves the mean: a distant position
        # without probability must not count. The mean itself is made of rounded sums.
        spread = (p * (self.positions - mean).abs()).sum(-1)
        own = 4 * torch.finfo(p.dtype).eps * self.positions.abs().max()
        return mean.squeeze(-1) - rounding * spread - own

    def _mean(self, p: Tensor) -> Tensor:
        return (p @ self.positions / p.sum(-1)).unsqueeze(-1)  # (M, 1)


class MatrixCost(Cost):
    """Any cost of each pair, (C, C), row = true class."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix
        self.has_gains = bool((matrix < 0).any())

    def of_all(self, p: Tensor) -> Tensor:
        return p @ self.matrix

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return (p * self.matrix.T[answers]).sum(-1)

    def sizes(self, p: Tensor) -> Tensor:
        """The costs with gains counted like costs of the same size, (M, C)."""
        return p @ self.matrix.abs()

    def best(self, p: Tensor, rounding: float) -> Tensor:
        costs = self.of_all(p)
        sizes = self.sizes(p) if self.has_gains else costs
        at_best = sizes.gather(-1, costs.argmin(-1, keepdim=True))  # (M, 1)
        return first_lowest(costs, rounding * at_best)


class SimilarityCost(Cost):
    """1 - S, a few classes at a time: S may be far too large to hold."""

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity

    def of_all(self, p: Tensor) -> Tensor:
        answered = torch.cat(
            [p @ self._columns(some, p).T for some in self._some_classes(p.device)], -1
        )
        return p.sum(-1, keepdim=True) - answered

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return p.sum(-1) - (p * self._columns(answers, p)).sum(-1)

    def best(self, p: Tensor, rounding: float) -> Tensor:
        costs = self.of_all(p)
        own = 4 * torch.finfo(p.dtype).eps  # 1 - S p is a difference
        return first_lowest(costs, rounding * costs.amin(-1, keepdim=True) + own)

    def _some_classes(self, device: torch.device) -> Iterator[Tensor]:
        count = self.similarity.num_classes
        yield from torch.arange(count, device=device).split(max(1, _CHUNK_ENTRIES // count))

    def _columns(self, answers: Tensor, p: Tensor) -> Tensor:
        return self.similarity.columns(answers, p.dtype).to(p.device).detach()  # (*, C)


class TreeCost(Cost):
    r"""The height of the lowest common ancestor, for every node as answer, without C x C.

    One pass up sums the probability below each node. One pass down uses that a truth below a child
    meets the child there and not at its parent:
    f(child) = f(parent) - p(below child) (height(parent) - height(child)).
    """

    def __init__(self, tree: Tree, device: torch.device, dtype: torch.dtype) -> None:
        self.num_classes = tree.num_classes
        self.passes = TreePasses(tree, device)
        self.heights = torch.tensor(tree.heights, device=device, dtype=dtype)  # (V)
        above = self.heights[self.passes.parents.clamp(min=0)]
        self.steps = (self.heights - above)[:-1]  # (V - 1), from the parent down: negative

    def of_nodes(self, p: Tensor) -> Tensor:
        """The expected height of the lowest common ancestor of the truth and each node, (M, V)."""
        changes = self.passes.up(p)
        changes[:, :-1] *= self.steps
        changes[:, -1] *= self.heights[-1]
        return self.passes.down(changes)

    def of_all(self, p: Tensor) -> Tensor:
        return self.of_nodes(p)[:, : self.num_classes]

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return self.of_nodes(p).gather(-1, answers.unsqueeze(-1)).squeeze(-1)

    def best(self, p: Tensor, rounding: float) -> Tensor:
        costs = self.of_all(p)
        return first_lowest(costs, self.slack(costs, rounding))

    def slack(self, costs: Tensor, rounding: float) -> Tensor:
        """How much the costs of an example may differ and still be equal, (M, 1)."""
        own = 4 * torch.finfo(costs.dtype).eps * float(self.heights[-1])  # each step down subtracts
        return rounding * costs.amin(-1, keepdim=True) + own


def first_lowest(costs: Tensor, slack: Tensor | float) -> Tensor:
    """The first column within `slack` of the lowest, a number or (M, 1); (M)."""
    return (costs <= costs.amin(-1, keepdim=True) + slack).to(torch.uint8).argmax(-1)


def wide(tensor: Tensor) -> torch.dtype:
    """The dtype for work that must not lose digits: float64 if the device has it."""
    return torch.float32 if tensor.device.type == "mps" else torch.float64
