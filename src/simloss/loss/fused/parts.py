"""A batch in parts that stay in the cache, whatever the layout of the logits."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor


class Part(NamedTuple):
    """Some rows of a batch: which of the M they are, and how a view has them."""

    rows: slice
    at: tuple[slice | int, ...]


def classes_last(tensor: Tensor) -> Tensor:
    """A view of (C), (N, C) or (N, C, d1, ..., dK) as (N, C) or (N, L, C)."""
    if tensor.ndim == 1:
        return tensor.unsqueeze(0)
    return tensor if tensor.ndim == 2 else tensor.flatten(2).transpose(1, 2)


def buffer_like(input: Tensor, dtype: torch.dtype) -> Tensor:
    """Memory in the layout of the input, or in one that has such a view."""
    buffer = torch.empty_like(input, dtype=dtype)
    if buffer.ndim > 3 and classes_last(buffer).data_ptr() != buffer.data_ptr():
        return torch.empty_like(buffer, memory_format=torch.contiguous_format)
    return buffer


def parts(shape: torch.Size, rows_at_once: int) -> Iterator[Part]:
    """Parts of about so many rows of a view of that shape, (N, C) or (N, L, C)."""
    count, length = shape[0], shape[1] if len(shape) == 3 else 1
    if length <= rows_at_once:
        step = rows_at_once // length
        for start in range(0, count, step):
            stop = min(start + step, count)
            yield Part(slice(start * length, stop * length), (slice(start, stop),))
        return
    for n in range(count):
        for start in range(0, length, rows_at_once):
            stop = min(start + rows_at_once, length)
            yield Part(slice(n * length + start, n * length + stop), (n, slice(start, stop)))


def places(view: Tensor, rows: Tensor) -> tuple[Tensor, ...]:
    """The index of some of the M rows, (k), in a view (N, C) or (N, L, C)."""
    if view.ndim == 2:
        return (rows,)
    length = view.shape[1]
    return (torch.div(rows, length, rounding_mode="floor"), rows % length)
