"""Is a similarity real? The mistakes of a model without it, against relabelled classes."""

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .paired import LEVEL
from .signed_rank import Array

# Up to this many classes all orders are tried; beyond, as many are drawn as 7 classes have, or
# what about a second allows.
_ALL_UP_TO = 7
_DRAWN = 5040
_ENTRIES = 100_000_000
_SWEEPS = 200
# Where more relabellings than this fit as well, the similarity is not that of the mistakes.
_DOUBT = 0.2


@dataclass(frozen=True)
class Relabelling:
    """What :func:`relabelling_test` finds.

    Attributes:
        fit: how well the similarity fits the mistakes, a correlation.
        p_value: the share of relabellings that fit them as well, or better.
        smallest_p_value: what p would be if none did; with few classes it is not small.
        relabelled: the fit of every relabelling tried, the given one first, (M).
    """

    fit: float
    p_value: float
    smallest_p_value: float
    relabelled: Array

    @property
    def can_tell(self) -> bool:
        """Whether there are classes enough for p to be small."""
        return self.smallest_p_value <= LEVEL

    @property
    def is_real(self) -> bool | None:
        """Whether mistakes are likelier between similar classes than between relabelled ones.

        None where it is not clear: with few classes, or where some relabellings do as well (5 to
        20 %). Of classes with random numbers 80 % are found out, and 5 % are taken for an order.
        """
        if not self.can_tell or LEVEL < self.p_value <= _DOUBT:
            return None
        return self.p_value <= LEVEL


def relabelling_test(confusion: Any, similarity: Any) -> Relabelling | None:
    r"""Whether mistakes fall on classes that S calls similar, beyond what relabelling S would do.

    The fit is the correlation of S, over all pairs of two classes, with

    .. math:: \frac{N_{ij} - E_{ij}}{\sqrt{E_{ij}}}

    with N the confusions and E what they would be if only the frequencies of true and answered
    classes mattered (same sums of rows and columns, nothing on the diagonal). The root lets rare
    classes have their say. The classes of S are then named anew in all ways, or in 5,040 drawn
    ones: if the similarity says something about the classes, few of these fit as well. The model
    must not have been trained with S.

    Args:
        confusion: counts of answers by true class, (C, C); or, which tells far more where some
            classes are hardly ever answered, sums of probabilities by true class.
        similarity: S, (C, C).

    Returns:
        None where there is no mistake to go by.

    Example:
        >>> import numpy as np
        >>> from simloss import similarity, statistics
        >>> S = similarity.order(6, r=0.5).to_dense().numpy()
        >>> apart = np.abs(np.arange(6)[:, None] - np.arange(6))
        >>> neighbours = np.where(apart < 2, 9, 1)
        >>> statistics.relabelling_test(neighbours, S).is_real
        True
        >>> mixed = [3, 0, 4, 1, 5, 2]
        >>> statistics.relabelling_test(neighbours[mixed][:, mixed], S).is_real
        False
    """
    counts, known = _square("confusion", confusion), _square("similarity", similarity)
    if counts.shape != known.shape:
        raise ValueError(
            f"`similarity` must have the size of `confusion`, {counts.shape}, but got "
            f"{known.shape}."
        )
    np.fill_diagonal(counts, 0.0)
    if counts.sum() == 0 or len(counts) < 3:
        return None
    fits = _fits(_residual(counts / counts.sum()), known)
    as_well = fits >= fits[0] - 1e-12
    ties = np.isclose(fits, fits.max(), rtol=0, atol=1e-12)
    return Relabelling(float(fits[0]), float(as_well.mean()), float(ties.mean()), fits)


def _residual(share: Array) -> Array:
    """Mistakes beyond chance, in about equal units for rare and for frequent classes."""
    expected = _by_frequency(share)
    beyond, zeros = share - expected, np.zeros_like(share)
    return np.divide(beyond, np.sqrt(expected), out=zeros, where=expected > 0)


def _by_frequency(share: Array) -> Array:
    """The table with the same sums and no diagonal that is otherwise as even as can be."""
    found = np.ones_like(share)
    np.fill_diagonal(found, 0.0)
    for _ in range(_SWEEPS):  # iterative proportional fitting
        for axis in (0, 1):
            sums = found.sum(axis, keepdims=True)
            wanted = share.sum(axis, keepdims=True)
            found = found * np.divide(wanted, sums, out=np.zeros_like(sums), where=sums > 0)
    return np.asarray(found)


def _fits(residual: Array, known: Array) -> Array:
    """The correlation with S under every order of the classes tried, the given one first, (M)."""
    first, second = _standardised(residual), _standardised(known)
    return np.array([(first * second[np.ix_(order, order)]).sum() for order in _orders(known)])


def _standardised(values: Array) -> Array:
    """What stands off the diagonal, with mean 0 and sum of squares 1; all 0 where all are equal."""
    off = ~np.eye(len(values), dtype=bool)
    centred = np.where(off, values - values[off].mean(), 0.0)
    length = np.sqrt((centred**2).sum())
    return centred / length if length > 1e-12 else np.zeros_like(centred)


def _orders(known: Array) -> NDArray[np.intp]:
    count = len(known)
    if count <= _ALL_UP_TO:
        return np.array(list(permutations(range(count))))
    draw = np.random.default_rng(0)
    tried = min(_DRAWN, max(200, _ENTRIES // count**2))
    drawn = [draw.permutation(count) for _ in range(tried - 1)]
    return np.stack([np.arange(count), *drawn])


def _square(name: str, given: Any) -> Array:
    """A copy as float64, (C, C)."""
    array = np.array(given, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"`{name}` must be (C, C), but got shape {array.shape}.")
    if not np.isfinite(array).all() or (array < 0).any():
        worst = array[~np.isfinite(array) | (array < 0)][0]
        raise ValueError(f"`{name}` must be finite and at least 0, but got {worst}.")
    return array
