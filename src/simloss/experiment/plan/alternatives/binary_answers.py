"""OR-CNN: many binary answers (Niu et al. 2016), the paper's neighbour on ages."""

import torch
from torch import Tensor
from torch.nn import functional as F

from .objective import Objective

# Two answers closer than this are told apart by rounding only; no class has probability 0 then.
_SMALLEST_STEP = 1e-6


class BinaryAnswers(Objective):
    r"""The C - 1 independent questions whether the class is above k.

    Output k < C - 1 answers :math:`P(y > k) = \sigma(z_k)`. All questions weigh the same:

    .. math:: -\sum_{k < C - 1} \Big( [y > k] \log \sigma(z_k) + [y \le k] \log \sigma(-z_k) \Big)

    Nothing makes the answers fall with k. Class probabilities are the steps between the answers
    put in falling order, which keeps the number of answers above 1/2: the authors' decision, the
    number of answers above 1/2, is the median. The last output is not used.

    Example:
        >>> BinaryAnswers()(torch.zeros(1, 3), torch.tensor([2]))
        tensor(1.3863)
        >>> BinaryAnswers().logits(torch.tensor([[0.0, 1.0986, 0.0]])).softmax(-1)
        tensor([[0.2500, 0.2500, 0.5000]])
    """

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        steps = torch.arange(outputs.shape[-1] - 1, device=outputs.device)
        above = (target.unsqueeze(-1) > steps).to(outputs.dtype)  # (N, C - 1)
        losses = F.binary_cross_entropy_with_logits(outputs[..., :-1], above, reduction="none")
        return losses.sum(-1).mean()

    def logits(self, outputs: Tensor) -> Tensor:
        a = outputs[..., :-1].sort(-1, descending=True).values
        first, last = F.logsigmoid(-a[..., :1]), F.logsigmoid(a[..., -1:])
        # sigmoid(a) - sigmoid(b) = sigmoid(a) sigmoid(-b) (1 - exp(b - a)), in log space.
        step = (a[..., :-1] - a[..., 1:]).clamp(min=_SMALLEST_STEP)
        between = (
            F.logsigmoid(a[..., :-1]) + F.logsigmoid(-a[..., 1:]) + (-torch.expm1(-step)).log()
        )
        return torch.cat([first, between, last], dim=-1)
