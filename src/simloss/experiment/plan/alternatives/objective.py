"""What a net is trained by: a loss of its outputs, and how outputs become class probabilities."""

from torch import Tensor, nn


class Objective(nn.Module):
    """A loss of a net's C outputs that knows what the outputs mean.

    Every net has C outputs, also where an alternative needs C - 1 of them: it leaves the last one
    alone. So all treatments of a seed start with the same weights and train in one stack.

    What :meth:`forward` returns is the mean over the batch. Parameters, where there are any, are
    trained with the net's.
    """

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The mean loss of outputs (N, C) and classes (N)."""
        raise NotImplementedError

    def logits(self, outputs: Tensor) -> Tensor:
        """What softmax makes class probabilities of, (..., C), from the outputs alone."""
        return outputs

    def remember(self, outputs: Tensor, target: Tensor) -> None:
        """Told of the validation part after training; a regression's errors make probabilities."""

    def held_out_logits(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The logits of the examples that :meth:`remember` was told of, as if it had not been."""
        return self.logits(outputs)

    def nearest(self, outputs: Tensor) -> Tensor | None:
        """The classes nearest to the predictions, (N), where the outputs predict a place."""
        return None

    def begin_epoch(self, epoch: int) -> None:
        """Told before each epoch, counted from 1."""


class OnLogits(Objective):
    """A loss of logits, as torch's and ours are.

    Example:
        >>> import torch
        >>> OnLogits(nn.CrossEntropyLoss())(torch.zeros(1, 2), torch.tensor([0]))
        tensor(0.6931)
    """

    def __init__(self, loss: nn.Module) -> None:
        super().__init__()
        self.loss = loss

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        value: Tensor = self.loss(outputs, target)
        return value


def objective_of(loss: nn.Module) -> Objective:
    """The loss itself if it is an objective, else one that reads outputs as logits."""
    return loss if isinstance(loss, Objective) else OnLogits(loss)
