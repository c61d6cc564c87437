"""Principal components, fitted on the training part only."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from .. import _checks
from .errors import DataError

# The number of examples to convert to double precision at once.
_AT_ONCE = 4096


@dataclass(frozen=True)
class Components:
    r"""The directions in which the training examples vary most.

    .. math:: (x_n - \mu)^\top V

    V holds the eigenvectors of the covariance with the largest eigenvalues, largest first; the
    sign of each makes its largest entry positive, so that equal data gives equal components.

    Attributes:
        mean: :math:`\mu`, (D).
        directions: V, (D, K).

    Example:
        >>> x = torch.tensor([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [9.0, 9.0]])
        >>> components = Components.fit(x, torch.tensor([0, 1, 2]), 1)
        >>> components(x)[:3]
        tensor([[-2.2361],
                [ 0.0000],
                [ 2.2361]])
    """

    mean: Tensor
    directions: Tensor

    @classmethod
    def fit(cls, inputs: Tensor, indices: Tensor, count: int) -> "Components":
        """Fit on `inputs[indices]` of (N, D); `count` is K."""
        count = _checks.class_count("count", count)
        if inputs.ndim != 2 or count > min(inputs.shape[1], len(indices) - 1):
            raise DataError(
                f"`count` must be at most the number of inputs and less than that of training "
                f"examples, but got {count} for inputs of shape {tuple(inputs.shape)} and "
                f"{len(indices):,} training examples."
            )
        blocks = [inputs[some].double() for some in indices.split(_AT_ONCE)]
        mean = torch.stack([block.sum(0) for block in blocks]).sum(0) / len(indices)
        covariance = torch.zeros(inputs.shape[1], inputs.shape[1], dtype=torch.float64)
        for block in blocks:
            covariance.addmm_((block - mean).T, block - mean)
        directions = torch.linalg.eigh(covariance).eigenvectors[:, -count:].flip(1)  # (D, K)
        largest = directions.gather(0, directions.abs().argmax(0, keepdim=True))
        return cls(mean.float(), (directions * largest.sign()).float())

    def __call__(self, inputs: Tensor) -> Tensor:
        """Inputs (N, D) as float32 (N, K)."""
        blocks = inputs.split(_AT_ONCE)
        return torch.cat([(block.float() - self.mean) @ self.directions for block in blocks])


def averaged(images: Tensor, size: int) -> Tensor:
    """Images (N, 3, H, H) as rows of `size` x `size` x 3 numbers, each a mean of pixels."""
    full = images.shape[-1]
    if _checks.class_count("size", size) > full or full % size:
        raise ValueError(f"`size` must divide {full}, but got {size}.")
    blocks = images.split(_AT_ONCE)
    return torch.cat([F.avg_pool2d(block.float(), full // size).flatten(1) for block in blocks])
