"""What a loss or a decision is called with: logits, targets, weights, probabilities."""

import math
from typing import Any

import torch
from torch import Tensor

from .tensors import _kind, float_tensor, is_tensor, values_can_be_read

REDUCTIONS = ("none", "mean", "sum")


def logits(input: Tensor) -> int:
    """Floating-point logits of shape (C), (N, C) or (N, C, d1, ..., dK); returns C."""
    is_tensor("input", input)
    if not input.is_floating_point():
        raise TypeError(
            f"`input` must be floating-point logits, but got {_kind(input)}; "
            f"a call takes `input` first and `target` second."
        )
    if input.ndim == 0:
        raise ValueError(
            "`input` must have shape (C), (N, C) or (N, C, d1, ...), but got a scalar."
        )
    return input.shape[0] if input.ndim == 1 else input.shape[1]


def same_class_count(similarity_classes: int, input: Tensor, num_classes: int) -> None:
    """The similarity and the logits have the same classes."""
    if similarity_classes != num_classes:
        raise ValueError(
            f"`similarity` must have as many classes as `input`, but it has {similarity_classes} "
            f"and `input` of shape {tuple(input.shape)} has {num_classes}."
        )


def target_is_index(input: Tensor, target: Tensor) -> bool:
    """True for class indices, False for class probabilities; shapes checked for either."""
    is_tensor("target", target)
    batch_shape = input.shape[:1] + input.shape[2:] if input.ndim > 1 else input.shape[:0]
    if target.is_floating_point():
        if target.shape != input.shape:
            raise ValueError(
                f"`target` of class probabilities must have the shape of `input`, "
                f"{tuple(input.shape)}, but got {tuple(target.shape)}"
                + (
                    "; class indices must be integers: `target.long()`."
                    if target.shape == batch_shape
                    else "."
                )
            )
        return False
    if target.dtype == torch.bool or target.is_complex():
        raise TypeError(
            f"`target` must be class indices (integers) or class probabilities (floats), "
            f"but got {_kind(target)}."
        )
    if target.shape != batch_shape:
        raise ValueError(
            f"`target` of class indices must have shape {tuple(batch_shape)} "
            f"for `input` of shape {tuple(input.shape)}, but got {tuple(target.shape)}."
        )
    return True


def target_range(target: Tensor, num_classes: int, ignore_index: int) -> bool:
    """Indices in [0, C), or `ignore_index`; returns whether none is known to be the latter."""
    if not values_can_be_read(target) or target.numel() == 0:
        return False
    target = target.detach()
    low, high = (int(end) for end in target.aminmax())  # the quick check
    if low >= 0 and high < num_classes:
        return not low <= ignore_index <= high
    wrong = ((target < 0) | (target >= num_classes)) & (target != ignore_index)
    if bool(wrong.any()):
        at = tuple(int(i) for i in wrong.nonzero()[0])
        where = f" at position {at[0] if len(at) == 1 else at}" if at else ""
        counts_from_one = low == 1 and high == num_classes
        raise ValueError(
            f"`target` must be in [0, {num_classes}) or equal to ignore_index={ignore_index}, "
            f"but got {int(target[at])}{where}"
            + ("; if labels count from 1, pass `target - 1`." if counts_from_one else ".")
        )
    return False


def no_ignored_class(ignore_index: int) -> None:
    """No class to ignore if the target is class probabilities."""
    if ignore_index >= 0:
        raise ValueError(
            f"`ignore_index` must be negative with class probabilities as `target`, "
            f"as in torch, but got {ignore_index}; give such examples probabilities 0 instead."
        )


def linear_shapes(
    input: Tensor, linear_weight: Tensor, linear_bias: Tensor | None, num_classes: int
) -> None:
    """Features (*, D), a last layer's weight (C, D) and its bias (C)."""
    for name, value in (("input", input), ("linear_weight", linear_weight)):
        if not isinstance(value, Tensor) or not value.is_floating_point():
            came = _kind(value) if isinstance(value, Tensor) else type(value).__name__
            raise TypeError(f"`{name}` must be a floating-point tensor, but got {came}.")
    if linear_weight.ndim != 2 or linear_weight.shape[0] != num_classes:
        raise ValueError(
            f"`linear_weight` must have shape (C, D) with the {num_classes} classes of "
            f"`similarity`, but got {tuple(linear_weight.shape)}."
        )
    if input.ndim == 0 or input.shape[-1] != linear_weight.shape[1]:
        raise ValueError(
            f"`input` must have the {linear_weight.shape[1]} features of `linear_weight` as its "
            f"last dimension, but got shape {tuple(input.shape)}."
        )
    if linear_bias is not None and linear_bias.shape != (num_classes,):
        raise ValueError(
            f"`linear_bias` must have shape ({num_classes},), one number per class, "
            f"but got {tuple(linear_bias.shape)}."
        )


def linear_target(input: Tensor, target: Tensor, num_classes: int) -> None:
    """For features (*, D): class indices (*), or class probabilities (*, C)."""
    is_tensor("target", target)
    if target.dtype == torch.bool or target.is_complex():
        raise TypeError(
            f"`target` must be class indices (integers) or class probabilities (floats), "
            f"but got {_kind(target)}."
        )
    batch = tuple(input.shape[:-1])
    kind, wanted = "indices", batch
    if target.is_floating_point():
        kind, wanted = "probabilities", (*batch, num_classes)
    if tuple(target.shape) != wanted:
        raise ValueError(
            f"`target` of class {kind} must have shape {wanted} "
            f"for `input` of shape {tuple(input.shape)}, but got {tuple(target.shape)}."
        )


def example_weight(weight: Any, input: Tensor) -> Tensor:
    """One weight per example, for features (*, D): (*)."""
    if not isinstance(weight, Tensor) or not weight.is_floating_point():
        came = _kind(weight) if isinstance(weight, Tensor) else type(weight).__name__
        raise TypeError(f"`example_weight` must be a floating-point tensor, but got {came}.")
    if weight.shape != input.shape[:-1]:
        raise ValueError(
            f"`example_weight` must have shape {tuple(input.shape[:-1])}, one number per example, "
            f"but got {tuple(weight.shape)}."
        )
    return weight


def class_weight(weight: Any, num_classes: int) -> Tensor:
    """One weight per class, (C)."""
    if not isinstance(weight, Tensor):
        weight = float_tensor("weight", weight).to(torch.get_default_dtype())
    if weight.shape != (num_classes,):
        raise ValueError(
            f"`weight` must have one number for each of the {num_classes} classes, "
            f"but got shape {tuple(weight.shape)}."
        )
    if not weight.is_floating_point():
        raise TypeError(f"`weight` must be floating point, but got {_kind(weight)}.")
    return weight


def probabilities(value: Any) -> Tensor:
    """Class probabilities in the last dimension, (..., C): at least 0, with sum 1."""
    tensor = float_tensor("probabilities", value).detach()
    if tensor.ndim == 0 or 0 in tensor.shape:
        raise ValueError(
            f"`probabilities` must have shape (..., C), classes last, and at least one example, "
            f"but got shape {tuple(tensor.shape)}."
        )
    if not values_can_be_read(tensor):
        return tensor
    lowest = tensor.min().item()
    if not lowest >= 0:
        came = "NaN" if math.isnan(lowest) else f"{lowest:.6g}"
        raise ValueError(
            f"`probabilities` must be at least 0, but got {came}; "
            f"for logits, pass `logits.softmax(-1)`."
        )
    # Half precision leaves a softmax of many classes this far from 1.
    is_half = hasattr(value, "dtype") and value.dtype.itemsize < 4
    allowed = 2e-2 if is_half else 1e-3
    sums = tensor.sum(-1).flatten()  # (M); in float64 it would take ten times as long
    furthest = sums[(sums - 1).abs().argmax()].item()
    if not abs(furthest - 1) <= allowed:
        raise ValueError(
            f"`probabilities` must sum to 1 over the last dimension of shape "
            f"{tuple(tensor.shape)}, but got a sum of {furthest:.6g}; for logits, pass "
            f"`logits.softmax(-1)`; if the classes are dimension 1, `movedim(1, -1)`."
        )
    return tensor
