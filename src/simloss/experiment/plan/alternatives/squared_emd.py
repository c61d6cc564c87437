"""Squared earth mover's distance (Hou, Yu and Samaras 2016)."""

import torch
from torch import Tensor
from torch.nn import functional as F

from .... import _checks
from .objective import Objective


class SquaredEMD(Objective):
    r"""The squared distance of cumulative probabilities, blended with cross entropy.

    .. math::

        (1 - a) \sum_c \Big(\sum_{k \le c} p_k - [y \le c]\Big)^2 - a \log p_y,
        \qquad p = \mathrm{softmax}(z)

    The first part is also called the ranked probability score. Its authors use it alone and as a
    term beside cross entropy; `share` is a.

    Args:
        share: of cross entropy, in [0, 1].

    Example:
        >>> SquaredEMD(0.0)(torch.zeros(1, 2), torch.tensor([0]))
        tensor(0.2500)
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = _checks.share("share", share)

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        below = outputs.softmax(-1).cumsum(-1)  # (N, C)
        classes = torch.arange(outputs.shape[-1], device=outputs.device)
        truth = (target.unsqueeze(-1) <= classes).to(outputs.dtype)
        distance = (below - truth).square().sum(-1).mean()
        return (1 - self.share) * distance + self.share * F.cross_entropy(outputs, target)
