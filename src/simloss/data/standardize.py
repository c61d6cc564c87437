"""Scales inputs to mean 0 and standard deviation 1, by the training part only."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from .errors import DataError
from .rows import is_channels_last, rows

# The number of entries that fits in the processor's cache.
_CACHED_ENTRIES = 1 << 19
_CHUNK_ENTRIES = 1 << 22


@dataclass(frozen=True)
class Standardizer:
    r"""Subtracts a mean and divides by a standard deviation, per channel or column.

    .. math:: \frac{x_{nc \ldots} - \mu_c}{\sigma_c}

    A channel or column that never varies has :math:`\sigma_c = 1`, so it becomes 0.

    Attributes:
        mean: :math:`\mu`, (D) or one per channel (3).
        std: :math:`\sigma`, of the same shape; that of the population, divided by N.

    Example:
        >>> table = torch.tensor([[1.0, 5.0], [3.0, 5.0], [9.0, 5.0]])
        >>> standardizer = Standardizer.fit(table, torch.tensor([0, 1]))
        >>> standardizer.mean, standardizer.std
        (tensor([2., 5.]), tensor([1., 1.]))
        >>> standardizer(table)
        tensor([[-1.,  0.],
                [ 1.,  0.],
                [ 7.,  0.]])
    """

    mean: Tensor
    std: Tensor

    @classmethod
    def fit(cls, inputs: Tensor, indices: Tensor) -> Self:
        """The statistics of `inputs[indices]`: per column (N, D), per channel (N, C, H, W).

        In double precision; exact for uint8 images, whatever the number of threads.
        """
        if len(indices) == 0:
            raise DataError("`indices` must name at least one example to standardise by.")
        moments = _uint8_moments if inputs.dtype == torch.uint8 else _float_moments
        mean, variance, constant = moments(inputs, indices)
        if not bool((mean + variance).isfinite().all()):
            at = int((~(mean + variance).isfinite()).nonzero()[0])
            raise DataError(f"`inputs` must be finite, but column {at} holds NaN or infinity.")
        std = variance.sqrt().masked_fill(constant, 1.0)
        return cls(mean.float(), std.float())

    def __call__(self, batch: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`batch`, uint8 or float, as standardised float32.

        Args:
            batch: (B, D) or (B, C, H, W).
            out: a float32 tensor to write to. Reusing one saves most of the time that a large
                batch takes, because fresh memory is slow.
        """
        if out is None:
            out = torch.empty_like(batch, dtype=torch.float32)
        mean, std = self.mean.to(out.device), self.std.to(out.device)
        if is_channels_last(out):
            # Channels are innermost: treating them as lines of pixels, each with its own mean
            # and std, makes the inner loop long instead of three steps.
            mean, std = mean.repeat(out.shape[3]), std.repeat(out.shape[3])
            some = max(1, _CACHED_ENTRIES // out[0].numel())
            for ours, theirs in zip(out.split(some), batch.split(some), strict=True):
                lines = ours.copy_(theirs).permute(0, 2, 3, 1).flatten(2)  # (b, H, W * C), no copy
                lines.sub_(mean).div_(std)
        else:
            shape = (-1,) + (1,) * (out.ndim - 2)
            out.copy_(batch).sub_(mean.view(shape)).div_(std.view(shape))
        return out


def _uint8_moments(inputs: Tensor, indices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, variance and whether there is only one value, for whole numbers: by counting them."""
    counts = torch.zeros(inputs.shape[1], 256, dtype=torch.long)
    for chunk in _chunks(inputs, indices):
        for channel, values in enumerate(chunk.unbind(1)):
            counts[channel] += torch.bincount(values.flatten(), minlength=256)
    value = torch.arange(256, dtype=torch.float64)
    share = counts / counts.sum(1, keepdim=True).double()
    mean = share @ value
    variance = (share * (value - mean.unsqueeze(1)).square()).sum(1)
    return mean, variance, (counts > 0).sum(1) == 1


def _float_moments(inputs: Tensor, indices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, variance and whether there is only one value, in two passes."""
    others = tuple(dim for dim in range(inputs.ndim) if dim != 1)
    count = len(indices) * inputs[0].numel() // inputs.shape[1]
    first = inputs[indices[0]].flatten(1)[:, 0] if inputs.ndim > 2 else inputs[indices[0]]
    columns = (-1,) + (1,) * (inputs.ndim - 2)

    def summed(term: Callable[[Tensor], Tensor]) -> Tensor:
        return torch.stack([term(c).sum(others) for c in _chunks(inputs, indices)]).sum(0)

    mean = summed(lambda chunk: chunk.double()) / count
    variance = summed(lambda chunk: (chunk.double() - mean.view(columns)).square()) / count
    return mean, variance, summed(lambda chunk: chunk != first.view(columns)) == 0


def _chunks(inputs: Tensor, indices: Tensor) -> Iterator[Tensor]:
    step = max(1, _CHUNK_ENTRIES // inputs[0].numel())
    return (rows(inputs, some) for some in indices.split(step))
