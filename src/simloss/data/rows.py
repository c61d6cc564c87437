"""Some rows of a tensor, as fast as memory allows."""

import torch
from torch import Tensor


def rows(inputs: Tensor, indices: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`inputs[indices]`, in the memory format of `inputs`.

    Ten times faster than indexing for images in the channels_last format, in which decoded images
    are cached: there, a row is one block of memory, which indexing does not use.

    Args:
        inputs: (N, ...), memory-mapped or not.
        indices: (B).
        out: a tensor to write to, of the result's shape, format and dtype.

    Example:
        >>> rows(torch.tensor([[1, 2], [3, 4], [5, 6]]), torch.tensor([2, 0]))
        tensor([[5, 6],
                [1, 2]])
    """
    if is_channels_last(inputs):
        last = None if out is None else out.permute(0, 2, 3, 1)
        picked = torch.index_select(inputs.permute(0, 2, 3, 1), 0, indices, out=last)
        return picked.permute(0, 3, 1, 2)
    return torch.index_select(inputs, 0, indices, out=out)


def is_channels_last(images: Tensor) -> bool:
    """Whether the channels of a pixel, not the pixels of a channel, are adjacent."""
    return (
        images.ndim == 4
        and not images.is_contiguous()
        and images.is_contiguous(memory_format=torch.channels_last)
    )
