"""Which fast path a similarity takes, and whether one can be taken at all."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ... import _checks
from ...similarity import Similarity
from .dense import ComputedOperator, DenseOperator
from .log_operator import ComputedLogOperator, LogOperator
from .log_order import OrderLogOperator
from .log_sparse import SparseLogOperator
from .operator import Operator
from .order import order_operator
from .sparse import sparse_operator

_OPERATORS: dict[str, Callable[[Any, torch.dtype], Operator]] = {
    "order": order_operator,
    "matrix": DenseOperator,
    "sparse": sparse_operator,
}
_LOG_OPERATORS: dict[str, type[ComputedLogOperator]] = {
    "order": OrderLogOperator,
    "sparse": SparseLogOperator,
}


def operator(similarity: Similarity, dtype: torch.dtype) -> Operator:
    """The similarity in linear space; a structure without a path of its own through its rows."""
    return _OPERATORS.get(similarity.structure, ComputedOperator)(similarity, dtype)


def log_operator(similarity: Similarity, dtype: torch.dtype) -> LogOperator:
    """The similarity in log space."""
    return _LOG_OPERATORS.get(similarity.structure, ComputedLogOperator)(similarity, dtype)


def can_be_fused(inputs: Sequence[Tensor | None], constants: Sequence[Tensor | None]) -> bool:
    """Whether the gradient may be made by hand: of the inputs, in a plain backward pass.

    Compilers, transforms and forward mode get the plain formula, and so does a gradient to one of
    the constants: to S, to the target, to a weight.
    """
    return (
        all(each is None or _is_plain(each) for each in inputs)
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()  # type: ignore[attr-defined]
        and not torch._C._are_functorch_transforms_active()
        and forward_ad._current_level < 0
        and not any(each is not None and each.requires_grad for each in constants)
    )


def _is_plain(tensor: Tensor) -> bool:
    """A tensor with values in it, and of no special kind."""
    return (
        type(tensor) in (Tensor, torch.nn.Parameter)
        and tensor.device.type != "meta"
        and tensor.numel() > 0
    )


def reads_values(tensor: Tensor) -> bool:
    """Whether looking at values is free, so that linear space can be checked."""
    return _checks.values_can_be_read(tensor)
