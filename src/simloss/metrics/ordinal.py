"""Metrics of ordered classes: how far off the answer is."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..decision.answer import in_blocks
from ..decision.costs import wide
from .correct import by_class, known_count, mean_over_classes
from .registry import answers_and_truth, metric, probabilities_and_truth, total_and_count


def distances(answers: Tensor, truth: Tensor, positions: Any) -> Tensor:
    """The distance of each answer from the truth, in classes or along `positions`, (M)."""
    if positions is None:
        return (answers - truth).abs()
    x = _checks.float_tensor("positions", positions).to(answers.device, wide(answers))
    _checks.one_number_a_class("positions", x)  # (C)
    _checks.finite("positions", x)
    for name, indices in (("answers", answers), ("truth", truth)):
        _checks.class_indices(name, indices, len(x))
    return (x[answers] - x[truth]).abs()


@metric("MAE", formula="mean |answer - truth|", higher_is_better=False, needs={"order"})
def mae(answers: Any, truth: Any, *, positions: Any = None) -> Tensor:
    r"""Mean absolute error, :math:`\frac1N \sum_n |a_n - y_n|`, in classes.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        positions: the position of each class, (C); the error is then in its unit.

    Example:
        >>> from simloss import metrics
        >>> metrics.mae([0, 1, 2], [0, 2, 0])
        1.0
        >>> metrics.mae([0, 1, 2], [0, 2, 0], positions=[10, 20, 40])
        16.66...
    """
    a, y = answers_and_truth(answers, truth)
    return total_and_count(distances(a, y, positions))


@metric("MSE", formula="mean (answer - truth)²", higher_is_better=False, needs={"order"})
def mse(answers: Any, truth: Any, *, positions: Any = None) -> Tensor:
    r"""Mean squared error, :math:`\frac1N \sum_n (a_n - y_n)^2`, in squared classes.

    Args: as :func:`mae`.

    Example:
        >>> from simloss import metrics
        >>> metrics.mse([0, 1, 2], [0, 2, 0])
        1.66...
    """
    a, y = answers_and_truth(answers, truth)
    return total_and_count(distances(a, y, positions).square())


@metric(
    "Macro MAE",
    formula="mean over the classes that occur of the MAE of their examples",
    higher_is_better=False,
    needs={"order"},
    finish=mean_over_classes,
)
def macro_mae(
    answers: Any, truth: Any, *, positions: Any = None, num_classes: int | None = None
) -> Tensor:
    r"""Mean absolute error in which every class counts equally, however rare.

    .. math:: \frac{1}{|K|} \sum_{k \in K} \frac{\sum_n [y_n = k] |a_n - k|}{\sum_n [y_n = k]}

    K are the classes that occur in `truth`.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        positions: the position of each class, (C).
        num_classes: C; used only to check the indices.

    Example:
        >>> from simloss import metrics
        >>> metrics.macro_mae([0, 0, 0, 0], [0, 0, 0, 4])
        2.0
    """
    count = known_count(num_classes)
    a, y = answers_and_truth(answers, truth, count)
    return by_class(distances(a, y, positions), y, count)


@metric(
    "Within {k}",
    formula="share of answers with |answer - truth| ≤ {k}",
    higher_is_better=True,
    needs={"order"},
    percent=True,
    template="within_{k}_accuracy",
    k=1,
)
def within_k_accuracy(answers: Any, truth: Any, *, k: int = 1) -> Tensor:
    r"""The share of answers at most k classes off, :math:`\frac1N \sum_n [|a_n - y_n| \le k]`.

    In the registry it is called "within_1_accuracy", for any number.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.
        k: how many classes off still count as right.

    Example:
        >>> from simloss import metrics
        >>> metrics.within_k_accuracy([0, 1, 2, 9], [0, 2, 0, 1], k=2)
        0.75
    """
    k = _checks.class_count("k", k)
    a, y = answers_and_truth(answers, truth)
    return total_and_count((a - y).abs() <= k)


def _kappa(sums: Tensor) -> Tensor:
    count, of_answers, of_truth, squares, seen = sums
    by_chance = squares / count - 2 * (of_answers / count) * (of_truth / count)
    # Chance cannot disagree: all examples are of one class, and all answers are that class.
    return torch.where(by_chance <= 0, 1.0, 1 - seen / count / by_chance)


@metric(
    "Quadratic κ",
    formula="1 - mean (answer - truth)² / the same mean with answers and truth shuffled",
    higher_is_better=True,
    needs={"order"},
    finish=_kappa,
)
def quadratic_kappa(answers: Any, truth: Any) -> Tensor:
    r"""Cohen's kappa with quadratic weights: agreement beyond chance.

    .. math:: 1 - \frac{\sum_n (a_n - y_n)^2}{\frac1N \sum_n \sum_m (a_n - y_m)^2}

    1 is full agreement, 0 is what shuffled answers reach, and it can be negative. The double sum
    needs only five sums over the examples, so it costs O(N), although the table of pairs has C x C
    entries. If all examples and all answers are of one class, it is 1.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.

    Example:
        >>> from simloss import metrics
        >>> metrics.quadratic_kappa([0, 1, 2, 2], [0, 1, 2, 1])
        0.8
    """
    a, y = answers_and_truth(answers, truth)
    count = total_and_count(a)[1]
    a, y = a.to(count), y.to(count)
    return torch.stack(
        [count, a.sum(), y.sum(), (a.square() + y.square()).sum(), (a - y).square().sum()]
    )


def _kendall(pairs: Tensor) -> Tensor:
    stats = _checks.installed("scipy.stats", "cli")
    a, y = pairs.T.cpu().numpy()
    if (a == y).all():
        return torch.tensor(1.0)
    if (a == a[0]).all() or (y == y[0]).all():
        return torch.tensor(0.0)
    return torch.tensor(stats.kendalltau(a, y).statistic, dtype=torch.float64)


@metric(
    "Kendall τ",
    formula="(pairs in the same order - pairs in the other) / pairs, corrected for ties (τ-b)",
    higher_is_better=True,
    needs={"order"},
    finish=_kendall,
    adds_up=False,
)
def kendall_tau(answers: Any, truth: Any) -> Tensor:
    r"""Kendall's rank correlation, tau-b: whether the answers put the examples in the right order.

    .. math:: \frac{n_+ - n_-}{\sqrt{(n_0 - n_a)(n_0 - n_y)}}

    :math:`n_+` and :math:`n_-` are the pairs of examples in the same and in opposite order,
    :math:`n_a` and :math:`n_y` the pairs tied in the answers and in the truth, :math:`n_0` all.
    It is 1 if every answer is right; otherwise 0 if all answers, or all true classes, are the
    same, because there is no order to agree with. Computed by scipy.

    Args:
        answers: class indices, any shape.
        truth: class indices of the same shape.

    Example:
        >>> from simloss import metrics
        >>> metrics.kendall_tau([0, 1, 2, 2], [1, 2, 3, 4])
        0.912...
    """
    return torch.stack(answers_and_truth(answers, truth), -1)  # (M, 2)


@metric(
    "RPS",
    formula="mean over examples of Σ over classes of (P(class ≤ c) - [truth ≤ c])²",
    higher_is_better=False,
    needs={"order", "probabilities"},
)
def ranked_probability_score(probabilities: Any, truth: Any) -> Tensor:
    r"""The Brier score of all cumulative probabilities: proper, and aware of the order.

    .. math:: \frac1N \sum_n \sum_c \Big(\sum_{k \le c} p_{nk} - [y_n \le c]\Big)^2

    It is not divided by C - 1. For a certain answer it is the absolute error.

    Args:
        probabilities: (..., C).
        truth: class indices, (...).

    Example:
        >>> from simloss import metrics
        >>> metrics.ranked_probability_score([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]], [0, 0])
        1.156...
    """

    def scores(p: Tensor, y: Tensor) -> Tensor:
        is_reached = torch.arange(p.shape[-1], device=p.device) >= y.unsqueeze(-1)  # (M, C)
        return (p.cumsum(-1) - is_reached.to(p)).square().sum(-1)

    return total_and_count(in_blocks(scores, *probabilities_and_truth(probabilities, truth)))
