"""The work of a loss on a GPU, counted, not timed: kernels, and passes over the logits.

Forward and backward of the formula run on tensors of the device "meta", which have a shape and no
values. There the losses take the same path as on a GPU.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import simloss
from simloss.similarity import order

from .contenders import R, sparse_rows

SHAPE = (1024, 1000)
FEW = 8  # examples that are compiled and run: kernels are the same for many
_NO_KERNEL = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
_LOSSES = (simloss.SimLoss, simloss.ProperSimLoss, simloss.SoftTargetLoss)


class Counter(TorchDispatchMode):
    """Counts operations that compute or copy; a view costs nothing."""

    def __init__(self, entries: int):
        super().__init__()
        self.entries, self.operations, self.moved = entries, 0, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.logsumexp.default:
            with self:  # torch makes it of several operations, of which it shows only the whole
                return _log_sum_exp(*args)
        result = func(*args, **(kwargs or {}))
        if not func.is_view and func.__name__.partition(".")[0] not in _NO_KERNEL:
            self.operations += 1
            self.moved += sum(map(self._large, tree_leaves((args, kwargs, result))))
        return result

    def _large(self, leaf: object) -> int:
        """The entries of a tensor as large as the logits; what is repeated counts once."""
        if not isinstance(leaf, Tensor):
            return 0
        sizes = zip(leaf.shape, leaf.stride(), strict=True)
        held = torch.Size(size for size, stride in sizes if stride).numel()
        return held if held >= self.entries else 0


def _log_sum_exp(x: Tensor, dim: list[int], keepdim: bool = False) -> Tensor:
    high = x.amax(dim, keepdim=True)
    high.masked_fill_(high.abs() == float("inf"), 0)
    total = (x - high).exp_().sum(dim, keepdim=keepdim)
    return total.log_().add_(high if keepdim else high.squeeze(dim))


def losses(num_classes: int) -> dict[str, Callable[..., Tensor]]:
    """Cross entropy first, then each loss for each way to keep S."""
    kept = {
        "order": order(num_classes, R),
        "dense": order(num_classes, R).to_dense(),
        "sparse (50 per row)": sparse_rows(num_classes),
    }
    ours = {f"{loss.__name__}, {name}": loss(S) for loss in _LOSSES for name, S in kept.items()}
    return {"F.cross_entropy": F.cross_entropy, **ours}


def counted(loss: Callable[..., Tensor], shape: tuple[int, int]) -> tuple[int, float]:
    """Operations, and reads and writes of N x C entries, of a forward and a backward pass."""
    loss = loss.to("meta") if isinstance(loss, torch.nn.Module) else loss
    input = torch.zeros(shape, device="meta", requires_grad=True)
    target = torch.zeros(shape[0], dtype=torch.long, device="meta")
    with Counter(input.numel()) as counter:
        loss(input, target).backward()
    return counter.operations, counter.moved / input.numel()


def compiled_kernels(loss: Callable[..., Tensor], num_classes: int) -> int:
    """Kernels that `torch.compile` makes, here for the CPU, of a forward and a backward pass."""
    from torch._inductor import metrics  # takes seconds
    from torch._inductor.utils import fresh_cache

    torch._dynamo.reset()
    metrics.reset()
    input = torch.zeros(FEW, num_classes, requires_grad=True)
    with fresh_cache():
        torch.compile(loss)(input, torch.zeros(FEW, dtype=torch.long)).backward()
    return metrics.generated_kernel_count
