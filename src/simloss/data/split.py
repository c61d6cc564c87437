"""Splits examples into training, validation and test parts."""

from collections.abc import Sequence

import torch
from torch import Tensor

from .. import _checks
from .dataset import Dataset
from .errors import DataError

PARTS = ("train", "validation", "test")


def split(
    dataset: Dataset,
    *,
    shares: Sequence[float] = (0.6, 0.2, 0.2),
    seed: int = 0,
    stratify: bool = False,
    keep_groups_together: bool = False,
) -> dict[str, Tensor]:
    """Indices of "train", "validation" and "test": each example in exactly one, drawn by `seed`.

    The same arguments give the same indices, whatever else draws random numbers.

    Args:
        dataset: one whose source does not fix its parts; if it does, they are `dataset.parts`.
        shares: the share of the examples for each part; they sum to 1.
        seed: for drawing the parts, separate from any seed of training.
        stratify: give every class the same shares, as far as whole examples allow.
        keep_groups_together: put examples of one group (pixel-identical images) in one part.
            A group counts for the class of its first example.

    Returns:
        Index tensors, sorted.

    Example:
        >>> from simloss.data import abalone
        >>> parts = split(abalone(), seed=1)
        >>> {name: len(indices) for name, indices in parts.items()}
        {'train': 2506, 'validation': 836, 'test': 835}
    """
    _check(dataset, shares, keep_groups_together)
    generator = torch.Generator().manual_seed(seed)
    units = dataset.groups if keep_groups_together else None
    unit_of = torch.arange(len(dataset)) if units is None else units.unique(return_inverse=True)[1]
    sizes = unit_of.bincount()
    part_of_unit = torch.empty(len(sizes), dtype=torch.long)
    owed = torch.zeros(len(PARTS), dtype=torch.float64)  # what rounding has taken from each part
    for stratum in _strata(dataset.labels, unit_of, len(sizes), stratify):
        drawn = stratum[torch.randperm(len(stratum), generator=generator)]
        wanted = torch.tensor(tuple(shares), dtype=torch.float64) * sizes[drawn].sum() + owed
        part_of_unit[drawn] = _parts_of_units(sizes[drawn], _whole(wanted))
        given = torch.bincount(part_of_unit[drawn], sizes[drawn], len(PARTS))
        owed = wanted - given
    part_of = part_of_unit[unit_of]
    parts = {name: (part_of == at).nonzero().flatten() for at, name in enumerate(PARTS)}
    _check_parts(parts, shares)
    return parts


def indices_by_label(labels: Tensor) -> list[Tensor]:
    """The examples of each class that has any, in order.

    Example:
        >>> indices_by_label(torch.tensor([2, 0, 2]))
        [tensor([1]), tensor([0, 2])]
    """
    sizes = [size for size in labels.bincount().tolist() if size]
    return list(labels.argsort(stable=True).split(sizes))


def _strata(labels: Tensor, unit_of: Tensor, count: int, stratify: bool) -> list[Tensor]:
    """The units to draw from together: all of them, or one class at a time."""
    if not stratify:
        return [torch.arange(count)]
    at = torch.arange(len(labels))
    first = torch.full((count,), len(labels)).scatter_reduce_(0, unit_of, at, "amin")
    return indices_by_label(labels[first])


def _whole(wanted: Tensor) -> Tensor:
    """Whole numbers of the same sum, none negative: the largest remainders are rounded up."""
    counts = wanted.clamp(min=0).floor()
    missing = int(wanted.sum().round() - counts.sum())
    for _ in range(missing):
        counts[(wanted - counts).argmax()] += 1
    for _ in range(-missing):  # a part with a negative share leaves less for the others
        counts[(counts - wanted).masked_fill(counts == 0, -torch.inf).argmax()] -= 1
    return counts.long()


def _parts_of_units(sizes: Tensor, counts: Tensor) -> Tensor:
    """The part of each unit if the units fill the parts one after the other."""
    middles = sizes.cumsum(0) - (sizes + 1) // 2
    return torch.searchsorted(counts.cumsum(0), middles, right=True).clamp(max=len(counts) - 1)


def _check(dataset: Dataset, shares: Sequence[float], keep_groups_together: bool) -> None:
    if dataset.parts is not None:
        raise DataError(f"The parts of {dataset.name} are fixed by its source: `dataset.parts`.")
    if keep_groups_together and dataset.groups is None:
        raise DataError(f"`keep_groups_together` needs groups, but {dataset.name} has none.")
    values = [_checks.real("shares", share) for share in shares]
    is_whole = abs(sum(values) - 1) <= _checks.ROUNDING  # which NaN is not
    if len(values) != len(PARTS) or not is_whole or min(values) <= 0:
        raise ValueError(
            f"`shares` must be three numbers above 0 that sum to 1 "
            f"(train, validation, test), but got {tuple(shares)}."
        )


def _check_parts(parts: dict[str, Tensor], shares: Sequence[float]) -> None:
    for name, share in zip(PARTS, shares, strict=True):
        if len(parts[name]) == 0:
            total = sum(len(indices) for indices in parts.values())
            raise DataError(
                f"The {name} part is empty: a share of {share:g} of {total} examples is "
                f"none; use more examples."
            )
