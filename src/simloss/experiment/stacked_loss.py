"""The losses of many nets at once, each with its own similarity, and their gradients."""

import torch
from torch import Tensor

from ..loss.fused.tables import proper_batch, sim_rows, soft_target_rows
from ..similarity import Similarity
from .treatment import BASELINE


class StackedLoss:
    """The mean loss of each net of a stack, for nets with different losses and similarities.

    Equals ``stack([loss_b(z[b], y[b]) for b in ...])`` with the losses of `simloss.loss`, without
    weights or smoothing. Loss and gradient come from the fused forms, so that autograd only sees
    the nets.

    Args:
        losses: one name a net: "cross-entropy", "simloss", "proper", "soft-target".
        similarities: one a net; None for cross entropy. Equal ones should be one object.
        dtype: of the logits.
    """

    def __init__(
        self, losses: list[str], similarities: list[Similarity | None], dtype: torch.dtype
    ) -> None:
        self.losses = losses
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
        smaller.place = self.place[left]
        return smaller

    def __call__(self, z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, n, C) and classes (B, n) to losses (B) and the gradient of each by its z."""
        values, gradient = z.new_empty(len(z)), torch.empty_like(z)
        for name in dict.fromkeys(self.losses):
            of = torch.tensor([i for i, loss in enumerate(self.losses) if loss == name])
            rows, slope = _FORMULAS[name](self, z[of], y[of], self.place[of])
            values[of] = rows.view(len(of), -1).mean(1)
            gradient[of] = slope.view(len(of), *z.shape[1:])
        return values, gradient

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


def _rows(y: Tensor, place: Tensor, z: Tensor) -> Tensor:
    """Where the row of S for each example stands in the table of all of them."""
    return (place.unsqueeze(1) * z.shape[-1] + y).flatten()


def _stacked(tables: list[Tensor]) -> Tensor:
    return torch.stack(tables) if tables else torch.empty(0, 0, 0)


# A loss that has no formula here, a user's own, trains one net at a time.
_FORMULAS = {
    BASELINE: StackedLoss.cross_entropy,
    "simloss": StackedLoss.sim_loss,
    "proper": StackedLoss.proper_sim_loss,
    "soft-target": StackedLoss.soft_target_loss,
}
STACKABLE = frozenset(_FORMULAS)
