"""Costs that differ from example to example, read as needed."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .costs import Cost, MatrixCost, first_lowest

Read = Callable[["np.ndarray[Any, Any]"], Any]


class ExampleCosts:
    """The costs of each example, read a few examples at a time.

    Attributes:
        read: example numbers (M) -> their costs, (M, C, C) or (M, C).
        num_classes: C; None if only `read` knows.
        entries: how many numbers are held per example.
    """

    def __init__(self, read: Read, num_classes: int | None, entries: int) -> None:
        self.read = read
        self.num_classes = num_classes
        self.entries = entries

    def at(self, examples: Tensor, like: Tensor) -> Cost:
        """The cost of these examples, (M), on the device and in the dtype of `like`."""
        costs = self.values(examples).to(like.device, like.dtype)
        return MistakeCost(costs) if costs.ndim == 2 else PairCosts(costs)

    def values(self, examples: Tensor) -> Tensor:
        """(M, C, C), or (M, C) for the cost of a wrong answer."""
        costs = _checks.float_tensor("cost", self.read(examples.cpu().numpy())).detach()
        count, classes = len(examples), self.num_classes or costs.shape[-1]
        if tuple(costs.shape) not in ((count, classes), (count, classes, classes)):
            raise ValueError(
                f"`cost` of {count} examples must have shape {(count, classes, classes)}, or "
                f"{(count, classes)} for the cost of a wrong answer, but got {tuple(costs.shape)}."
            )
        wrong = ~costs.isfinite().flatten(1).all(1)
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0])
            value = costs[at][~costs[at].isfinite()][0].item()
            where = int(examples[at])
            raise ValueError(f"`cost` must be finite, but got {value} for example {where}.")
        if costs.ndim == 3:
            _checks.not_a_similarity("cost", costs)
        return costs


class PairCosts(MatrixCost):
    """A cost of each pair of classes, different for each example, (M, C, C)."""

    def of_all(self, p: Tensor) -> Tensor:
        return (p.unsqueeze(1) @ self.matrix).squeeze(1)

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        at = answers.reshape(-1, 1, 1).expand(-1, p.shape[-1], 1)
        return (p * self.matrix.gather(2, at).squeeze(2)).sum(-1)

    def sizes(self, p: Tensor) -> Tensor:
        return (p.unsqueeze(1) @ self.matrix.abs()).squeeze(1)


class MistakeCost(Cost):
    """The cost of a wrong answer, for each example and answer, (M, C); a right one costs 0."""

    def __init__(self, costs: Tensor) -> None:
        self.costs = costs

    def of_all(self, p: Tensor) -> Tensor:
        return self.costs * (p.sum(-1, keepdim=True) - p)

    def of(self, p: Tensor, answers: Tensor) -> Tensor:
        return self.of_all(p).gather(-1, answers.unsqueeze(-1)).squeeze(-1)

    def best(self, p: Tensor, rounding: float) -> Tensor:
        costs = self.of_all(p)
        # 1 - p is a difference.
        own = 4 * torch.finfo(p.dtype).eps * self.costs.abs()
        at = costs.argmin(-1, keepdim=True)
        return first_lowest(costs, rounding * costs.gather(-1, at).abs() + own.gather(-1, at))


def example_costs(cost: Any, shape: tuple[int, ...], num_classes: int) -> ExampleCosts | None:
    """The costs of each example, if `cost` has that form for examples of this shape.

    Args:
        cost: a function of example numbers (M), or an array (..., C, C) or (..., C).
        shape: the shape of the examples, (...).
        num_classes: C.
    """
    if is_function(cost):
        return ExampleCosts(cost, num_classes, num_classes**2)
    given, pairs = tuple(cost.shape), (num_classes, num_classes)
    if given == pairs or (len(given) < 3 and given != (*shape, num_classes)):
        return None
    if given not in ((*shape, *pairs), (*shape, num_classes)):
        raise ValueError(
            f"`cost` must have shape {pairs}, or {(*shape, *pairs)} or {(*shape, num_classes)} for "
            f"costs per example, but got {given}."
        )
    values = cost.to_numpy() if hasattr(cost, "to_numpy") else cost  # a pandas table
    own = given[len(shape) :]
    flat = values.reshape(-1, *own)
    # Slices, so that an array on disk is read a few examples at a time.
    return ExampleCosts(lambda some: flat[some[0] : some[-1] + 1], num_classes, math.prod(own))


def is_function(cost: Any) -> bool:
    """Whether it returns costs and is not itself a cost."""
    return callable(cost) and not hasattr(cost, "shape")
