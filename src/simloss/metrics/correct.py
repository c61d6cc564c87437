"""How often the answer is right."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..decision.costs import wide
from .registry import answers_and_truth, metric, probabilities_and_truth, total_and_count


@metric("Accuracy", formula="share of answers = truth", higher_is_better=True, percent=True)
def accuracy(answers: Any, truth: Any) -> Tensor:
    r"""The share of right answers, :math:`\frac1N \sum_n [a_n = y_n]`.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.

    Example:
        >>> from simloss import metrics
        >>> metrics.accuracy([0, 1, 2, 2], [0, 1, 2, 1])
        0.75
    """
    a, y = answers_and_truth(answers, truth)
    return total_and_count(a == y)


@metric(
    "Top-{k}",
    formula="share of examples whose true class is among the {k} most probable",
    higher_is_better=True,
    needs={"probabilities"},
    percent=True,
    template="top_{k}_accuracy",
    k=5,
)
def top_k_accuracy(probabilities: Any, truth: Any, *, k: int = 5) -> Tensor:
    r"""The share of examples whose true class is among the k most probable.

    Of equally probable classes, the first counts as more probable. It is 1 if there are at most
    k classes. In the registry it is called "top_5_accuracy", for any number.

    Args:
        probabilities: (..., C).
        truth: class indices, (...).
        k: the number of classes that count.

    Example:
        >>> from simloss import metrics
        >>> metrics.top_k_accuracy([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], [1, 2], k=2)
        0.5
    """
    k = _checks.class_count("k", k)
    p, y = probabilities_and_truth(probabilities, truth)
    own = p.gather(-1, y.unsqueeze(-1))  # (M, 1)
    is_earlier = torch.arange(p.shape[-1], device=p.device) < y.unsqueeze(-1)  # (M, C)
    before = (p > own) | ((p == own) & is_earlier)
    return total_and_count(before.sum(-1) < k)


def mean_over_classes(sums: Tensor) -> Tensor:
    """Totals and counts of each class, (2, C) -> the mean over the means of those that occur."""
    totals, counts = sums[:, sums[1] > 0]
    return (totals / counts).mean()


def known_count(num_classes: int | None) -> int | None:
    """The number of classes, if it is given."""
    return None if num_classes is None else _checks.class_count("num_classes", num_classes)


def by_class(values: Tensor, truth: Tensor, num_classes: int | None) -> Tensor:
    """The total of `values` and the number of examples of each true class, (2, C)."""
    totals = torch.bincount(truth, values.to(wide(values)), minlength=num_classes or 0)
    return torch.stack([totals, torch.bincount(truth, minlength=num_classes or 0).to(totals)])


@metric(
    "Balanced accuracy",
    formula="mean over the classes that occur of the share of their examples answered right",
    higher_is_better=True,
    percent=True,
    finish=mean_over_classes,
)
def balanced_accuracy(answers: Any, truth: Any, *, num_classes: int | None = None) -> Tensor:
    r"""Accuracy in which every class counts equally, however rare.

    .. math:: \frac{1}{|K|} \sum_{k \in K} \frac{\sum_n [y_n = k][a_n = k]}{\sum_n [y_n = k]}

    K are the classes that occur in `truth`; one that never occurs does not count.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        num_classes: C; used only to check the indices.

    Example:
        >>> from simloss import metrics
        >>> metrics.balanced_accuracy([0, 0, 0, 0], [0, 0, 0, 1])
        0.5
    """
    count = known_count(num_classes)
    a, y = answers_and_truth(answers, truth, count)
    return by_class(a == y, y, count)
