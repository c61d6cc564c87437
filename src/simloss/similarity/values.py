"""Classes at positions: bins of age, years, prices, dates."""

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .distance import DistanceSimilarity


class ValueSimilarity(DistanceSimilarity):
    """One number per class, and a scale."""

    structure = "values"

    def _distance(self, target: Tensor) -> Tensor:
        position = self.tensors["position"]
        return (position - position[target].unsqueeze(-1)).abs()  # (*, C)

    def _description(self) -> str:
        return f", scale={float(self.tensors['scale']):.6g}"


def values(positions: Any, scale: float, *, names: Sequence[str] | None = None) -> Similarity:
    r"""Similarity of classes that stand for numbers or dates, evenly spaced or not.

    .. math:: S_{ij} = \exp(-|x_i - x_j| / \mathrm{scale})

    With positions 0, 1, 2, ... it is :func:`order` with r = exp(-1 / scale). The proper loss is
    proper with it. It stores C numbers.

    Args:
        positions: one number, date or datetime per class, (C); dates count in days.
        scale: the distance at which the similarity has fallen to 1/e, in units of the positions.
        names: one name per class.

    Example:
        >>> values([0, 18, 65], scale=20).to_dense()
        tensor([[1.0000, 0.4066, 0.0388],
                [0.4066, 1.0000, 0.0954],
                [0.0388, 0.0954, 1.0000]])
    """
    position = _positions(positions)
    scale = _checks.positive("scale", scale)
    names = _checks.class_names(names, position.numel())
    tensors = {"position": position, "scale": torch.tensor(scale, dtype=torch.float64)}
    return ValueSimilarity(position.numel(), tensors, names=names)


def _is_date(value: Any) -> bool:
    # pandas' NaT counts as a date as well.
    return isinstance(value, (datetime.date, np.datetime64)) and not _checks.is_missing(value)


def _all_dates(positions: list[Any]) -> None:
    for place, position in enumerate(positions):
        if not _is_date(position):
            raise ValueError(f"`positions` must be known, but class {place} has no date.")


def _by_one_clock(dates: list[Any]) -> list[Any]:
    """The same moments in UTC, because numpy has no time zones."""
    zoned = [getattr(date, "tzinfo", None) is not None for date in dates]
    if any(zoned) and not all(zoned):
        raise ValueError(
            f"`positions` must all have a time zone or none, but that of class "
            f"{zoned.index(False)} has none."
        )
    if not any(zoned):
        return dates
    return [date.astimezone(datetime.UTC).replace(tzinfo=None) for date in dates]


def _positions(positions: Any) -> Tensor:
    _checks.in_class_order("positions", positions)
    is_list = isinstance(positions, Iterable) and not hasattr(positions, "dtype")
    if is_list or getattr(getattr(positions, "dtype", None), "kind", "") == "O":
        positions = list(positions)
        if any(map(_is_date, positions)):
            _all_dates(positions)
            positions = np.asarray(_by_one_clock(positions), dtype="datetime64[us]")
    if getattr(getattr(positions, "dtype", None), "kind", "") == "M":
        # If given a dtype, pandas converts times with a zone to UTC.
        dates = np.asarray(positions, dtype="datetime64[us]")
        if np.isnat(dates).any():
            place = int(np.isnat(dates).argmax())
            raise ValueError(f"`positions` must be known, but class {place} has no date.")
        microseconds = dates.astype(np.int64)
        positions = microseconds / 86_400e6  # in days
    position = _checks.float_tensor("positions", positions).detach().double()
    _checks.one_number_a_class("positions", position)
    _checks.finite("positions", position)
    return position.clone()
