"""The losses of many nets at once, each with its own similarity, and their gradients."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..loss.fused.tables import proper_batch, sim_rows, soft_target_rows
from ..similarity import Similarity
from .alternatives import Objective
from .treatment import BASELINE, BLENDED_SHARE


class StackedLoss:
    """The mean loss of each net of a stack, for nets with different losses and similarities.

    Equals ``stack([loss_b(z[b], y[b]) for b in ...])`` with the losses of `simloss.loss`, without
    weights or smoothing. Loss and gradient come from the fused forms, so that autograd only sees
    the nets. An objective of its own is called with its net's outputs, one net after the other.

    Args:
        losses: one a net: a name in `FORMULAS`, or an objective.
        similarities: one a net; None where there is none. Equal ones should be one object.
        dtype: of the logits.
    """

    def __init__(
        self,
        losses: Sequence[str | Objective],
        similarities: Sequence[Similarity | None],
        dtype: torch.dtype,
    ) -> None:
        self.losses = losses
        self.nets_of = _places(losses)
        self.own = {i: loss for i, loss in enumerate(losses) if isinstance(loss, Objective)}
        distinct = list({id(s): s for s in similarities if s is not None}.values())
        places = {id(s): place for place, s in enumerate(distinct)}
        self.place = torch.tensor([places.get(id(s), 0) for s in similarities])  # (B)
        self.dense = _stacked([s.to_dense(dtype) for s in distinct])  # (T, C, C)
        self.log_dense = _stacked(
            [s.log_rows(torch.arange(s.num_classes), dtype) for s in distinct]
        )

    def keep(self, left: Tensor) -> "StackedLoss":
        """The same for some of the nets."""
        smaller = object.__new__(StackedLoss)
        smaller.__dict__.update(self.__dict__)
        smaller.losses = [self.losses[i] for i in left.tolist()]
        smaller.nets_of = _places(smaller.losses)
        smaller.own = {at: self.own[i] for at, i in enumerate(left.tolist()) if i in self.own}
        smaller.place = self.place[left]
        return smaller

    def __call__(self, z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, n, C) and classes (B, n) to losses (B) and the gradient of each by its z."""
        values, gradient = z.new_empty(len(z)), torch.empty_like(z)
        for i, objective in self.own.items():
            values[i], gradient[i] = _by_autograd(objective, z[i], y[i])
        for name, of in self.nets_of.items():
            some = z[of]
            rows, slope = FORMULAS[name](self, some, y[of], self.place[of])
            values[of] = rows.view(len(some), -1).mean(1)
            gradient[of] = slope.view_as(some)
        return values, gradient

    def begin_epoch(self, epoch: int) -> None:
        """Tell every objective."""
        for objective in self.own.values():
            objective.begin_epoch(epoch)

    def logits(self, outputs: Tensor) -> Tensor:
        """What softmax makes class probabilities of, (B, n, C)."""
        logits = outputs.clone() if self.own else outputs
        for i, objective in self.own.items():
            logits[i] = objective.logits(outputs[i])
        return logits

    def parameters(self) -> list[nn.Parameter]:
        """What is trained beside the nets."""
        return [value for objective in self.own.values() for value in objective.parameters()]

    def cross_entropy(self, z: Tensor, y: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        log_p = z.log_softmax(-1)
        own = y.unsqueeze(-1)
        losses = -log_p.gather(-1, own)
        slope = log_p.exp_().scatter_add_(-1, own, torch.full_like(losses, -1.0))
        return losses, slope.div_(y.shape[1])

    def sim_loss(self, z: Tensor, y: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        table, log_table = self.dense.flatten(0, 1), self.log_dense.flatten(0, 1)
        return sim_rows(
            z.flatten(0, 1), table, _rows(y, place, z), log_table=log_table, scale=1 / y.shape[1]
        )

    def soft_target_loss(self, z: Tensor, y: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        table = self.dense.flatten(0, 1)
        return soft_target_rows(z.flatten(0, 1), table, _rows(y, place, z), scale=1 / y.shape[1])

    def proper_sim_loss(self, z: Tensor, y: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        similarity, logs = self.dense[place], self.log_dense[place]
        return proper_batch(z, y, similarity, log_similarity=logs, scale=1 / y.shape[1])

    def blended_loss(self, z: Tensor, y: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        losses, slope = self.proper_sim_loss(z, y, place)
        plain, plain_slope = self.cross_entropy(z, y, place)
        return (
            losses.lerp(plain.view_as(losses), BLENDED_SHARE),
            slope.lerp_(plain_slope.view_as(slope), BLENDED_SHARE),
        )


def _places(losses: Sequence[str | Objective]) -> dict[str, slice | Tensor]:
    """Which nets have a loss: a slice, which copies nothing, where they stand side by side."""
    places: dict[str, slice | Tensor] = {}
    for name in dict.fromkeys(loss for loss in losses if isinstance(loss, str)):
        found = [i for i, loss in enumerate(losses) if loss == name]
        together = found[-1] - found[0] == len(found) - 1
        places[name] = slice(found[0], found[-1] + 1) if together else torch.tensor(found)
    return places


def _by_autograd(objective: Objective, outputs: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of one net and its gradient by the outputs; parameters get their own."""
    outputs = outputs.detach().requires_grad_()
    value = objective(outputs, y)
    value.backward()
    assert outputs.grad is not None
    return value.detach(), outputs.grad


def _rows(y: Tensor, place: Tensor, z: Tensor) -> Tensor:
    """Where the row of S for each example stands in the table of all of them."""
    return (place.unsqueeze(1) * z.shape[-1] + y).flatten()


def _stacked(tables: list[Tensor]) -> Tensor:
    return torch.stack(tables) if tables else torch.empty(0, 0, 0)


FORMULAS = {
    BASELINE: StackedLoss.cross_entropy,
    "simloss": StackedLoss.sim_loss,
    "proper": StackedLoss.proper_sim_loss,
    "soft-target": StackedLoss.soft_target_loss,
    "blended": StackedLoss.blended_loss,
}
