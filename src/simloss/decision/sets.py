"""Answers of several classes: an interval of ordered classes, or a set."""

from typing import Any

from .. import _checks
from .answer import in_blocks, in_kind_of
from .nested import Intervals, Sets


def decide_interval(probabilities: Any, *, threshold: float) -> Any:
    r"""The classes from one quantile to another, for ordered classes.

    .. math:: \Big[\min\{c : F_c \ge \tfrac{1 - t}{2}\},\;
        \min\{c : F_c > \tfrac{1 + t}{2}\}\Big], \qquad F_c = \sum_{k \le c} p_k

    t is the threshold: the share of the probability between the two, if the probabilities are
    calibrated. :func:`simloss.promise_threshold` finds a threshold that keeps a promise even if
    they are not. At 0 the answer is the median.

    Args:
        probabilities: (..., C), classes last and in order.
        threshold: in [0, 1]; at 1 the answer is all classes.

    Returns:
        The first and the last class, (..., 2); of the same type as `probabilities`.

    Example:
        >>> import torch, simloss
        >>> p = torch.tensor([[0.1, 0.2, 0.4, 0.2, 0.1], [0.0, 0.0, 0.1, 0.1, 0.8]])
        >>> simloss.decide_interval(p, threshold=0.6)
        tensor([[1, 3],
                [3, 4]])
    """
    p = _checks.probabilities(probabilities)
    threshold = _checks.share("threshold", threshold)
    nested = Intervals(p.shape[-1])
    return in_kind_of(probabilities, in_blocks(lambda block: nested.answers(block, threshold), p))


def decide_set(probabilities: Any, *, threshold: float) -> Any:
    """The most probable class, and all whose probability is at least ``1 - threshold``.

    :func:`simloss.promise_threshold` finds a threshold that keeps a promise.

    Args:
        probabilities: (..., C), as for :func:`simloss.decide`.
        threshold: in [0, 1]; at 1 the answer is all classes.

    Returns:
        Whether each class is in the set, (..., C); of the same type as `probabilities`.

    Example:
        >>> import torch, simloss
        >>> simloss.decide_set(torch.tensor([0.6, 0.3, 0.1]), threshold=0.75)
        tensor([ True,  True, False])
    """
    p = _checks.probabilities(probabilities)
    threshold = _checks.share("threshold", threshold)
    return in_kind_of(probabilities, in_blocks(lambda block: Sets.answers(block, threshold), p))
