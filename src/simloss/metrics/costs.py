"""Metrics from any cost of a wrong answer and any similarity of answer and truth."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..decision.costs import WORDS, wide
from ..decision.example_costs import ExampleCosts, example_costs, is_function
from ..similarity import Similarity, Tree, as_similarity
from .registry import answers_and_truth, metric, total_and_count
from .tree import common_heights

# The number of entries of S to compute at once.
_CHUNK_ENTRIES = 1 << 22


def _similarities(answers: Tensor, truth: Tensor, similarity: Similarity) -> Tensor:
    """S[truth, answers], (M)."""
    for name, indices in (("answers", answers), ("truth", truth)):
        _checks.class_indices(name, indices, similarity.num_classes)
    chunk = max(1, _CHUNK_ENTRIES // similarity.num_classes)
    pieces = [
        similarity.rows(y, wide(y)).to(a.device).gather(-1, a.unsqueeze(-1)).squeeze(-1)
        for a, y in zip(answers.split(chunk), truth.split(chunk), strict=True)
    ]
    return torch.cat(pieces).detach()


def charged(answers: Tensor, truth: Tensor, cost: Any, shape: tuple[int, ...]) -> Tensor:
    """The cost of each answer, (M); `shape` is that of the examples."""
    if isinstance(cost, str):
        name = WORDS[_checks.choice("cost", cost, tuple(WORDS))]
        if name == "zero-one":
            return answers != truth
        off = (answers - truth).abs()
        return off if name == "absolute" else off.square()
    if isinstance(cost, Tree):
        return common_heights(answers, truth, cost)
    if isinstance(cost, Similarity):
        _checks.of_kind_similarity("cost", cost.kind)
        return 1 - _similarities(answers, truth, cost)
    if is_function(cost):
        return _of_examples(answers, truth, ExampleCosts(cost, None, _CHUNK_ENTRIES >> 12))
    if not hasattr(cost, "shape"):
        cost = _checks.float_tensor("cost", cost)
    of_each = example_costs(cost, shape, cost.shape[-1]) if len(cost.shape) else None
    if of_each is not None:
        return _of_examples(answers, truth, of_each)
    matrix = _checks.float_tensor("cost", cost).detach().to(answers.device)
    _checks.square("cost", matrix)
    _checks.labels_of_both_sides("cost", cost)
    _checks.finite("cost", matrix)
    _checks.not_a_similarity("cost", matrix)
    for name, indices in (("answers", answers), ("truth", truth)):
        _checks.class_indices(name, indices, len(matrix))
    return matrix[truth, answers]


def _of_examples(answers: Tensor, truth: Tensor, costs: ExampleCosts) -> Tensor:
    """The cost of each answer, (M), by the costs of its own example."""
    found = []
    for some in torch.arange(len(answers)).split(max(1, _CHUNK_ENTRIES // costs.entries)):
        own = costs.values(some).to(answers.device)
        a, y = answers[some], truth[some]
        for name, indices in (("answers", a), ("truth", y)):
            _checks.class_indices(name, indices, own.shape[-1])
        at = torch.arange(len(some), device=own.device)
        found.append(own[at, a] * (a != y) if own.ndim == 2 else own[at, y, a])
    return torch.cat(found)


@metric(
    "Cost",
    formula="mean over all examples of cost[truth, answer]",
    higher_is_better=False,
    needs={"cost"},
)
def mean_cost(answers: Any, truth: Any, cost: Any) -> Tensor:
    r"""The mean cost of the answers, over all examples: :math:`\frac1N \sum_n D_{y_n a_n}`.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        cost: anything :func:`simloss.decide` takes: a (C, C) array, row = true class, a
            :class:`simloss.Similarity` (1 - S), a :class:`simloss.Tree`, a name, or the costs of
            each example.

    Example:
        >>> from simloss import metrics
        >>> metrics.mean_cost([0, 1, 0], [0, 0, 1], [[0, 1], [10, 0]])
        3.66...
    """
    a, y = answers_and_truth(answers, truth)
    shape = tuple(_checks.index_tensor("answers", answers).shape)
    return total_and_count(charged(a, y, cost, shape))


@metric(
    "Similarity",
    formula="mean over all examples of S[truth, answer]",
    higher_is_better=True,
    needs={"similarity"},
)
def mean_similarity(answers: Any, truth: Any, similarity: Any) -> Tensor:
    r"""The mean similarity of answer and truth: :math:`\frac1N \sum_n S_{y_n a_n}`.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        similarity: a :class:`simloss.Similarity` or a (C, C) array, row = true class.

    Example:
        >>> import simloss
        >>> simloss.metrics.mean_similarity([0, 1], [0, 2], simloss.similarity.order(3, r=0.5))
        0.75
    """
    a, y = answers_and_truth(answers, truth)
    return total_and_count(_similarities(a, y, as_similarity(similarity)))
