"""A learned matrix on top of softmax (Sukhbaatar et al. 2015), the paper's neighbour on noise."""

import math

import torch
from torch import Tensor, nn

from .... import _checks
from .objective import Objective

# What a row holds off its diagonal at first: softmax cannot be the identity, and from nearer to it
# the matrix would hardly learn.
_OFF_DIAGONAL = 0.01


class NoiseLayer(Objective):
    r"""SimLoss's form with a matrix that is learned: how labels are mistaken for each other.

    .. math::

        -\log \sum_k p_k\, Q_{ky} + \frac{\lambda}{C} \operatorname{tr} Q,
        \qquad Q = \mathrm{softmax}(W), \quad p = \mathrm{softmax}(z)

    Q has rows that sum to 1; row k says how often class k is labelled y. It starts close to the
    identity and is trained with the net; the trace is kept low, as its authors do, because
    otherwise the net explains the noise and Q stays the identity. Where they project Q after each
    step, the rows here are a softmax. Answers are made from p, without Q.

    Args:
        num_classes: C.
        trace: the weight :math:`\lambda` of the trace, at least 0.

    Example:
        >>> NoiseLayer(2, 0.0)(torch.zeros(1, 2), torch.tensor([0])).item()
        0.693...
    """

    def __init__(self, num_classes: int, trace: float) -> None:
        super().__init__()
        self.trace = _checks.at_least_zero("trace", trace)
        other = math.log(_OFF_DIAGONAL / max(1, num_classes - 1) / (1 - _OFF_DIAGONAL))
        self.weights = nn.Parameter(other * (1 - torch.eye(num_classes)))

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        log_q = self.weights.to(outputs.dtype).log_softmax(-1)  # (C, C)
        labelled = outputs.log_softmax(-1) + log_q.T[target]  # (N, C)
        diagonal = log_q.diagonal().exp().mean()
        return -labelled.logsumexp(-1).mean() + self.trace * diagonal
