"""Checks of user input that several modules share, and the wording of their errors.

One template: the name, the rule, what came, and the remedy if it is known.
Checks of *values* run only if they are free: on the CPU, outside
``torch.compile`` and ``torch.func``. They never make a device wait.
"""

import difflib
import operator
from collections.abc import Iterable, Sequence, Sized
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

REDUCTIONS = ("none", "mean", "sum")

# A diagonal or a row sum may be off by rounding, but no more.
ROUNDING = 1e-5


def values_can_be_read(tensor: Tensor) -> bool:
    """Whether reading the values of `tensor` is free: no device sync, no trace, no transform."""
    return (
        type(tensor) in (Tensor, torch.nn.Parameter)
        and tensor.device.type == "cpu"
        and not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
    )


def fraction(name: str, value: float) -> float:
    """A number in [0, 1): `r`, `lower_bound`."""
    value = real(name, value)
    if not 0.0 <= value < 1.0:
        raise ValueError(f"`{name}` must be in [0, 1), but got {value}.")
    return value


def share(name: str, value: float) -> float:
    """A number in [0, 1]: `label_smoothing`, `cross_entropy_share`."""
    value = real(name, value)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"`{name}` must be in [0, 1], but got {value}.")
    return value


def positive(name: str, value: float) -> float:
    """A finite number above 0: `temperature`, `scale`."""
    value = real(name, value)
    if not 0.0 < value < float("inf"):
        raise ValueError(f"`{name}` must be a finite number above 0, but got {value}.")
    return value


def at_least_zero(name: str, value: float) -> float:
    """A finite number of at least 0: `smoothing`."""
    value = real(name, value)
    if not 0.0 <= value < float("inf"):
        raise ValueError(f"`{name}` must be a finite number of at least 0, but got {value}.")
    return value


def real(name: str, value: Any) -> float:
    """A plain number, or one in a 0-d array or tensor."""
    if isinstance(value, (bool, str)):
        raise TypeError(f"`{name}` must be a number, but got {value!r}.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"`{name}` must be below 1.8e308, but got a larger number.") from None
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` must be a number, but got {value!r}.") from None


def threshold(name: str, value: Any) -> float:
    """A number to compare with; infinity is allowed, NaN is not."""
    value = real(name, value)
    if value != value:
        raise ValueError(f"`{name}` must be a number to compare with, but got NaN.")
    return value


def class_count(name: str, value: int) -> int:
    """A number of classes."""
    if isinstance(value, bool) or not isinstance(value, int):
        try:
            whole = int(value) if not isinstance(value, (bool, np.bool_, str)) else None
        except (TypeError, ValueError, OverflowError):
            whole = None
        if whole is None or whole != value:
            raise TypeError(f"`{name}` must be a whole number, but got {value!r}.")
        value = whole
    if value < 1:
        raise ValueError(f"`{name}` must be at least 1, but got {value}.")
    return value


def seed(name: str, value: int) -> int:
    """A whole number that torch's generators accept, with room to add to it."""
    if not -(2**62) < value < 2**62:
        raise ValueError(f"`{name}` must be below 2^62 in size, but got {value}.")
    return value


def choice(name: str, value: str, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        remedy = nearest_spelling(str(value), allowed)
        raise ValueError(f"`{name}` must be one of {words}, but got {value!r}{remedy}.")
    return value


def in_existing_folder(name: str, path: Path, *sources: str | Path) -> None:
    """A file to write, in a folder that exists, which does not overwrite one of `sources`."""
    if not path.parent.is_dir():
        raise ValueError(
            f"`{name}` must be in an existing folder, but '{path.parent}' does not exist."
        )
    if path.resolve() in [Path(source).resolve() for source in sources]:
        raise ValueError(f"`{name}` must not overwrite '{path}', which is read.")


def in_class_order(name: str, values: Any) -> None:
    """A list, or anything that yields its items in order."""
    if isinstance(values, str):
        raise TypeError(f"`{name}` must be a list, but got {values!r}.")
    if isinstance(values, (set, frozenset)):
        raise TypeError(
            f"`{name}` must be in class order, but got a set, which has no order; pass a list."
        )
    if hasattr(values, "columns"):  # of pandas or polars
        raise TypeError(
            f"`{name}` must be a list, but got a table, which yields its headings; "
            f"pass one column, or its rows, `table.to_numpy()`."
        )


def is_missing(value: Any) -> bool:
    """None, or the value of an empty cell in a table: NaN differs from itself, NA does not even."""
    return value is None or type(value).__name__ == "NAType" or value != value


def not_missing(name: str, values: Iterable[Any]) -> None:
    """No empty cell instead of a name: its class would be called "nan" or "None"."""
    for place, value in enumerate(values):
        if is_missing(value):
            raise ValueError(f"`{name}` must have no gaps, but got {value!r} in position {place}.")


def class_names(names: Sequence[str] | None, num_classes: int) -> tuple[str, ...] | None:
    """One distinct name per class, or None."""
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(f"`names` must be a list of {num_classes} names, but got {names!r}.")
    in_class_order("names", names)
    names = tuple(names)
    not_missing("names", names)
    names = tuple(str(name) for name in names)
    if len(names) != num_classes:
        raise ValueError(
            f"`names` must have one name for each of the {num_classes} classes, "
            f"but got {len(names)} names."
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"`names` must be distinct, but {name!r} is listed twice.")
        seen.add(name)
    return names


def index(name: str, value: Any, count: int) -> int:
    """A whole number in [0, count): a class, a node, a level."""
    is_bool = isinstance(value, (bool, np.bool_)) or getattr(value, "dtype", None) == torch.bool
    try:
        if is_bool:
            raise TypeError
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"`{name}` must be a whole number, but got {value!r}.") from None
    if not 0 <= whole < count:
        raise ValueError(f"`{name}` must be in [0, {count}), but got {whole}.")
    return whole


def not_empty(name: str, values: Sized) -> None:
    """At least one."""
    if len(values) == 0:
        raise ValueError(f"`{name}` must not be empty.")


def distinct(name: str, values: Sequence[Any]) -> None:
    """No duplicates, and at least one."""
    not_empty(name, values)
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"`{name}` must be distinct, but {value!r} is listed twice.")
        seen.add(value)


def nearest_spelling(name: str, known: Iterable[str]) -> str:
    """A remedy for an unknown name: " (did you mean 'robin'?)", or an empty text."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def permutation(name: str, order: Sequence[str], known: Sequence[str], what: str) -> list[int]:
    """The index in `known` of each of `order`, which must list each of `known` once."""
    if isinstance(order, str):
        raise TypeError(f"`{name}` must be a list of names, but got {order!r}.")
    in_class_order(name, order)
    order = [str(each) for each in order]
    distinct(name, order)
    place = {each: i for i, each in enumerate(known)}
    for each in order:
        if each not in place:
            remedy = nearest_spelling(each, known)
            raise ValueError(f"`{name}` must name the {what}, but {each!r} is not one{remedy}.")
    missing = sorted(set(known) - set(order))
    if missing:
        raise ValueError(
            f"`{name}` must name all {len(known)} {what}, but {missing[0]!r} is missing."
        )
    return [place[each] for each in order]


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


def similarity_values(matrix: Tensor, kind: str) -> None:
    """Entries in [0, 1]; diagonal 1 for a similarity, rows that sum to 1 for probabilities."""
    if not values_can_be_read(matrix):
        return
    matrix = matrix.detach()
    for broken, what in (
        (matrix.isnan(), "not be NaN"),
        (matrix < 0, "be at least 0"),
        (matrix > 1 + ROUNDING, "be at most 1"),
    ):
        if bool(broken.any()):
            row, column = (int(i) for i in broken.nonzero()[0])
            raise ValueError(
                f"`similarity` must {what}, but got {matrix[row, column].item():.6g} "
                f"in row {row}, column {column}."
            )
    if kind == "similarity":
        diagonal = matrix.diagonal()
        wrong = (diagonal - 1).abs() > ROUNDING
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0])
            raise ValueError(
                f"`similarity` must have 1 on its diagonal, but got {diagonal[at].item():.6g} "
                f"at class {at}; if its rows are probabilities, pass kind='probability'."
            )
    else:
        sums = matrix.sum(1)
        wrong = (sums - 1).abs() > ROUNDING * matrix.shape[0] ** 0.5
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0])
            raise ValueError(
                f"`similarity` of kind 'probability' must have rows that sum to 1, "
                f"but row {at} sums to {sums[at].item():.6g}; "
                f"`similarity.normalized()` divides each row by its sum."
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


def cost_values(matrix: Tensor) -> None:
    """Entries of at least 0, infinity allowed; diagonal 0."""
    if not values_can_be_read(matrix):
        return
    _refuse_where(matrix.isnan(), "cost", "not be NaN", matrix)
    _refuse_where(matrix < 0, "cost", "be at least 0", matrix)
    _refuse_where(matrix.diag().diag() != 0, "cost", "be 0 on its diagonal", matrix)


def is_data_frame(value: Any) -> bool:
    """A table with headings and an index, of pandas or similar."""
    return all(hasattr(value, name) for name in ("index", "columns", "to_numpy"))


def row_labels(table: Any) -> list[str] | None:
    """The class names in the index of a pandas table; None if it only numbers the rows."""
    labels = table.index.tolist() if is_data_frame(table) else None
    return None if labels is None or _only_count(labels) else [str(each) for each in labels]


def labels_of_both_sides(name: str, table: Any) -> list[str] | None:
    """The class names of a square pandas table, the same on its rows and its columns.

    If only one side has labels, words are used; numbers might mean other classes.
    """
    if not is_data_frame(table):
        return None
    rows, columns = table.index.tolist(), table.columns.tolist()
    for labels, others in ((rows, columns), (columns, rows)):
        if _only_count(labels) and all(isinstance(each, str) for each in others):
            rows = columns = others
    for place, (row, column) in enumerate(zip(rows, columns, strict=True)):
        if row != column:
            remedy = (
                "; `table.loc[table.columns]` puts the rows into the order of the columns"
                if sorted(map(str, rows)) == sorted(map(str, columns))
                else ""
            )
            raise ValueError(
                f"`{name}` must have the same labels on its rows and its columns, in the same "
                f"order, but row {place} is {row!r} and column {place} is {column!r}{remedy}."
            )
    return None if _only_count(rows) else [str(each) for each in rows]


def _only_count(labels: list[Any]) -> bool:
    return labels == list(range(len(labels)))


def not_a_similarity(name: str, matrix: Tensor) -> None:
    """Refuse a similarity as costs, (..., C, C): its cheapest answer would be the worst."""
    is_similarity = (
        matrix.shape[-1] > 1  # a single class is always answered
        and bool(((matrix.diagonal(dim1=-2, dim2=-1) - 1).abs() <= ROUNDING).all())
        and bool(((matrix >= 0) & (matrix <= 1 + ROUNDING)).all())
    )
    if is_similarity:
        raise ValueError(
            f"`{name}` must be a cost, lowest for the right answer, but with 1 on its "
            f"diagonal it looks like a similarity; pass simloss.similarity.matrix(S), or 1 - S "
            f"for its cost."
        )


def of_kind_similarity(name: str, kind: str) -> None:
    """Diagonal 1, not rows that sum to 1."""
    if kind != "similarity":
        raise ValueError(f"`{name}` must be of kind 'similarity', but got kind {kind!r}.")


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
    if not bool((tensor >= 0).all()):
        came = "NaN" if bool(tensor.isnan().any()) else f"{tensor.min().item():.6g}"
        raise ValueError(
            f"`probabilities` must be at least 0, but got {came}; "
            f"for logits, pass `logits.softmax(-1)`."
        )
    # Half precision leaves a softmax of many classes this far from 1.
    is_half = hasattr(value, "dtype") and value.dtype.itemsize < 4
    allowed = 2e-2 if is_half else 1e-3
    sums = tensor.sum(-1, dtype=torch.float64).flatten()  # (M)
    furthest = sums[(sums - 1).abs().argmax()].item()
    if not abs(furthest - 1) <= allowed:
        raise ValueError(
            f"`probabilities` must sum to 1 over the last dimension of shape "
            f"{tuple(tensor.shape)}, but got a sum of {furthest:.6g}; for logits, pass "
            f"`logits.softmax(-1)`; if the classes are dimension 1, `movedim(1, -1)`."
        )
    return tensor


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


_MOST_RUNS = 100_000


def run_count(name: str, value: int) -> int:
    """A number of runs, of which each takes a while."""
    value = class_count(name, value)
    if value > _MOST_RUNS:
        raise ValueError(f"`{name}` must be at most {_MOST_RUNS:,}, but got {value:,}.")
    return value


def class_counts_agree(name: str, count: int, other: str, wanted: int) -> None:
    """Two arguments have the same classes."""
    if count != wanted:
        raise ValueError(
            f"`{name}` must have as many classes as `{other}`, but it has {count} "
            f"and `{other}` {wanted}."
        )


def rank(name: str, value: int, num_classes: int) -> int:
    """A number of classes to list, from 1 to all of them."""
    value = class_count(name, value)
    if value > num_classes:
        raise ValueError(
            f"`{name}` must be at most the number of classes, {num_classes}, but got {value}."
        )
    return value


def same_shape(name: str, shape: Sequence[int], other: str, wanted: Sequence[int]) -> None:
    """One entry per example in both."""
    if tuple(shape) != tuple(wanted):
        raise ValueError(
            f"`{name}` must have shape {tuple(wanted)} to match `{other}`, but got {tuple(shape)}."
        )


def installed(module: str, extra: str) -> Any:
    """The module of an optional dependency, or an error that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or module).split(".")[0] != module.split(".")[0]:
            raise  # it is installed, but one of its own dependencies is missing
        package = {"sklearn": "scikit-learn"}.get(module.split(".")[0], module.split(".")[0])
        raise ModuleNotFoundError(
            f"This needs {package}, which is not installed; `pip install 'simloss[{extra}]'` "
            f"installs it.",
            name=error.name,
        ) from None


def writable(value: Any) -> Any:
    """An array or table that torch can read without a warning; other objects unchanged."""
    if isinstance(value, Tensor) or not hasattr(value, "__array__"):
        return value
    return np.require(value, requirements=["C", "W"])


def _kind(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
