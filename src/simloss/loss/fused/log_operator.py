"""The same questions to a similarity in log space: exact at any logits, on any device.

Nothing here looks at a value, so no device is made to wait and nothing depends on the data.
"""

import torch
from torch import Tensor

from ...similarity import Similarity
from .operator import BLOCK_ENTRIES

_MINUS_INFINITY = float("-inf")


class LogOperator:
    """S in log space, for m rows of a batch at a time."""

    num_classes: int

    def own(self, y: Tensor) -> Tensor:
        """1 at the class itself, else 0, (m, C)."""
        return torch.nn.functional.one_hot(y, self.num_classes)

    def log_rows(self, y: Tensor) -> Tensor:
        """``S[y].log()``, (m, C)."""
        raise NotImplementedError

    def rows(self, y: Tensor) -> Tensor:
        """``S[y]``, (m, C)."""
        raise NotImplementedError

    def columns(self, y: Tensor) -> Tensor:
        """``S[:, y].T``, (m, C)."""
        raise NotImplementedError

    def mixtures(self, t: Tensor) -> Tensor:
        """``t @ S.T``, (m, C)."""
        raise NotImplementedError

    def pullback(self, t: Tensor) -> Tensor:
        """``t @ S``, (m, C)."""
        raise NotImplementedError

    def row_sums(self) -> Tensor:
        """``S.sum(1)``, (C)."""
        raise NotImplementedError

    def log_mixtures(self, z: Tensor) -> Tensor:
        """``(z.exp() @ S.T).log()``, (m, C); where that is log 0, the class's own z."""
        raise NotImplementedError

    def shared_out(self, k: Tensor, z: Tensor, log_mixtures: Tensor) -> Tensor:
        """``(k / (z.exp() @ S.T)) @ S * z.exp()``, (m, C): k_i to each c in its share of sum i."""
        raise NotImplementedError


class ComputedLogOperator(LogOperator):
    """S of any structure through its rows; never more than a block of them is held."""

    def __init__(self, similarity: Similarity, dtype: torch.dtype) -> None:
        self.similarity = similarity
        self.num_classes = similarity.num_classes
        self.dtype = dtype

    def log_rows(self, y: Tensor) -> Tensor:
        return self.similarity.log_rows(y, self.dtype)

    def rows(self, y: Tensor) -> Tensor:
        return self.similarity.rows(y, self.dtype)

    def columns(self, y: Tensor) -> Tensor:
        return self.similarity.columns(y, self.dtype)

    def mixtures(self, t: Tensor) -> Tensor:
        return torch.cat([t @ self.rows(some).T for some in self._blocks(t.new_empty(1))], 1)

    def pullback(self, t: Tensor) -> Tensor:
        result = torch.zeros_like(t)
        for some in self._blocks(t.new_empty(1)):
            result += t[:, some] @ self.rows(some)
        return result

    def row_sums(self) -> Tensor:
        nothing = torch.empty(1, device=self.similarity._device())
        return torch.cat([self.rows(some).sum(1) for some in self._blocks(nothing)])

    def log_mixtures(self, z: Tensor) -> Tensor:
        parts = []
        for some in self._blocks(z):
            mixtures = (z.unsqueeze(1) + self.log_rows(some)).logsumexp(-1)  # (m, i)
            parts.append(torch.where(mixtures == _MINUS_INFINITY, z[:, some], mixtures))
        return torch.cat(parts, 1)

    def shared_out(self, k: Tensor, z: Tensor, log_mixtures: Tensor) -> Tensor:
        result = torch.zeros_like(z)
        for some in self._blocks(z):
            x = z.unsqueeze(1) + self.log_rows(some)  # (m, i, C)
            dead = x.amax(-1, keepdim=True) == _MINUS_INFINITY
            own = self.own(some).to(z.dtype)
            shares = torch.where(dead, own, torch.where(dead, 0.0, x).softmax(-1))
            result += torch.bmm(k[:, some].unsqueeze(1), shares).squeeze(1)
        return result

    def _blocks(self, z: Tensor) -> tuple[Tensor, ...]:
        classes = torch.arange(self.num_classes, device=z.device)
        return classes.split(max(1, BLOCK_ENTRIES // max(self.num_classes, z.numel())))


class OrderLogOperator(ComputedLogOperator):
    """S_ij = r^|i - j| by cumulative sums, O(C) a row of the batch."""

    def mixtures(self, t: Tensor) -> Tensor:
        return self._signed(t, 0.0) / self._row_sums()

    def pullback(self, t: Tensor) -> Tensor:
        return self._signed(t / self._row_sums(), 0.0)

    def row_sums(self) -> Tensor:
        classes = self.similarity._all_classes()
        return self.similarity._row_sums(classes, self.dtype) / self._row_sums()

    def log_mixtures(self, z: Tensor) -> Tensor:
        return log_order_mixtures(z, self.similarity.tensors["r"]) - self._row_sums().log()

    def shared_out(self, k: Tensor, z: Tensor, log_mixtures: Tensor) -> Tensor:
        shared = self._signed(k, log_mixtures + self._row_sums().log(), z)
        # With the identity each class keeps what it has, also one whose logit is -inf.
        return torch.where(self.similarity.tensors["r"] > 0, shared, k)

    def _signed(self, k: Tensor, below: Tensor | float, above: Tensor | float = 0.0) -> Tensor:
        """``(k / below.exp()) @ powers * above.exp()``, the two signs of k apart."""
        r = self.similarity.tensors["r"]
        plus, minus = (
            (above + log_order_mixtures(part.clamp(min=0).log() - below, r)).exp()
            for part in (k, -k)
        )
        return plus - minus

    def _row_sums(self) -> Tensor:
        """What the rows are divided by, (C): 1 for a similarity."""
        classes = self.similarity._all_classes()
        if self.similarity.kind == "similarity":
            return torch.ones(self.num_classes, dtype=self.dtype, device=classes.device)
        return self.similarity._row_sums(classes, self.dtype)


def log_order_mixtures(z: Tensor, r: Tensor) -> Tensor:
    r""":math:`\log \sum_c r^{|i - c|} e^{z_c}` for every class i, (..., C), in O(C).

    The classes up to i give :math:`i \log r + \log \sum_{c \le i} e^{z_c - c \log r}`, a cumulative
    sum; those after i the same from the other end. In float64, because c log r grows large.
    """
    wide = z.to(torch.float32 if z.device.type == "mps" else torch.float64)
    log_r = torch.where(r > 0, r, 1.0).to(wide.dtype).log()
    ramp = torch.arange(z.shape[-1], device=z.device) * log_r
    upto = ramp + (wide - ramp).logcumsumexp(-1)
    after = (wide + ramp).flip(-1).logcumsumexp(-1).flip(-1) - ramp
    after = torch.nn.functional.pad(after[..., 1:] + log_r, (0, 1), value=_MINUS_INFINITY)
    return torch.where(r > 0, torch.logaddexp(upto, after), wide).to(z.dtype)
