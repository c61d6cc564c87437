"""The last layer and the loss together, at the size of a language model's vocabulary."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

import simloss
from simloss.similarity import order

from .contenders import sparse_rows

SHAPE = (2048, 512, 128_000)  # N, D, C

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


def _two_steps(num_classes: int) -> Loss:
    return lambda x, W, y: F.cross_entropy(F.linear(x, W), y)


def _torch(num_classes: int) -> Loss | None:
    if not hasattr(F, "linear_cross_entropy"):
        return None
    return lambda x, W, y: F.linear_cross_entropy(x, W, y)


def _torch_chunked(num_classes: int) -> Loss | None:
    if not hasattr(F, "linear_cross_entropy"):
        return None
    options = torch.nn.LinearCrossEntropyOptions()
    return lambda x, W, y: F.linear_cross_entropy(x, W, y, options=options)


def _order(num_classes: int) -> Loss:
    S = order(num_classes, 0.8)
    return lambda x, W, y: simloss.linear_sim_loss(x, W, y, S)


def _sparse(num_classes: int) -> Loss:
    S = sparse_rows(num_classes)
    return lambda x, W, y: simloss.linear_sim_loss(x, W, y, S)


def _proper(num_classes: int) -> Loss:
    S = order(num_classes, 0.8)
    return lambda x, W, y: simloss.linear_proper_sim_loss(x, W, y, S)


def _soft_target(num_classes: int) -> Loss:
    S = order(num_classes, 0.8)
    return lambda x, W, y: simloss.linear_soft_target_loss(x, W, y, S)


CONTENDERS: dict[str, Callable[[int], Loss | None]] = {
    "F.linear + F.cross_entropy": _two_steps,
    "F.linear_cross_entropy": _torch,
    "F.linear_cross_entropy, chunked": _torch_chunked,
    "linear_sim_loss, order": _order,
    "linear_sim_loss, sparse (50 per row)": _sparse,
    "linear_proper_sim_loss, order": _proper,
    "linear_soft_target_loss, order": _soft_target,
}


def step(name: str, N: int, D: int, C: int) -> Callable[[], object] | None:
    """A forward and a backward pass from features (N, D) and weight (C, D)."""
    loss = CONTENDERS[name](C)
    if loss is None:
        return None
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N, D, generator=generator).requires_grad_()
    W = torch.randn(C, D, generator=generator).mul_(0.05).requires_grad_()
    y = torch.randint(C, (N,), generator=generator)

    def forward_and_backward() -> None:
        x.grad = W.grad = None
        loss(x, W, y).backward()

    return forward_and_backward
