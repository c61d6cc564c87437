"""Tensors: shapes, kinds, finite values, class indices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor


def values_can_be_read(tensor: Tensor) -> bool:
    """Whether reading the values of `tensor` is free: no device sync, no trace, no transform."""
    return (
        type(tensor) in (Tensor, torch.nn.Parameter)
        and tensor.device.type == "cpu"
        and not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
    )


def float_tensor(name: str, value: Any) -> Tensor:
    """A tensor of float32 or wider from a tensor, an array or nested lists.

    Lists and integers become float64, so that nothing is lost.
    """
    if not isinstance(value, Tensor):
        value = writable(value)
        if isinstance(value, np.ndarray) and value.dtype == object:
            value = value.tolist()  # of a pandas table with nullable columns
        try:
            value = torch.as_tensor(value, dtype=None if hasattr(value, "dtype") else torch.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(
                f"`{name}` must be a tensor, an array or nested lists of numbers, "
                f"but got {type(value).__name__}: {error}."
            ) from None
    if value.layout is not torch.strided:
        value = value.to_dense()
    if value.is_complex():
        raise TypeError(f"`{name}` must hold real numbers, but got {_kind(value)}.")
    if not value.is_floating_point():
        return value.double()
    return value.float() if value.itemsize < 4 else value


def square(name: str, matrix: Tensor) -> None:
    """Shape (C, C)."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(
            f"`{name}` must be square, one row and one column per class, "
            f"but got shape {tuple(matrix.shape)}."
        )


def one_number_a_class(name: str, tensor: Tensor) -> None:
    """Shape (C)."""
    if tensor.ndim != 1 or tensor.numel() == 0:
        raise ValueError(
            f"`{name}` must have shape (C), one number per class, "
            f"but got shape {tuple(tensor.shape)}."
        )


def finite(name: str, tensor: Tensor) -> None:
    """No NaN, no infinity."""
    _refuse_where(~tensor.isfinite(), name, "be finite", tensor)


def not_negative(name: str, tensor: Tensor) -> None:
    """Finite and at least 0."""
    finite(name, tensor)
    _refuse_where(tensor < 0, name, "be at least 0", tensor)


def _refuse_where(broken: Tensor, name: str, rule: str, tensor: Tensor) -> None:
    if bool(broken.any()):
        at = tuple(int(i) for i in broken.nonzero()[0])
        where = f"row {at[0]}, column {at[1]}" if len(at) == 2 else f"position {at[0]}"
        raise ValueError(f"`{name}` must {rule}, but got {tensor[at].item():.6g} in {where}.")


def vectors(value: Any) -> Tensor:
    """One finite, non-zero vector per class, (C, D)."""
    tensor = float_tensor("vectors", value)
    if tensor.ndim != 2 or 0 in tensor.shape:
        raise ValueError(
            f"`vectors` must have shape (C, D), one vector per class, "
            f"but got shape {tuple(tensor.shape)}."
        )
    if values_can_be_read(tensor):
        infinite = ~tensor.isfinite().all(1)
        if bool(infinite.any()):
            at = int(infinite.nonzero()[0])
            raise ValueError(f"`vectors` must be finite, but the vector of class {at} is not.")
        zero = (tensor == 0).all(1)
        if bool(zero.any()):
            at = int(zero.nonzero()[0])
            raise ValueError(
                f"`vectors` must not hold a zero vector, which has no direction, "
                f"but the vector of class {at} is zero."
            )
    return tensor


def is_tensor(name: str, value: Any) -> None:
    """A tensor: an array or a list is not made into one in every step of a training loop."""
    if not isinstance(value, Tensor):
        remedy = "" if np.isscalar(value) or value is None else f"; pass `torch.as_tensor({name})`"
        raise TypeError(f"`{name}` must be a tensor, but got {type(value).__name__}{remedy}.")


def index_tensor(name: str, value: Any) -> Tensor:
    """A tensor that should hold class indices; their values are not checked yet."""
    if isinstance(value, Tensor):
        return value
    try:
        return torch.as_tensor(writable(value))
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(
            f"`{name}` must be class indices, but got {type(value).__name__}."
        ) from None


def class_indices(name: str, value: Any, num_classes: int | None = None) -> Tensor:
    """At least one whole number from 0 to C - 1, any shape, as int64."""
    value = index_tensor(name, value)
    if value.numel() == 0:
        raise ValueError(f"`{name}` must hold at least one class index, but it is empty.")
    if value.is_floating_point() or value.is_complex() or value.dtype == torch.bool:
        raise TypeError(
            f"`{name}` must be class indices, whole numbers, but got {_kind(value)}; "
            f"for probabilities, use `simloss.decide`."
        )
    value = value.detach().long()
    if values_can_be_read(value):
        low, high = int(value.min()), int(value.max())
        if low < 0:
            raise ValueError(
                f"`{name}` must be class indices from 0 on, but got {low}; "
                f"leave such examples out first (simloss.decide returns -1 for unsure)."
            )
        if num_classes is not None and high >= num_classes:
            raise ValueError(f"`{name}` must be in [0, {num_classes}), but got {high}.")
    return value


def class_counts_agree(name: str, count: int, other: str, wanted: int) -> None:
    """Two arguments have the same classes."""
    if count != wanted:
        raise ValueError(
            f"`{name}` must have as many classes as `{other}`, but it has {count} "
            f"and `{other}` {wanted}."
        )


def same_shape(name: str, shape: Sequence[int], other: str, wanted: Sequence[int]) -> None:
    """One entry per example in both."""
    if tuple(shape) != tuple(wanted):
        raise ValueError(
            f"`{name}` must have shape {tuple(wanted)} to match `{other}`, but got {tuple(shape)}."
        )


def writable(value: Any) -> Any:
    """An array or table that torch can read without a warning; other objects unchanged."""
    if isinstance(value, Tensor) or not hasattr(value, "__array__"):
        return value
    return np.require(value, requirements=["C", "W"])


def _kind(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
