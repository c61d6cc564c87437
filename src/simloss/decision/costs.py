"""What a wrong answer costs. Every cost knows a fast way to its lowest expected value.

All of them speak of the same two lines of plain torch, with D[k, c] the cost of answering c
where k is true::

    expected = probabilities @ D      # (M, C)
    best = expected.argmin(-1)        # (M); the first of equals

and none but :class:`MatrixCost` ever holds D.
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

# Numbers of C x C that are looked at together where all of them are too much to hold.
_CHUNK_ENTRIES = 1 << 22


class Cost(ABC):
    """The cost of every answer, as functions of the probabilities p, (M, C), in float64."""

    entries = 0  # numbers of its own that it holds for each example

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
        """The answer of lowest expected cost, (M); what differs by `rounding` only is equal."""


class ZeroOneCost(Cost):
    """1 for every wrong answer: the most probable class is best."""

    def of_all(self, p: Tensor) -> Tensor:
        return p.sum(-1, keepdim=True) - p

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return p.sum(-1) - p.gather(-1, answers.unsqueeze(-1)).squeeze(-1)

    def best(self, p: Tensor, rounding: float) -> Tensor:
        return p.argmax(-1)


class PositionCost(Cost):
    """A cost of the distance between two positions on a line. `place` sorts the classes by it."""

    def __init__(self, positions: Tensor) -> None:
        self.positions = positions  # (C)
        self.sorted, self.place = positions.sort(stable=True)
        # Of classes at one position the first is answered.
        self.first_class = self.place[torch.searchsorted(self.sorted, self.sorted)]  # (C)

    def in_order(self, p: Tensor) -> Tensor:
        """The probabilities from the lowest position to the highest, (M, C)."""
        is_in_order = torch.equal(self.place, torch.arange(len(self.place), device=p.device))
        return p if is_in_order else p[:, self.place]

    def in_class_order(self, costs: Tensor) -> Tensor:
        return torch.empty_like(costs).index_copy_(1, self.place, costs)


class AbsoluteCost(PositionCost):
    r"""|x_k - x_c|: the median is best, the first class with half of the probability up to it.

    All expected costs by one running sum, because the step from one position to the next costs
    (x_{c+1} - x_c) times what lies at or below c less what lies above.
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
    r"""(x_k - x_c)^2: the class nearest to the mean is best, the lower one halfway between two.

    With `thresholds`, (C - 1), the mean is cut there instead, wherever they are.
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
        """The mean, less what only rounding may have added to it, (M)."""
        mean = self._mean(p)
        # What rounding of this example's probabilities moves the mean by: a far position that has
        # none of them must not count. The mean itself is made of rounded sums.
        spread = (p * (self.positions - mean).abs()).sum(-1)
        own = 4 * torch.finfo(p.dtype).eps * self.positions.abs().max()
        return mean.squeeze(-1) - rounding * spread - own

    def _mean(self, p: Tensor) -> Tensor:
        return (p @ self.positions / p.sum(-1)).unsqueeze(-1)  # (M, 1)


class MatrixCost(Cost):
    """Any cost of every pair, (C, C), row = true class."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix
        self.has_gains = bool((matrix < 0).any())

    def of_all(self, p: Tensor) -> Tensor:
        return p @ self.matrix

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return (p * self.matrix.T[answers]).sum(-1)

    def sizes(self, p: Tensor) -> Tensor:
        """The costs where a gain counts like a cost of its size, (M, C)."""
        return p @ self.matrix.abs()

    def best(self, p: Tensor, rounding: float) -> Tensor:
        costs = self.of_all(p)
        sizes = self.sizes(p) if self.has_gains else costs
        at_best = sizes.gather(-1, costs.argmin(-1, keepdim=True))  # (M, 1)
        return first_lowest(costs, rounding * at_best)


class SimilarityCost(Cost):
    """1 - S, some classes at a time: S may be far too large to hold."""

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
    r"""The height of the lowest common ancestor, for every node as answer and without C x C.

    One pass up sums the probability below each node; one pass down uses that whoever is below a
    child meets it at the child and not at its parent:
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
        """What an example's costs may differ by and still be equal, (M, 1)."""
        own = 4 * torch.finfo(costs.dtype).eps * float(self.heights[-1])  # each step down subtracts
        return rounding * costs.amin(-1, keepdim=True) + own


def first_lowest(costs: Tensor, slack: Tensor | float) -> Tensor:
    """The first column that is lowest but for `slack`, a number or (M, 1); (M)."""
    return (costs <= costs.amin(-1, keepdim=True) + slack).to(torch.uint8).argmax(-1)


def wide(tensor: Tensor) -> torch.dtype:
    """The dtype of work that must not lose digits: float64 where the device has it."""
    return torch.float32 if tensor.device.type == "mps" else torch.float64
