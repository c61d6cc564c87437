"""Random crops and flips of a whole batch at once."""

import torch
import torch.nn.functional as F
from torch import Tensor


def crop_and_flip(images: Tensor, *, padding: int = 4, generator: torch.Generator) -> Tensor:
    """Shift each image by up to `padding` pixels, black moving in, and mirror half of them.

    (N, C, H, W) of any dtype, quickest in the channels-last format, in which the result always is:
    there a batch is one selection of pixels, without a loop over images.

    Example:
        >>> images = torch.arange(18, dtype=torch.uint8).reshape(1, 2, 3, 3)
        >>> crop_and_flip(images, padding=1, generator=torch.Generator().manual_seed(0)).shape
        torch.Size([1, 2, 3, 3])
    """
    count, channels, height, width = images.shape
    top, left = torch.randint(2 * padding + 1, (2, count, 1), generator=generator)
    mirror = torch.rand(count, 1, generator=generator) < 0.5
    padded = F.pad(images.permute(0, 2, 3, 1), (0, 0, *(padding,) * 4))  # (N, H', W', C)
    rows = torch.arange(height) + top + torch.arange(count).unsqueeze(1) * padded.shape[1]  # (N, H)
    columns = torch.arange(width).expand(count, -1)
    columns = torch.where(mirror, width - 1 - columns, columns) + left  # (N, W)
    pixels = rows.unsqueeze(2) * padded.shape[2] + columns.unsqueeze(1)  # (N, H, W)
    chosen = padded.reshape(-1, channels).index_select(0, pixels.flatten().to(images.device))
    return chosen.view(count, height, width, channels).permute(0, 3, 1, 2)
