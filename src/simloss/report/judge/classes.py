"""What a run folder says about the classes."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ... import metrics
from ...data import Dataset
from ...decision.rules import RULES
from ...experiment.grid.store import RunFolder
from ...experiment.plan.config import Config

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Classes:
    """The classes of a run, in their order.

    Attributes:
        names: one per class.
        superclasses: one per class, or None.
        is_ordered: whether their order means something.
        unit: of their names, such as years.
    """

    names: tuple[str, ...]
    superclasses: tuple[str, ...] | None
    is_ordered: bool
    unit: str | None = None

    def __len__(self) -> int:
        return len(self.names)

    def as_dataset(self, name: str) -> Dataset:
        """A data set with these classes and no examples: enough to make a similarity from."""
        return Dataset(
            name,
            torch.empty(0, 1),
            torch.empty(0, dtype=torch.long),
            self.names,
            superclasses=self.superclasses,
        )


def classes_of(folder: RunFolder, config: Config) -> Classes | None:
    """The classes as the folder records them.

    None where it does not: the arrays then at least tell how many there are.
    """
    about = folder.classes()
    if about is None:
        return None
    superclasses = about.get("superclasses")
    return Classes(
        tuple(about["names"]),
        tuple(superclasses) if superclasses else None,
        is_ordered(config),
        about.get("unit"),
    )


def numbered(count: int, config: Config) -> Classes:
    """Classes nobody has named."""
    return Classes(tuple(str(i) for i in range(count)), None, is_ordered(config))


def is_ordered(config: Config) -> bool:
    """Whether anything in the experiment uses an order of the classes."""
    measures = any("order" in metrics.find(name).needs for name in config.metrics)
    decides = any(RULES[rule].needs == "order" for rule in config.rules)
    return measures or decides or any(t.similarity == "order" for t in config.treatments)
