"""Memory to work in that is kept between calls.

A buffer of some megabytes that is asked for and given back in every step is given back to the
system as well, and its pages are made anew each time, which takes longer than the work in it.
"""

import math
import threading

import torch
from torch import Tensor

# Entries that are kept at most, for each purpose: 8 MB of float32.
_MOST = 1 << 21


class _Kept(threading.local):
    def __init__(self) -> None:
        self.buffers: dict[tuple[str, torch.dtype], Tensor] = {}


_kept = _Kept()


def scratch(purpose: str, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Memory of that shape, whatever is in it; the next call for the same purpose takes it back."""
    size = math.prod(shape)
    if size > _MOST:
        return torch.empty(shape, dtype=dtype)
    buffer = _kept.buffers.get((purpose, dtype))
    if buffer is None or buffer.numel() < size:
        with torch.inference_mode(False):
            buffer = _kept.buffers[purpose, dtype] = torch.empty(size, dtype=dtype)
    return buffer[:size].view(shape)
