"""The losses of many nets at once, each with its own similarity."""

import torch
import torch.nn.functional as F
from torch import Tensor

from ..similarity import Similarity
from .treatment import BASELINE


class StackedLoss:
    """The mean loss of each net of a stack, (B), for nets with different losses and similarities.

    Equals ``stack([loss_b(z[b], y[b]) for b in ...])`` with the losses of `simloss.loss`, without
    weights or smoothing. Rows of S are read from one table of all similarities under each other.

    Args:
        losses: one name a net: "cross-entropy", "simloss", "proper", "soft-target".
        similarities: one a net; None for cross entropy. Equal ones should be one object.
    """

    def __init__(
        self, losses: list[str], similarities: list[Similarity | None], dtype: torch.dtype
    ) -> None:
        self.losses = losses
        distinct: dict[int, Similarity] = {id(s): s for s in similarities if s is not None}
        places = {key: place for place, key in enumerate(distinct)}
        self.place = torch.tensor([places.get(id(s), 0) for s in similarities])  # (B)
        self.dense = [s.to_dense(dtype) for s in distinct.values()]
        classes = [torch.arange(s.num_classes) for s in distinct.values()]
        self.log_rows = _under_each_other(
            [s.log_rows(c, dtype) for s, c in zip(distinct.values(), classes, strict=True)]
        )
        self.targets = _under_each_other([d / d.sum(1, keepdim=True) for d in self.dense])

    def keep(self, left: Tensor) -> "StackedLoss":
        """The same for some of the nets."""
        smaller = object.__new__(StackedLoss)
        smaller.__dict__.update(self.__dict__)
        smaller.losses = [self.losses[i] for i in left.tolist()]
        smaller.place = self.place[left]
        return smaller

    def __call__(self, z: Tensor, y: Tensor) -> Tensor:
        """Logits (B, n, C) and classes (B, n) to losses (B)."""
        result = z.new_zeros(len(z))
        for name in dict.fromkeys(self.losses):
            of = torch.tensor([i for i, loss in enumerate(self.losses) if loss == name])
            values = _FORMULAS[name](self, z[of], y[of], self.place[of])  # (b, n)
            result = result.index_copy(0, of, values.mean(1))
        return result

    def cross_entropy(self, z: Tensor, y: Tensor, place: Tensor) -> Tensor:
        return F.cross_entropy(z.flatten(0, 1), y.flatten(), reduction="none").view(y.shape)

    def sim_loss(self, z: Tensor, y: Tensor, place: Tensor) -> Tensor:
        shift = z.detach().amax(-1, keepdim=True)
        z = z - shift
        mixture = (z + self._rows(self.log_rows, y, place)).logsumexp(-1)
        return z.logsumexp(-1) - mixture

    def soft_target_loss(self, z: Tensor, y: Tensor, place: Tensor) -> Tensor:
        return z.logsumexp(-1) - (self._rows(self.targets, y, place) * z).sum(-1)

    def proper_sim_loss(self, z: Tensor, y: Tensor, place: Tensor) -> Tensor:
        values = z.new_zeros(y.shape)
        for number in place.unique().tolist():
            of = (place == number).nonzero().squeeze(1)
            values = values.index_copy(0, of, _proper(z[of], y[of], self.dense[number]))
        return values

    def _rows(self, table: Tensor, y: Tensor, place: Tensor) -> Tensor:
        index = place.unsqueeze(1) * table.shape[1] + y  # (b, n)
        return table.index_select(0, index.flatten()).view(*y.shape, -1)


def _proper(z: Tensor, y: Tensor, s: Tensor) -> Tensor:
    """-log a_y + 1 - sum_i p_i S_iy / a_i with a = S p, in linear space."""
    p = z.softmax(-1)
    tiny = torch.finfo(z.dtype).tiny
    a = (p @ s.T).clamp(min=tiny)
    expected = ((p / a) * s.T[y]).sum(-1)
    return 1 - expected - a.gather(-1, y.unsqueeze(-1)).squeeze(-1).log()


def _under_each_other(tables: list[Tensor]) -> Tensor:
    return torch.cat(tables) if tables else torch.empty(0, 0)


_FORMULAS = {
    BASELINE: StackedLoss.cross_entropy,
    "simloss": StackedLoss.sim_loss,
    "proper": StackedLoss.proper_sim_loss,
    "soft-target": StackedLoss.soft_target_loss,
}
