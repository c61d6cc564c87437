"""Random crops and flips of a whole batch at once."""

import torch
from torch import Tensor


def crop_and_flip(
    images: Tensor,
    *,
    padding: int = 4,
    generator: torch.Generator,
    memory: dict[str, Tensor] | None = None,
) -> Tensor:
    """Shift each image by up to `padding` pixels, black moving in, and mirror half of them.

    (N, C, H, W) of any dtype, quickest in the channels-last format, in which the result always is:
    there a batch is one selection of pixels, without a loop over images. With a `memory`, what it
    works in is kept there for the next call, which writes over the last result.

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
    padded, chosen = _buffers(upright, padding, {} if memory is None else memory)
    inside = padded[:, padding : padding + height, padding : padding + width]
    inside[:count] = upright
    inside[count : count + len(mirrored)] = upright.index_select(
        0, mirrored.to(images.device)
    ).flip(2)
    # A line of a crop is one piece of memory, which begins at any pixel of the padded batch.
    lines = padded.flatten().unfold(0, width * channels, channels)
    first = torch.arange(height) + top + place.unsqueeze(1) * padded.shape[1]  # (N, H)
    first = first * padded.shape[2] + left
    torch.index_select(lines, 0, first.flatten().to(images.device), out=chosen)
    return chosen.view(count, height, width, channels).permute(0, 3, 1, 2)


def _buffers(upright: Tensor, padding: int, memory: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Two batches of images with a black border, and the lines of one."""
    count, height, width, channels = upright.shape
    size = (2 * count, height + 2 * padding, width + 2 * padding, channels)
    padded = memory.get("padded")
    if padded is None or padded.shape != size:
        padded = memory["padded"] = upright.new_zeros(size)
        memory["chosen"] = upright.new_empty(count * height, width * channels)
    return padded, memory["chosen"]
