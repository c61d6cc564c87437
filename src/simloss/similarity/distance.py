"""The base class of similarities of the form exp(-distance / scale)."""

from abc import abstractmethod
from typing import Self

import torch
from torch import Tensor

from .base import Similarity


class DistanceSimilarity(Similarity):
    """A distance computed from a few numbers per class, and the tensor "scale"."""

    @abstractmethod
    def _distance(self, target: Tensor) -> Tensor:
        """Distances to all classes, symmetric and 0 from a class to itself, (*, C)."""

    def log_rows(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """-distance / scale, exact even if its exponential would underflow."""
        log_rows = self._log_similarities(target)
        if self._is_normalized_on_the_fly():
            log_rows = log_rows - self._row_sums(target, self._wide()).log().unsqueeze(-1)
        return log_rows.to(dtype)

    def normalized(self) -> Self:
        return self._with_row_sums()

    def _log_similarities(self, target: Tensor) -> Tensor:
        return -self._distance(target) / self.tensors["scale"]  # (*, C)

    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self._log_similarities(target).exp().to(dtype)

    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self.tensors["row_sums"][target].to(dtype)
