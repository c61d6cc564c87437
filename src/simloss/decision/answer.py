"""The class to answer, and the expected cost of that answer."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .as_cost import as_cost
from .costs import Cost, wide

# The answer if no class is good enough.
UNSURE = -1

# The number of probabilities to convert to float64 at once: 2 MB, which stay in the cache.
_BLOCK_ENTRIES = 1 << 18

# Expected costs this many roundings apart still count as equal.
_ROUNDINGS = 4


def decide(
    probabilities: Any,
    cost: Any = "zero-one",
    *,
    positions: Any = None,
    thresholds: Any = None,
    top_k: int | None = None,
    abstain: float | None = None,
) -> Any:
    r"""The class with the lowest expected cost.

    .. math:: \hat c = \operatorname*{argmin}_c \sum_k p_k\, D_{kc}

    D is the cost of answering c if k is true. The probabilities should be calibrated: first fit
    a temperature on validation data (:func:`simloss.calibration.fit_temperature`).

    Expected costs that differ only by rounding (4 units in the last place, in the
    probabilities' dtype) are equal; the first of equal classes is answered, or with `positions`
    the lowest one.

    Args:
        probabilities: (..., C), **classes last**; a tensor or an array. Not logits. For the output
            of a segmentation network, (N, C, H, W), use ``softmax(1).movedim(1, -1)``.
        cost: one of

            - "zero-one" or "argmax": 1 for every wrong class. The most probable class.
            - "absolute" or "median": :math:`|k - c|`. The first class at which the cumulative
              probability reaches 1/2.
            - "squared" or "mean": :math:`(k - c)^2`. The mean, rounded; a half rounds down.
            - a (C, C) array, row = true class; any finite numbers. One that looks like a
              similarity, 1 on its diagonal, is refused.
            - a :class:`simloss.Similarity`: :math:`1 - S_{kc}`.
            - a :class:`simloss.Tree`: the height of the lowest common ancestor.
            - costs per example: a (..., C, C) array, or (..., C) for the cost of a **wrong** answer
              if a right one costs 0. An array on disk (`numpy.memmap`) is read a few examples at a
              time. If N = C, a (C, C) array always means pairs of classes.
            - a function that returns such costs: from example numbers (M), counted over all of
              (...), to (M, C, C) or (M, C). It is called with a few examples at a time.

            The first three and the tree take O(C) per example and never hold C x C numbers.
        positions: the position of each class, (C), for "absolute" and "squared": ages, the centres
            of bins. By default class c lies at c.
        thresholds: for "mean", the thresholds that divide the mean into classes, (C - 1), instead
            of halfway between two: :func:`simloss.fit_thresholds` finds them for a metric such as
            quadratic kappa.
        top_k: return the `top_k` best classes instead of one, the best first.
        abstain: answer -1, "unsure", if even the best class has an expected cost above this.

    Returns:
        Class indices of shape (...), or (..., top_k); a tensor if `probabilities` is one, else an
        array.

    Example:
        >>> import torch, simloss
        >>> p = torch.tensor([0.4, 0.0, 0.3, 0.3])
        >>> [simloss.decide(p, cost).item() for cost in ("argmax", "median", "mean")]
        [0, 2, 1]
        >>> simloss.decide(p, "median", top_k=3)
        tensor([2, 1, 0])
        >>> simloss.decide(p, simloss.similarity.order(4, r=0.9)).item()
        2
        >>> simloss.decide(p, abstain=0.5).item()
        -1
        >>> fraud = torch.tensor([[0.97, 0.03], [0.97, 0.03]])  # it is not, it is
        >>> amount = torch.tensor([20.0, 900.0])
        >>> simloss.decide(fraud, lambda n: [[amount[i], 5.0] for i in n])  # 5 to ask the owner
        tensor([0, 1])
    """
    p = _checks.probabilities(probabilities)
    top_k = None if top_k is None else _checks.rank("top_k", top_k, p.shape[-1])
    threshold = None if abstain is None else _checks.threshold("abstain", abstain)
    known_cost = as_cost(cost, p, positions, thresholds)
    rounding = rounding_of(probabilities)

    def answers(block: Tensor, examples: Tensor) -> Tensor:
        own = known_cost.at(examples, block)
        best = own.best(block, rounding)  # (M)
        found = best if top_k is None else _ranking(block, own, best, top_k, rounding)
        if threshold is None:
            return found
        is_unsure = own.of(block, best) > threshold + rounding * abs(threshold)
        return found.masked_fill(is_unsure if top_k is None else is_unsure.unsqueeze(-1), UNSURE)

    return in_kind_of(probabilities, in_blocks(answers, p, _numbers(p), entries=known_cost.entries))


def expected_cost(
    probabilities: Any, decision: Any = None, cost: Any = "zero-one", *, positions: Any = None
) -> Any:
    r"""The expected cost of an answer, :math:`\sum_k p_k\, D_{kc}`.

    Args:
        probabilities: (..., C), as for :func:`decide`.
        decision: the classes answered, (...); -1, "unsure", costs NaN. None means every class.
        cost: as for :func:`decide`.
        positions: as for :func:`decide`.

    Returns:
        (...), or without `decision` (..., C); of the same type as `probabilities`.

    Example:
        >>> import torch, simloss
        >>> p = torch.tensor([0.5, 0.25, 0.25])
        >>> simloss.expected_cost(p, cost="absolute")
        tensor([0.7500, 0.7500, 1.2500])
        >>> simloss.expected_cost(p, simloss.decide(p), "absolute").item()
        0.75
    """
    p = _checks.probabilities(probabilities)
    known_cost = as_cost(cost, p, positions)

    def of_all(block: Tensor, examples: Tensor) -> Tensor:
        return known_cost.at(examples, block).of_all(block)

    def of(block: Tensor, examples: Tensor, answers: Tensor) -> Tensor:
        return known_cost.at(examples, block).of(block, answers)

    if decision is None:
        costs = in_blocks(of_all, p, _numbers(p), entries=known_cost.entries)
        return in_kind_of(probabilities, costs.to(p.dtype))
    chosen = _checks.index_tensor("decision", decision).to(p.device)
    is_unsure = chosen == UNSURE
    chosen = _checks.class_indices("decision", chosen.masked_fill(is_unsure, 0), p.shape[-1])
    _checks.same_shape("decision", chosen.shape, "probabilities", p.shape[:-1])
    costs = in_blocks(of, p, _numbers(p), chosen, entries=known_cost.entries)
    return in_kind_of(probabilities, costs.masked_fill(is_unsure, float("nan")).to(p.dtype))


def _numbers(p: Tensor) -> Tensor:
    """The number of each example, (...)."""
    return torch.arange(p.shape[:-1].numel()).reshape(p.shape[:-1])


def in_blocks(
    function: Callable[..., Tensor], p: Tensor, *others: Tensor, entries: int = 0
) -> Tensor:
    """`function` of the flattened probabilities, a few examples at a time in float64.

    It also gets the part of `others`, (...), for these examples. `entries` is how many numbers it
    needs per example besides the probabilities.
    """
    results = [function(*block) for block in blocks(p, *others, entries=entries)]
    return torch.cat(results).reshape((*p.shape[:-1], *results[0].shape[1:]))


def blocks(p: Tensor, *others: Tensor, entries: int = 0) -> Iterator[tuple[Tensor, ...]]:
    """The flattened probabilities in float64, and `others`, a few examples at a time."""
    rows = max(1, _BLOCK_ENTRIES // max(p.shape[-1], entries))
    flat = [p.reshape(-1, p.shape[-1]), *(other.reshape(-1) for other in others)]
    for first, *rest in zip(*(tensor.split(rows) for tensor in flat), strict=True):
        yield first.to(wide(p)), *rest


def _ranking(p: Tensor, cost: Cost, best: Tensor, top_k: int, rounding: float) -> Tensor:
    """The classes by rising cost, (M, top_k); the first is `best`.

    Costs that differ only by rounding share a rank, in which the first class comes first.
    """
    costs, at = cost.of_all(p).sort(dim=-1)
    is_more = costs.diff() > rounding * costs[:, 1:].abs()
    ranks = torch.nn.functional.pad(is_more.long().cumsum(-1), (1, 0))  # (M, C), as sorted
    ranks = torch.empty_like(ranks).scatter_(-1, at, ranks).scatter_(-1, best.unsqueeze(-1), -1)
    return ranks.argsort(dim=-1, stable=True)[:, :top_k]


def rounding_of(probabilities: Any) -> float:
    """How much two expected costs may differ and still be equal, for costs up to 1."""
    dtype = getattr(probabilities, "dtype", None)
    if isinstance(dtype, torch.dtype):
        eps = torch.finfo(dtype if dtype.is_floating_point else torch.float64).eps
    else:
        eps = float(np.finfo(dtype if getattr(dtype, "kind", "") == "f" else np.float64).eps)
    return _ROUNDINGS * eps


def in_kind_of(given: Any, result: Tensor) -> Any:
    """A tensor if a tensor was passed, else an array."""
    return result if isinstance(given, Tensor) else result.numpy()[()]
