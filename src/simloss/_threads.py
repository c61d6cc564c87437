"""How many threads a small net gets: one.

In steps of well under a millisecond, threads wait for each other longer than they work, and on a
machine that others use for a hundred times as long.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

# Multiplications in a step, about a millisecond of one core.
_SMALL_STEP = 1 << 25


@contextmanager
def suited_to(net: nn.Module, batch: int) -> Iterator[None]:
    """One thread while a net is trained or asked in batches, if its steps are small."""
    before = torch.get_num_threads()
    if before > 1 and _steps_are_small(net, batch):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)


def _steps_are_small(net: nn.Module, batch: int) -> bool:
    """By its weights, which a linear layer uses once per example, and a convolution per pixel."""
    weights = [*net.parameters()]
    is_linear = all(each.ndim <= 2 for each in weights)
    return is_linear and batch * sum(each.numel() for each in weights) <= _SMALL_STEP
