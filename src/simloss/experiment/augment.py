"""Random crops and flips of a whole batch at once."""

import torch
import torch.nn.functional as F
from torch import Tensor


def crop_and_flip(images: Tensor, *, padding: int = 4, generator: torch.Generator) -> Tensor:
    """Shift each image by up to `padding` pixels, black moving in, and mirror half of them.

    One gather for the batch, (N, C, H, W) of any dtype: no loop over images, no new memory format.

    Example:
        >>> images = torch.arange(18, dtype=torch.uint8).reshape(1, 2, 3, 3)
        >>> crop_and_flip(images, padding=1, generator=torch.Generator().manual_seed(0)).shape
        torch.Size([1, 2, 3, 3])
    """
    count, channels, height, width = images.shape
    device = images.device
    shift = torch.randint(2 * padding + 1, (2, count, 1), generator=generator)
    mirror = torch.rand(count, 1, generator=generator) < 0.5
    rows = torch.arange(height) + shift[0]  # (N, H)
    columns = torch.arange(width).expand(count, -1)
    columns = torch.where(mirror, width - 1 - columns, columns) + shift[1]  # (N, W)
    padded = F.pad(images, (padding,) * 4).flatten(2)  # (N, C, H' W')
    index = rows.unsqueeze(2) * (width + 2 * padding) + columns.unsqueeze(1)  # (N, H, W)
    index = index.reshape(count, 1, -1).expand(-1, channels, -1).to(device)
    return padded.gather(2, index).reshape(images.shape)
