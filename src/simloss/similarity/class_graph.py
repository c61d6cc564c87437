"""Which classes are neighbours: the edges along which logits can be kept smooth."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .circular import CircularSimilarity
from .matrix import as_similarity
from .order import OrderSimilarity
from .range_extreme import inner_nodes
from .taxonomy import TreeSimilarity
from .values import ValueSimilarity


@dataclass(frozen=True, eq=False)
class ClassGraph:
    r"""Weighted edges between nodes: the C classes, then groups of classes.

    A group is a node whose value is the mean logit of its classes. Pulling m siblings together
    then takes m edges instead of one per pair:
    :math:`\sum_c (z_c - \bar z)^2 = \frac1m \sum_{c < d} (z_c - z_d)^2`.

    Attributes:
        num_classes: C.
        first: the node at one end of each edge, (E); class c is node c, and group g is node C + g.
        second: the node at the other end, (E).
        weight: the weight of each edge, (E).
        member: a class that is in a group, (M).
        group: the group it is in, (M), counted from 0.
        total_weight: the weight of the penalty summed over all examples: with n examples, the
            weight beside the mean loss is ``total_weight / n``.
    """

    num_classes: int
    first: Tensor
    second: Tensor
    weight: Tensor
    member: Tensor
    group: Tensor
    total_weight: float

    def penalty(self, input: Tensor) -> Tensor:
        r""":math:`\sum_e w_e (z_i - z_j)^2` of logits (..., C), shape (...).

        A class whose logit is minus infinity is impossible: it is in no group, and has no edges.
        """
        weight = self.weight.to(input)
        if self.is_path:
            ends = input[..., :1] if len(weight) == self.num_classes else input[..., :0]
            step = torch.cat([input, ends], -1).diff(dim=-1)  # (..., E)
        else:
            node = torch.cat([input, self._means(input)], -1)  # (..., C + G)
            first, second = self.first.to(input.device), self.second.to(input.device)
            step = node[..., first] - node[..., second]  # (..., E)
        # Not a product with 0: infinity times 0 is NaN, also in the backward pass.
        return (torch.where(step.isfinite(), step, 0.0).square() * weight).sum(-1)

    def __mul__(self, factor: float) -> "ClassGraph":
        """The same edges, each weight times `factor`: ``0.2 * class_graph(S)``."""
        return replace(self, weight=self.weight * _checks.at_least_zero("factor", factor))

    __rmul__ = __mul__

    @cached_property
    def is_path(self) -> bool:
        """Whether edge e is from class e to the next one: along a line, or once round a ring."""
        first = torch.arange(len(self.weight), device=self.first.device)
        return (
            len(first) in (self.num_classes - 1, self.num_classes)
            and torch.equal(self.first, first)
            and torch.equal(self.second, (first + 1) % self.num_classes)
        )

    @cached_property
    def groups(self) -> tuple[Tensor, Tensor]:
        """Where the classes of each group begin, (G + 1), and the classes, group by group, (M)."""
        group, place = self.group.sort(stable=True)
        begin = torch.searchsorted(group, torch.arange(self._num_groups + 1, device=group.device))
        return begin, self.member[place].contiguous()

    @cached_property
    def _num_groups(self) -> int:
        return int(self.group.max()) + 1 if len(self.group) else 0

    def _means(self, input: Tensor) -> Tensor:
        """The mean logit of each group, over the classes that are possible, (..., G)."""
        group, some = self.group.to(input.device), input[..., self.member.to(input.device)]
        counts = (some != -torch.inf).to(input.dtype)
        none = input.new_zeros(*input.shape[:-1], self._num_groups)
        sums = none.index_add(-1, group, torch.where(counts > 0, some, 0.0))
        size = none.index_add(-1, group, counts)
        return torch.where(size > 0, sums / size.clamp(min=1), -torch.inf)


def class_graph(similarity: Any, *, nearest: int = 5) -> ClassGraph:
    r"""The edges between the classes that a similarity makes neighbours.

    .. math:: \sum_{(i, j)} w_{ij} (z_i - z_j)^2

    is small if logits vary little between similar classes. The edges and their weights:

    - :func:`order`: neighbours, each :math:`1 / (C - 1)`: the mean of the squared steps;
    - :func:`circular`: the ring, each 1 / C;
    - :func:`values`: neighbours, stiffer the closer they are, :math:`\overline{\mathrm{gap}} /
      \mathrm{gap}` times :math:`1 / (C - 1)`; equal positions count as the smallest gap;
    - :func:`tree`: each class to the mean of its siblings (all classes below its parent), and each
      superclass to the mean of its own siblings, up to the level below the root, which is free;
      each 1 / C. With one level of superclasses: the mean of :math:`(z_c - \bar z)^2`;
    - any other: the `nearest` classes of each class, weighted by S; the weights sum to 1.

    The total weight is :math:`C^2 / 3` along a line or ring and 0.3 C otherwise. How it grows with
    C is derived; 1/3 and 0.3 are measured: docs/mathematics.md. The identity has no edges.

    Args:
        similarity: any similarity.
        nearest: the number of neighbours per class if S has no such structure; reads all of S.

    Example:
        >>> import torch
        >>> from simloss.similarity import order
        >>> graph = class_graph(order(4, r=0.5))
        >>> [*zip(graph.first.tolist(), graph.second.tolist())]
        [(0, 1), (1, 2), (2, 3)]
        >>> graph.penalty(torch.tensor([0.0, 1.0, 3.0, 3.0]))  # (1 + 4 + 0) / 3
        tensor(1.6667)
    """
    whole = as_similarity(similarity).detached()
    nearest = _checks.class_count("nearest", nearest)
    count = whole.num_classes
    line = float(count**2) / 3
    if isinstance(whole, ValueSimilarity):
        return _graph(count, *_by_position(whole.tensors["position"]), line)
    if isinstance(whole, (OrderSimilarity, CircularSimilarity)) and not _is_identity(whole):
        first = torch.arange(count - 1)
        if isinstance(whole, CircularSimilarity) and count > 2:
            first = torch.arange(count)
        weight = torch.full((len(first),), 1 / max(1, len(first)), dtype=torch.float64)
        return _graph(count, first, (first + 1) % count, weight, line)
    if isinstance(whole, TreeSimilarity):
        return _of_tree(whole)
    return _graph(count, *_by_similarity(whole, nearest), 0.3 * count)


def _is_identity(whole: Similarity) -> bool:
    r = whole.tensors["r"]
    return not torch._C._functorch.is_functorch_wrapped_tensor(r) and float(r) == 0


def _graph(
    num_classes: int, first: Tensor, second: Tensor, weight: Tensor, total_weight: float
) -> ClassGraph:
    none = torch.empty(0, dtype=torch.long)
    return ClassGraph(num_classes, first, second, weight, none, none, total_weight)


def _by_position(position: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    at, place = position.sort(stable=True)
    gap = at.diff()
    if bool((gap > 0).any()):
        gap = gap.clamp(min=float(gap[gap > 0].min()))
    else:
        gap = torch.ones_like(gap)
    return place[:-1], place[1:], gap.mean() / gap / max(1, len(gap))


def _by_similarity(whole: Similarity, nearest: int) -> tuple[Tensor, Tensor, Tensor]:
    count = whole.num_classes
    edges = torch.zeros(0, dtype=torch.long)
    weights = torch.zeros(0, dtype=torch.float64)
    for some in whole._chunks():
        rows = whole.rows(some, torch.float64).scatter(1, some.unsqueeze(1), -1.0)
        value, other = rows.topk(min(nearest, count - 1), dim=1)  # (M, k)
        own = some.unsqueeze(1).expand_as(other)
        low, high = torch.minimum(own, other), torch.maximum(own, other)
        edges = torch.cat([edges, (low * count + high)[value > 0]])
        weights = torch.cat([weights, value[value > 0]])
    edge, place = edges.unique(return_inverse=True)  # mutual neighbours share one edge
    weight = weights.new_zeros(len(edge)).scatter_reduce(0, place, weights, "amax")
    return edge // count, edge % count, weight / weight.sum()


def _of_tree(whole: TreeSimilarity) -> ClassGraph:
    count = whole.num_classes
    height = whole.tensors["between"] * (1 if whole.options["measure"] == "height" else -1)
    leaf = whole.tensors["position"].argsort().tolist()  # in depth-first order
    children = inner_nodes(height.tolist())[:-1]  # without the root
    below: list[list[int]] = []
    edges = []
    for group, some in enumerate(children):
        below.append([])
        for node in some:
            below[group] += [leaf[node]] if node < count else below[node - count]
            edges.append((leaf[node] if node < count else node, count + group))
    first, second = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).unbind(1)
    member = torch.tensor([c for some in below for c in some], dtype=torch.long)
    sizes = torch.tensor([len(some) for some in below], dtype=torch.long)
    of_group = torch.arange(len(below)).repeat_interleave(sizes)
    weight = torch.full((len(edges),), 1 / count, dtype=torch.float64)
    return ClassGraph(count, first, second, weight, member, of_group, 0.3 * count)
