"""New similarities from old: bounded, sharpened, blended, multiplied, restricted, symmetrized.

Sparse rows stay sparse; everything else becomes a stored matrix.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .matrix import DenseSimilarity, as_similarity
from .sparse import SparseSimilarity, from_rows

# A stored matrix of this many classes takes 2 GB in float64.
_STORED_UP_TO = 16_384
_ROWS_AT_ONCE = 256


def bounded(similarity: Any, lower_bound: float) -> Similarity:
    r"""Similarities below l become 0: equation 3 of the paper.

    .. math:: \frac{\max(0, S_{ij} - l)}{1 - l}

    Example:
        >>> from simloss.similarity import order
        >>> bounded(order(3, r=0.5), 0.2).rows([0])
        tensor([[1.0000, 0.3750, 0.0625]])
    """
    bound = _checks.fraction("lower_bound", lower_bound)
    return _each(similarity, lambda part: (part - bound).clamp(min=0) / (1 - bound))


def sharpened(similarity: Any, power: float) -> Similarity:
    r"""Every entry raised to a power: above 1 makes classes less alike, below 1 more alike.

    .. math:: S_{ij}^{\,\mathrm{power}}

    It divides the temperature: exp(-cost / t) becomes exp(-cost power / t).

    Example:
        >>> from simloss.similarity import order
        >>> sharpened(order(3, r=0.5), 2).rows([0])
        tensor([[1.0000, 0.2500, 0.0625]])
    """
    power = _checks.positive("power", power)
    return _each(similarity, lambda part: part.pow(power))


def blended(similarities: Sequence[Any], weights: Sequence[float] | None = None) -> Similarity:
    r"""A weighted mean of similarities over the same classes.

    .. math:: \sum_k w_k S^{(k)}_{ij}, \qquad w_k \ge 0, \; \sum_k w_k = 1

    Args:
        similarities: at least one.
        weights: one number per similarity, at least 0, divided by their sum; by default equal.

    Example:
        >>> from simloss.similarity import identity, order
        >>> blended([order(3, r=0.5), identity(3)], [3, 1]).rows([0])
        tensor([[1.0000, 0.3750, 0.1875]])
    """
    parts = _same_classes(similarities)
    share = _weights(weights, len(parts))
    return _combined(
        parts, lambda rows: sum((w * r for w, r in zip(share, rows, strict=True)), rows[0] * 0)
    )


def multiplied(similarities: Sequence[Any]) -> Similarity:
    r"""The product of similarities over the same classes: alike only if alike in every way.

    .. math:: \prod_k S^{(k)}_{ij}

    The costs -log S add up. For classes made of attributes see :func:`grid`.

    Example:
        >>> from simloss.similarity import order
        >>> multiplied([order(3, r=0.5), order(3, r=0.8)]).rows([0])
        tensor([[1.0000, 0.4000, 0.1600]])
    """
    return _combined(_same_classes(similarities), lambda rows: torch.stack(rows).prod(0))


def symmetrized(similarity: Any, how: str = "mean") -> Similarity:
    r"""Made symmetric: the mean, the geometric mean, the maximum or the minimum of S and S^T.

    .. math:: \tfrac12 (S_{ij} + S_{ji})

    Args:
        similarity: any similarity.
        how: "mean", "geometric" (the mean of the costs), "max" or "min".

    Example:
        >>> symmetrized([[1, 0.8], [0.2, 1]]).to_dense()
        tensor([[1.0000, 0.5000],
                [0.5000, 1.0000]], dtype=torch.float64)
    """
    mean = _checks.choice("how", how, tuple(_MEANS))
    whole = _of_similarity(similarity)
    parts = ((some, whole.rows(some), whole.columns(some)) for some in whole._chunks())
    rows = ((some, _MEANS[mean](row, column)) for some, row, column in parts)
    return _gathered(
        rows, whole.num_classes, whole.names, sparse=isinstance(whole, SparseSimilarity)
    )


_MEANS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mean": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: a.sqrt() * b.sqrt(),
    "max": torch.maximum,
    "min": torch.minimum,
}


def restricted(similarity: Any, classes: Sequence[int] | Sequence[str]) -> Similarity:
    """Some or all of the classes, in the given order.

    Args:
        similarity: any similarity.
        classes: indices, or names if the similarity has names.

    Example:
        >>> from simloss.similarity import order
        >>> S = restricted(order(5, r=0.5, names=list("abcde")), ["e", "a", "b"])
        >>> S.names
        ('e', 'a', 'b')
        >>> S.rows([0])
        tensor([[1.0000, 0.0625, 0.1250]])
    """
    whole = _of_similarity(similarity)
    kept = _places(whole, classes)
    names = None if whole.names is None else tuple(whole.names[i] for i in kept.tolist())
    places = torch.arange(len(kept)).split(_ROWS_AT_ONCE)
    rows = ((some, whole.rows(kept[some])[:, kept]) for some in places)
    result = _gathered(rows, len(kept), names, sparse=isinstance(whole, SparseSimilarity))
    result.kept = tuple(kept.tolist())
    return result


def _of_similarity(similarity: Any) -> Similarity:
    whole = as_similarity(similarity)
    _checks.of_kind_similarity("similarity", whole.kind)
    return whole


def _each(similarity: Any, change: Callable[[Tensor], Tensor]) -> Similarity:
    """The same zeros, with each other entry changed on its own."""
    whole = _of_similarity(similarity)
    return _combined([whole], lambda rows: change(rows[0]))


def _same_classes(similarities: Sequence[Any]) -> list[Similarity]:
    if isinstance(similarities, Similarity):
        raise TypeError("`similarities` must be a list of similarities, but got a single one.")
    parts = [_of_similarity(each) for each in similarities]
    if not parts:
        raise ValueError("`similarities` must be at least one, but got none.")
    first = parts[0]
    for part in parts[1:]:
        if part.num_classes != first.num_classes:
            raise ValueError(
                f"`similarities` must be over the same classes, but one has {first.num_classes} "
                f"classes and another {part.num_classes}."
            )
        if part.names and first.names and part.names != first.names:
            a, b = next((a, b) for a, b in zip(first.names, part.names, strict=True) if a != b)
            raise ValueError(
                f"`similarities` must be over the same classes in the same order, "
                f"but one has {a!r} where another has {b!r}."
            )
    return parts


def _weights(weights: Sequence[float] | None, count: int) -> list[float]:
    if weights is None:
        return [1 / count] * count
    values = [_checks.at_least_zero("weights", weight) for weight in weights]
    if len(values) != count or sum(values) == 0:
        raise ValueError(
            f"`weights` must be {count} numbers, one per similarity, not all 0, but got {values}."
        )
    return [value / sum(values) for value in values]


def _combined(parts: list[Similarity], of_rows: Callable[[list[Tensor]], Tensor]) -> Similarity:
    """A similarity computed from the rows of others; sparse if one of them is."""
    named = next((part for part in parts if part.names is not None), parts[0])
    rows = ((some, of_rows([part.rows(some) for part in parts])) for some in named._chunks())
    sparse = any(isinstance(part, SparseSimilarity) for part in parts)
    return _gathered(rows, named.num_classes, named.names, sparse=sparse)


def _gathered(
    rows: Iterable[tuple[Tensor, Tensor]],
    num_classes: int,
    names: tuple[str, ...] | None,
    *,
    sparse: bool,
) -> Similarity:
    rows = ((some, _with_ones(part, some)) for some, part in rows)
    if sparse:
        return from_rows(rows, num_classes, None, names)
    if num_classes > _STORED_UP_TO:
        raise ValueError(
            f"`similarity` of {num_classes:,} classes must be sparse to be combined, because "
            f"it does not fit in memory; pass sparse(similarity, top_k=...) instead."
        )
    matrix = torch.cat([part for _, part in rows])
    return DenseSimilarity(num_classes, {"matrix": matrix}, names=names)


def _with_ones(part: Tensor, classes: Tensor) -> Tensor:
    """Set the diagonal to exactly 1; rounding leaves it slightly off."""
    return part.scatter(1, classes.unsqueeze(1), 1.0)


def _places(whole: Similarity, classes: Sequence[int] | Sequence[str]) -> Tensor:
    _checks.in_class_order("classes", classes)
    by_name = {name: i for i, name in enumerate(whole.names or ())}
    places = []
    for each in classes:
        if isinstance(each, str):
            if each not in by_name:
                remedy = _checks.nearest_spelling(each, by_name)
                raise ValueError(f"`classes` must be known, but {each!r} is not{remedy}.")
            places.append(by_name[each])
        else:
            places.append(_checks.index("classes", each, whole.num_classes))
    _checks.distinct("classes", places)
    return torch.tensor(places)
