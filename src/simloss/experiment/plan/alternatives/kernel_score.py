"""The kernel score (Gneiting and Raftery 2007): squared EMD for any distance of negative type."""

from torch import Tensor
from torch.nn import functional as F

from .... import _checks
from .objective import Objective


class KernelScore(Objective):
    r"""The expected distance to the truth, less half of that between two answers.

    .. math::

        (1 - a) \Big(\sum_c p_c\, d(c, y) - \frac12 \sum_{c, k} p_c\, p_k\, d(c, k)\Big)
        - a \log p_y, \qquad p = \mathrm{softmax}(z)

    It is proper where d is of negative type: the places of an order, where it is the squared EMD,
    and the heights of a tree.

    Args:
        distance: between the classes, (C, C), symmetric, 0 on the diagonal.
        share: a, of cross entropy, in [0, 1].

    Example:
        >>> import torch
        >>> steps = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> KernelScore(steps, 0.0)(torch.zeros(1, 2), torch.tensor([0]))  # 1/2 - 1/4
        tensor(0.2500)
    """

    distance: Tensor

    def __init__(self, distance: Tensor, share: float) -> None:
        super().__init__()
        self.share = _checks.share("share", share)
        self.register_buffer("distance", distance)

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        p = outputs.softmax(-1)  # (N, C)
        expected = p @ self.distance.to(p.dtype)  # (N, C)
        own = expected.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        score = (own - (p * expected).sum(-1) / 2).mean()
        return (1 - self.share) * score + self.share * F.cross_entropy(outputs, target)
