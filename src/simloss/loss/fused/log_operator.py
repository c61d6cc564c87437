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
