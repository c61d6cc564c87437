"""The arrays beside the records, averaged over seeds: outputs, answers, calibration."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...experiment.grid.store import Arrays, RunFolder
from ...experiment.writing import RunFolderError
from ..judge.results import Row

Floats = NDArray[np.float64]

PARTS = ("test", "validation", "train")
_SEEDS = 10
# The most numbers to read for the figures; with more classes, fewer seeds are read.
_ENTRIES = 200_000_000
_LARGEST_COUNT = 2.0**53


@dataclass
class Outputs:
    """The outputs of one treatment's nets, summed over seeds.

    Attributes:
        seeds: how many were read.
        counts: part -> examples of each true class, (C).
        sums: part -> the sum of the outputs by true class, (C, C).
        confusion: rule -> answers on test by true class, (C, C).
        calibration: (3, 15), test: examples, right answers, sum of the largest probabilities.
    """

    seeds: int = 0
    counts: dict[str, Floats] = field(default_factory=dict)
    sums: dict[str, Floats] = field(default_factory=dict)
    confusion: dict[str, Floats] = field(default_factory=dict)
    calibration: Floats = field(default_factory=lambda: np.zeros((3, 15)))

    def add(self, arrays: Arrays) -> None:
        """Add one cell."""
        for part in PARTS:
            counts = arrays[f"{part}_counts"].astype(float)
            sums = arrays[f"{part}_mean_output"].astype(float) * counts[:, None]
            _accumulate(self.counts, part, counts)
            _accumulate(self.sums, part, sums)
        for name, array in arrays.items():
            if name.startswith("test_confusion_"):
                _accumulate(self.confusion, name.removeprefix("test_confusion_"), array)
        self.calibration = self.calibration + arrays["test_calibration"]
        self.seeds += 1

    def mean(self, part: str) -> Floats:
        """The mean output over all examples, (C)."""
        return self.sums[part].sum(0) / max(self.counts[part].sum(), 1)

    def by_class(self, part: str) -> Floats:
        """The mean output by true class, (C, C); zeros for a class without examples."""
        return self.sums[part] / np.maximum(self.counts[part], 1)[:, None]

    def truth(self, part: str) -> Floats:
        """The share of each true class, (C)."""
        return self.counts[part] / max(self.counts[part].sum(), 1)

    def shares(self, rule: str) -> Floats:
        """How often each class is answered on test, (C)."""
        answered = self.confusion[rule].sum(0)
        return answered / max(answered.sum(), 1)


def outputs_of(
    folder: RunFolder, rows: Iterable[Row], num_classes: int
) -> Iterator[tuple[Row, Outputs]]:
    """Each row's outputs, read in turn; rows without readable arrays are left out."""
    rows = list(rows)
    entries = max(1, len(rows)) * 7 * num_classes**2
    seeds = max(1, min(_SEEDS, _ENTRIES // max(1, entries)))
    for row in rows:
        found = Outputs()
        for _, cell in sorted(row.cells.items())[:seeds]:
            arrays = _readable(folder, cell, num_classes)
            if arrays is not None:
                found.add(arrays)
        if found.seeds:
            yield row, found


def _readable(folder: RunFolder, cell: str, num_classes: int) -> Arrays | None:
    """A cell's arrays; None if they are missing, damaged or of other classes."""
    try:
        arrays = folder.sidecar(cell)
    except RunFolderError:
        return None
    each, square = (num_classes,), (num_classes, num_classes)
    wanted: dict[str, tuple[int, ...]] = {"test_calibration": (3, 15)}
    wanted |= {f"{part}_counts": each for part in PARTS}
    wanted |= {f"{part}_mean_output": square for part in PARTS}
    wanted |= {name: square for name in arrays if name.startswith("test_confusion_")}
    wanted["test_confusion_argmax"] = square
    found = {name: arrays[name].shape for name in wanted if name in arrays}
    return arrays if found == wanted and all(_counts(arrays[name]) for name in wanted) else None


def _counts(array: NDArray[np.generic]) -> bool:
    """Whether it holds counts or probabilities, as far as the figures rely on it."""
    if array.dtype.kind not in "iuf" or not array.size:
        return False
    return float(np.min(array)) >= 0 and float(np.max(array)) < _LARGEST_COUNT


def _accumulate(sums: dict[str, Floats], name: str, array: NDArray[np.generic]) -> None:
    sums[name] = sums.get(name, 0) + array.astype(float)


def effective_count(shares: Floats) -> float:
    r"""How many classes are used: :math:`\exp(-\sum_c s_c \log s_c)`.

    Example:
        >>> round(effective_count(np.array([0.5, 0.5, 0.0])), 6)
        2.0
    """
    used = shares[shares > 0]
    return float(np.exp(-(used * np.log(used)).sum())) if len(used) else 0.0
