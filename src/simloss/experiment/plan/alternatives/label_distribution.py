"""DLDL-v2 (Gao et al. 2018): a bell of labels, and the expected value beside it."""

import torch
from torch import Tensor

from .... import _checks
from .objective import Objective


class LabelDistribution(Objective):
    r"""Cross entropy against a normal distribution round the label, and the error of the mean.

    .. math::

        -\sum_c T_{yc} \log p_c + \Big|\sum_c c\, p_c - y\Big|,
        \qquad T_{yc} \propto e^{-(c - y)^2 / 2 w^2}, \quad p = \mathrm{softmax}(z)

    As its authors weigh the two parts, one to one.

    Args:
        width: w, in classes, above 0; theirs is 2 for ages.

    Example:
        >>> LabelDistribution(0.1)(torch.zeros(1, 3), torch.tensor([0]))  # log 3 + 1
        tensor(2.0986)
    """

    def __init__(self, width: float) -> None:
        super().__init__()
        self.width = _checks.positive("width", width)

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        classes = torch.arange(outputs.shape[-1], device=outputs.device, dtype=outputs.dtype)
        off = classes - target.unsqueeze(-1)  # (N, C)
        bell = (-(off**2) / (2 * self.width**2)).softmax(-1)
        divergence = -(bell * outputs.log_softmax(-1)).sum(-1)
        return (divergence + (outputs.softmax(-1) * off).sum(-1).abs()).mean()
