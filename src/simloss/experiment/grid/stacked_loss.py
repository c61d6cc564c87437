"""The losses of many nets at once, each with its own, and their gradients."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ...loss import SimilarityLoss
from ..plan.alternatives import Objective
from ..plan.alternatives.objective import OnLogits


class StackedLoss:
    """The mean loss of each net of a stack, and its gradient.

    Equals ``stack([objective(z[b], y[b]) for b, objective in ...])``. Our own losses are called
    without autograd, so that it only sees the nets, and cross entropy takes all its nets together.

    Args:
        objectives: one per net.
    """

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self.objectives = list(objectives)
        self.plain = [i for i, each in enumerate(objectives) if _is_plain(each)]

    def keep(self, left: Tensor) -> "StackedLoss":
        """The same for some of the nets."""
        return StackedLoss([self.objectives[i] for i in left.tolist()])

    def __call__(self, z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, n, C) and classes (B, n) to losses (B) and the gradient of each by its z."""
        gradient = z.clone()
        values: dict[int, Tensor] = {}
        if self.plain:
            values = dict(zip(self.plain, _cross_entropies(gradient, y, self.plain), strict=True))
        for i, objective in enumerate(self.objectives):
            if i in values:
                continue
            loss = objective.loss if isinstance(objective, OnLogits) else objective
            if isinstance(loss, SimilarityLoss):
                values[i], gradient[i] = loss.value_and_gradient(gradient[i], y[i])
            else:
                values[i], gradient[i] = _by_autograd(objective, z[i], y[i])
        return torch.stack([values[i] for i in range(len(z))]), gradient

    def begin_epoch(self, epoch: int) -> None:
        """Tell every objective."""
        for objective in self.objectives:
            objective.begin_epoch(epoch)

    def logits(self, outputs: Tensor) -> Tensor:
        """What softmax makes class probabilities of, (B, n, C)."""
        if all(isinstance(each, OnLogits) for each in self.objectives):
            return outputs
        each = [objective.logits(outputs[i]) for i, objective in enumerate(self.objectives)]
        return torch.stack(each)

    def parameters(self) -> list[nn.Parameter]:
        """What is trained beside the nets."""
        return [value for objective in self.objectives for value in objective.parameters()]


def _is_plain(objective: Objective) -> bool:
    """Whether it is cross entropy without options."""
    loss = objective.loss if isinstance(objective, OnLogits) else objective
    return type(loss) is nn.CrossEntropyLoss and not loss.label_smoothing and loss.weight is None


def _cross_entropies(z: Tensor, y: Tensor, of: list[int]) -> Tensor:
    """The mean cross entropy of some nets, whose logits become its gradient."""
    together = of[-1] - of[0] == len(of) - 1
    place = slice(of[0], of[-1] + 1) if together else torch.tensor(of)
    log_p = z[place].log_softmax(-1)
    own = y[place].unsqueeze(-1)
    losses = -log_p.gather(-1, own)
    slope = log_p.exp_().scatter_add_(-1, own, torch.full_like(losses, -1.0))
    z[place] = slope.div_(y.shape[1])
    return losses.mean((1, 2))


def _by_autograd(objective: Objective, outputs: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of one net and its gradient by the outputs; parameters get their own."""
    outputs = outputs.detach().requires_grad_()
    value = objective(outputs, y)
    value.backward()
    assert outputs.grad is not None
    return value.detach(), outputs.grad
