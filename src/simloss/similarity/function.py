"""Classes that are any objects, with a function for the similarity of two of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .matrix import DenseSimilarity
from .sparse import chunks, from_rows


def function(
    classes: Sequence[Any],
    sim: Callable[[Any, Any], Any],
    lower_bound: float = 0.0,
    *,
    top_k: int | None = None,
    sparse: bool = False,
    names: Sequence[str] | None = None,
) -> Similarity:
    r"""Similarity from any function of two classes.

    .. math:: S_{ij} = \frac{\max(0, \mathrm{sim}(c_i, c_j) - l)}{1 - l}

    Equation 3 of the paper. `sim` is called for every ordered pair, so it may be asymmetric.
    If the classes are numbers (or rows of an array) and `sim` gives the same results on arrays,
    it is called on blocks of them, and is then as fast as numpy.

    Args:
        classes: one object per class.
        sim: a function of the true class and the answer, in [0, 1]; 1 for a class with itself.
        lower_bound: l in [0, 1); similarities below it become 0.
        top_k: keep only this many other classes per row, as sparse rows.
        sparse: keep the entries above 0 as sparse rows; C x C is never held.
        names: one name per class; by default the classes themselves if they are strings.

    Example:
        >>> def overlap(a, b):
        ...     return len(set(a) & set(b)) / len(set(a) | set(b))
        >>> function(["rose", "prose", "truck"], overlap).to_dense()
        tensor([[1.0000, 0.8000, 0.1250],
                [0.8000, 1.0000, 0.1111],
                [0.1250, 0.1111, 1.0000]], dtype=torch.float64)
        >>> function(range(4), lambda a, b: 0.5 ** abs(a - b), top_k=1)
        sparse(4 classes, 8 entries)
    """
    lower_bound = _checks.fraction("lower_bound", lower_bound)
    if not callable(sim):
        raise TypeError(f"`sim` must be a function of two classes, but got {type(sim).__name__}.")
    if hasattr(classes, "columns"):  # of pandas or polars: iterating would give its headings
        raise TypeError(
            "`classes` must be one object per class, but got a table; pass its rows, "
            "`table.to_numpy()`, and their names as `names`."
        )
    _checks.in_class_order("classes", classes)
    objects = classes if isinstance(classes, np.ndarray) else list(classes)
    _checks.not_empty("classes", objects)
    count = len(objects)
    if names is None and all(isinstance(each, str) for each in objects):
        names = [str(each) for each in objects]
    names = _checks.class_names(names, count)
    rows = _rows(objects, sim, lower_bound)
    if top_k is not None or sparse:
        top_k = None if top_k is None else _checks.class_count("top_k", top_k)
        narrow = ((some, part.float()) for some, part in rows)
        return from_rows(narrow, count, top_k, names)
    matrix = torch.cat([part for _, part in rows])
    return DenseSimilarity(count, {"matrix": matrix}, names=names)


def _rows(
    objects: Any, sim: Callable[[Any, Any], Any], lower_bound: float
) -> Iterator[tuple[Tensor, Tensor]]:
    """Classes and their rows, (M) and (M, C), block by block."""
    count = len(objects)
    array = _as_array(objects)
    block = array is not None and _works_on_arrays(sim, array)
    for some in chunks(count):
        if block:
            assert array is not None
            part = np.asarray(sim(array[some.numpy(), None], array[None]), dtype=np.float64)
        else:
            part = np.array(
                [[_checks.real("sim(a, b)", sim(objects[i], b)) for b in objects] for i in some],
                dtype=np.float64,
            )
        values = torch.from_numpy(part)
        _refuse_bad_values(values, some, objects)
        own = torch.arange(len(some)), some
        if lower_bound:
            values = (values - lower_bound).clamp(min=0) / (1 - lower_bound)
        values[own] = 1.0  # it was 1 up to rounding
        yield some, values


def _as_array(objects: Any) -> "np.ndarray[Any, Any] | None":
    """The classes as one array of numbers, or None if they are not numbers."""
    try:
        array = np.asarray(objects)
    except ValueError:  # of different lengths
        return None
    return array if array.dtype.kind in "iufM" else None


def _works_on_arrays(sim: Callable[[Any, Any], Any], array: "np.ndarray[Any, Any]") -> bool:
    """Whether a block of `sim` has the right shape and holds what single calls return."""
    few = array[: min(4, len(array))]
    try:
        block = np.asarray(sim(few[:, None], few[None]), dtype=np.float64)
    except Exception:
        return False  # `sim` does not take arrays: call it on each pair, so that errors are visible
    if block.shape != (len(few), len(few)):
        return False
    single = np.array([[float(sim(a, b)) for b in few] for a in few])
    return bool(np.allclose(block, single, rtol=1e-9, atol=1e-12, equal_nan=True))


def _refuse_bad_values(values: Tensor, some: Tensor, objects: Any) -> None:
    low, high = values.aminmax()
    self_similarity = values[torch.arange(len(some)), some]
    if low >= 0 and high <= 1 and bool(((self_similarity - 1).abs() < _checks.ROUNDING).all()):
        return  # the quick check: all is well
    own = torch.zeros_like(values, dtype=torch.bool)
    own[torch.arange(len(some)), some] = True
    for broken, rule in (
        (values.isnan(), "not be NaN"),
        (values < 0, "be at least 0 (clip it: max(0, ...))"),
        (values > 1 + _checks.ROUNDING, "be at most 1"),
        (own & ((values - 1).abs() > _checks.ROUNDING), "be 1 for a class with itself"),
    ):
        if bool(broken.any()):
            row, column = (int(i) for i in broken.nonzero()[0])
            a, b = objects[int(some[row])], objects[column]
            raise ValueError(
                f"`sim` must {rule}, but got {values[row, column].item():.6g} for {a!r} and {b!r}."
            )
    values.clamp_(max=1)
