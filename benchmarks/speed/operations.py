"""What the operations of a fused loss take each, alone: why a small batch costs what it costs."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

SHAPES = ((1024, 96), (1024, 1000))


class _Nothing(torch.autograd.Function):
    """An autograd function that does no work: what there is to pay before any."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, loss: Tensor, gradient: Tensor) -> Tensor:
        ctx.gradient = gradient
        return loss.view_as(loss)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        return ctx.gradient, None, None


def operations(N: int, C: int) -> dict[str, Callable[[], object]]:
    """Cross entropy first, then what SimLoss does instead, in its order; the last is a step."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(N, C, generator=generator)
    y = torch.randint(C, (N,), generator=generator)
    S = torch.rand(C, C, generator=generator)
    p, rows, factor = z.softmax(-1), S[y], torch.ones(N, 1)
    out, loss, logits = torch.empty_like(z), torch.ones(()), z.clone().requires_grad_()

    def cross_entropy() -> None:
        logits.grad = None
        F.cross_entropy(logits, y).backward()

    def nothing() -> None:
        logits.grad = None
        _Nothing.apply(logits, loss, out).backward()

    return {
        "F.cross_entropy, whole": cross_entropy,
        "softmax(z)": lambda: torch.softmax(z, -1, out=out),
        "rows of S": lambda: torch.index_select(S, 0, y, out=rows),
        "rows * p": lambda: rows.mul_(p),
        "sum of each row": lambda: p.sum(-1, keepdim=True),
        "log, mean": lambda: factor.log().neg_().mean(),
        "gradient: rows / sums": lambda: rows.mul_(factor),
        "gradient: p - that": lambda: torch.add(rows, p, alpha=0.5, out=out),
        "an autograd function with nothing in it": nothing,
    }
