"""Class-distance-weighted cross entropy (Polat et al. 2022)."""

import torch
from torch import Tensor

from .... import _checks
from .objective import Objective


class DistanceWeighted(Objective):
    r"""Probability on wrong classes, punished the more the further off they are.

    .. math:: -\sum_c |c - y|^\alpha \log(1 - p_c), \qquad p = \mathrm{softmax}(z)

    Args:
        alpha: the power of the distance, above 0.

    Example:
        >>> DistanceWeighted(2.0)(torch.zeros(1, 3), torch.tensor([0]))
        tensor(2.0273)
    """

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = _checks.positive("alpha", alpha)

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        classes = torch.arange(outputs.shape[-1], device=outputs.device)
        distance = (classes - target.unsqueeze(-1)).abs().to(outputs.dtype)  # (N, C)
        return -(distance.pow(self.alpha) * log_of_the_others(outputs)).sum(-1).mean()


def log_of_the_others(z: Tensor) -> Tensor:
    """log(1 - p_c) of every class, (..., C), finite also where p_c is 1 but for rounding.

    Only the most probable class can be above 1/2, so only there does 1 - p lose digits: its is the
    sum of all others.
    """
    top = z.argmax(-1, keepdim=True)
    of_top = z.scatter(-1, top, -torch.inf).logsumexp(-1, True) - z.logsumexp(-1, True)
    p = z.softmax(-1).scatter(-1, top, 0.0)
    return torch.log1p(-p).scatter(-1, top, of_top)
