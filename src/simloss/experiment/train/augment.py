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
    left = torch.where(mirror, 2 * padding - left, left)
    mirrored = mirror.squeeze(1).nonzero().squeeze(1)  # (M), after all N as they are
    place = torch.arange(count).index_copy_(0, mirrored, count + torch.arange(len(mirrored)))
    upright = images.permute(0, 2, 3, 1)  # (N, H, W, C)
    mirrors = upright.index_select(0, mirrored.to(images.device)).flip(2)
    padded = F.pad(torch.cat([upright, mirrors]), (0, 0, *(padding,) * 4))
    # A line of a crop is one piece of memory, which begins at any pixel of the padded batch.
    lines = padded.flatten().unfold(0, width * channels, channels)
    first = torch.arange(height) + top + place.unsqueeze(1) * padded.shape[1]  # (N, H)
    first = first * padded.shape[2] + left
    chosen = lines.index_select(0, first.flatten().to(images.device))
    return chosen.view(count, height, width, channels).permute(0, 3, 1, 2)
