"""SimLoss where the classes are planes of an image, (N, C, d1, ..., dK), and stay so.

Segmentation has few classes and many places. Moving the classes to the end and back, as the other
ways do, would take longer there than the loss.
"""

import torch
from torch import Tensor

from .operator import PART_ENTRIES, Operator
from .scratch import scratch


def sim_in_planes(
    input: Tensor, target: Tensor, S: Operator, matrix: Tensor, *, ignored: int | None, mean: bool
) -> tuple[Tensor, Tensor]:
    """Equals ``-(S[target] * input.softmax(1).movedim(1, -1)).sum(-1).log()``, reduced.

    Returns:
        The loss, NaN where linear space is not enough for it, and the gradient by the input.
    """
    N, C = input.shape[:2]
    z, y = input.view(N, C, -1), target.view(N, -1)
    gradient = torch.empty_like(input)
    counts = None if ignored is None else y != ignored
    if counts is not None:
        y = torch.where(counts, y, 0)
    total = y.numel() if counts is None else int(counts.sum())
    scale = 1 / total if mean and total else 1.0
    columns = matrix.T.contiguous()
    step = max(1, PART_ENTRIES // (C * z.shape[2]))
    out, found = gradient.view_as(z), []
    for start in range(0, N, step):
        at = slice(start, start + step)
        some = None if counts is None else counts[at]
        found.append(_part(z[at], y[at], S, columns, some, scale, out[at]))
    loss = torch.stack(found).sum()
    return (loss / total if mean else loss), gradient


def _part(
    z: Tensor,
    y: Tensor,
    S: Operator,
    columns: Tensor,
    counts: Tensor | None,
    scale: float,
    out: Tensor,
) -> Tensor:
    """The sum of the losses of some images (m, C, L); `out` becomes their gradient."""
    m, C, L = z.shape
    p = torch.softmax(z, 1, out=out)
    rows = torch.index_select(
        columns, 1, y.flatten(), out=scratch("rows", (C, m * L), columns.dtype)
    )
    mixed = rows.view(C, m, L).transpose(0, 1).mul_(p)  # (m, C, L)
    a = S.sound(mixed.sum(1, keepdim=True))  # (m, 1, L)
    losses, factor = a.log(), -scale / a
    if counts is None:
        torch.add(mixed.mul_(factor), p, alpha=scale, out=out)
    else:
        there = counts.unsqueeze(1)
        losses = torch.where(there, losses, 0.0)
        mixed.mul_(torch.where(there, factor, 0.0))
        out.mul_(there.to(out.dtype).mul_(scale)).add_(mixed)
    return -losses.sum()
