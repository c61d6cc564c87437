"""The base class of similarities that are powers of one number."""

from abc import abstractmethod
from typing import Self

import torch
from torch import Tensor

from .base import Similarity


class PowerSimilarity(Similarity):
    """Powers of one number, `r`. It stores nothing else."""

    @abstractmethod
    def _distance(self, target: Tensor) -> Tensor:
        """The exponents, whole numbers, (*, C)."""

    def log_rows(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """Distances times log r, exact even if the power itself would underflow."""
        distance = self._distance(target)  # (*, C)
        log_r = self.tensors["r"].to(self._wide()).log()
        # 0 times log 0 is NaN, but 0^0 is 1.
        log_rows = torch.where(distance == 0, 0.0, distance * log_r)
        if self._is_normalized_on_the_fly():
            log_rows = log_rows - self._row_sums(target, self._wide()).log().unsqueeze(-1)
        return log_rows.to(dtype)

    def normalized(self) -> Self:
        return type(self)(self.num_classes, self.tensors, names=self.names, kind="probability")

    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self.tensors["r"].to(self._wide()).pow(self._distance(target)).to(dtype)

    def _description(self) -> str:
        r = float(self.tensors["r"])
        return f", r={r:.6g}" if r else ", r=0: the identity"
