"""Metrics of the probabilities themselves, whatever the answers."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..decision.answer import in_blocks
from ..decision.costs import wide
from .registry import metric, probabilities_and_truth, total_and_count

BINS = 15


@metric(
    "NLL",
    formula="mean -log P(truth)",
    higher_is_better=False,
    needs={"probabilities"},
)
def nll(probabilities: Any, truth: Any) -> Tensor:
    r"""Negative log likelihood, :math:`-\frac1N \sum_n \log p_{n y_n}`, in nats.

    A probability of 0 counts as the smallest normal number of float32 (87.3 nats) or float64,
    because that is where a softmax underflows. For more extreme logits, use
    ``F.cross_entropy(logits, truth)``.

    Args:
        probabilities: (..., C).
        truth: class indices, (...).

    Example:
        >>> from simloss import metrics
        >>> metrics.nll([[0.5, 0.5], [0.25, 0.75]], [0, 0])
        1.039...
    """
    p, y = probabilities_and_truth(probabilities, truth)
    own = p.gather(-1, y.unsqueeze(-1)).squeeze(-1).clamp(min=torch.finfo(p.dtype).tiny)
    return total_and_count(-own.to(wide(own)).log())


@metric(
    "Brier",
    formula="mean over examples of Σ over classes of (P(c) - [truth = c])²",
    higher_is_better=False,
    needs={"probabilities"},
)
def brier(probabilities: Any, truth: Any) -> Tensor:
    r"""The Brier score, :math:`\frac1N \sum_n \sum_c (p_{nc} - [y_n = c])^2`, from 0 to 2.

    Args:
        probabilities: (..., C).
        truth: class indices, (...).

    Example:
        >>> from simloss import metrics
        >>> metrics.brier([[0.5, 0.5], [0.0, 1.0]], [0, 0])
        1.25
    """

    def scores(p: Tensor, y: Tensor) -> Tensor:
        own = p.gather(-1, y.unsqueeze(-1)).squeeze(-1)
        return p.square().sum(-1) - 2 * own + 1

    return total_and_count(in_blocks(scores, *probabilities_and_truth(probabilities, truth)))


def _bin_sums(probabilities: Any, truth: Any, bins: int) -> Tensor:
    """Per bin: the number of examples, their total confidence and how many are right."""
    bins = _checks.class_count("bins", bins)
    p, y = probabilities_and_truth(probabilities, truth)
    confidence, answer = p.max(-1)
    confidence = confidence.to(wide(p))
    at = ((confidence * bins).ceil().long() - 1).clamp(0, bins - 1)  # (M)
    values = torch.stack([torch.ones_like(confidence), confidence, (answer == y).to(confidence)])
    return values.new_zeros(3, bins).index_add_(1, at, values)  # (3, bins)


def _gap(sums: Tensor) -> Tensor:
    counts, confidence, right = sums
    return (confidence - right).abs().sum() / counts.sum()


@metric(
    "ECE",
    formula="mean over 15 bins of confidence of |share right - mean confidence|, by examples",
    higher_is_better=False,
    needs={"probabilities"},
    percent=True,
    finish=_gap,
)
def calibration_error(probabilities: Any, truth: Any, *, bins: int = BINS) -> Tensor:
    r"""Expected calibration error of the most probable class.

    .. math:: \sum_b \frac{N_b}{N} \,\big| \mathrm{right}_b - \mathrm{confidence}_b \big|

    Examples go into `bins` equally wide bins by their largest probability; a bin includes its
    upper edge, and empty bins do not count. It judges the probabilities, not the answers: the most
    probable class counts as right or wrong here.

    Args:
        probabilities: (..., C).
        truth: class indices, (...).
        bins: the number of bins.

    Example:
        >>> from simloss import metrics
        >>> metrics.calibration_error([[0.8, 0.2]] * 4, [0, 0, 0, 1])
        0.05...
    """
    return _bin_sums(probabilities, truth, bins)


@dataclass(frozen=True)
class Reliability:
    """The points of a calibration curve, one for each bin with examples.

    Attributes:
        confidence: the mean largest probability in the bin.
        accuracy: the share of the bin's examples whose most probable class is right.
        count: the number of examples in the bin.
    """

    confidence: list[float]
    accuracy: list[float]
    count: list[int]


def reliability(probabilities: Any, truth: Any, *, bins: int = BINS) -> Reliability:
    """The calibration curve behind :func:`calibration_error`.

    Args:
        probabilities: (..., C).
        truth: class indices, (...).
        bins: the number of bins.

    Example:
        >>> from simloss import metrics
        >>> metrics.reliability([[0.75, 0.25]] * 4, [0, 0, 1, 1])
        Reliability(confidence=[0.75], accuracy=[0.5], count=[4])
    """
    return reliability_of(_bin_sums(probabilities, truth, bins))


def reliability_of(sums: Tensor) -> Reliability:
    """The same from the sums of :func:`calibration_error`, (3, bins)."""
    counts, confidence, right = sums[:, sums[0] > 0]
    return Reliability(
        (confidence / counts).tolist(), (right / counts).tolist(), counts.long().tolist()
    )
