"""CORN: conditional ordinal regression (Shi, Cao and Raschka 2021)."""

import torch
from torch import Tensor
from torch.nn import functional as F

from .objective import Objective


class CORN(Objective):
    r"""One binary question per step of the order, asked only about examples that got so far.

    Output k < C - 1 answers :math:`P(y > k \mid y \ge k) = \sigma(z_k)`. The loss is the binary
    cross entropy of all questions asked in the batch, over their number M:

    .. math::

        -\frac{1}{M} \sum_n \Big( \sum_{k < y_n} \log \sigma(z_{nk})
        + [y_n < C - 1] \log \sigma(-z_{n y_n}) \Big)

    Class probabilities are products of the answers, so the answers need no repair, and the paper's
    own decision (how many products exceed 1/2) is their median. The last output is not used.

    Example:
        >>> CORN()(torch.zeros(1, 3), torch.tensor([2]))
        tensor(0.6931)
        >>> CORN().logits(torch.zeros(1, 3)).softmax(-1)
        tensor([[0.5000, 0.2500, 0.2500]])
    """

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        steps = torch.arange(outputs.shape[-1] - 1, device=outputs.device)
        asked = target.unsqueeze(-1) >= steps  # (N, C - 1)
        further = (target.unsqueeze(-1) > steps).to(outputs.dtype)
        losses = F.binary_cross_entropy_with_logits(outputs[..., :-1], further, reduction="none")
        return (losses * asked).sum() / asked.sum()

    def logits(self, outputs: Tensor) -> Tensor:
        further = F.logsigmoid(outputs[..., :-1])
        stop = F.logsigmoid(-outputs[..., :-1])
        none = torch.zeros_like(outputs[..., :1])
        reached = torch.cat([none, further.cumsum(-1)], dim=-1)  # log P(y >= c)
        return reached + torch.cat([stop, none], dim=-1)
