"""The data set that every source is read into."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from ..similarity import Tree
from .class_order import spaced_positions
from .columns import Column


def tree_of_superclasses(names: Sequence[str], superclasses: Sequence[str]) -> Tree:
    """The tree of classes by their superclasses, each a name or a path."""
    paths = zip(superclasses, names, strict=True)
    return Tree.from_paths([(*superclass.split("/"), name) for superclass, name in paths])


@dataclass(frozen=True)
class Dataset:
    """Examples, their classes, and what is known about the classes.

    Attributes:
        name: its name in reports.
        inputs: float32 features (N, D), or uint8 images (N, 3, H, W); with `columns`, the cells of
            a table as float64 numbers (N, K), NaN if empty.
        labels: class indices (N), in the order of `class_names`; if a table was read with `nodes`,
            also nodes of `tree`, C or more.
        class_names: one name per class, **in class order**.
        superclasses: the superclass of each class, by name, if there are any.
        groups: examples with equal numbers belong on the same side of a split, (N).
        parts: the indices of "train", "validation" and "test" if the source fixes them.
        notes: what a reader should know: what was dropped, what was found.
        columns: the meaning of a table's cells, if an :class:`Encoder` must be fitted first.
        components: the number of principal components, if :class:`Components` must be fitted
            first.
        texts: one per example, if :class:`Tfidf` must be fitted first; its numbers are the cells
            of the last column.
    """

    name: str
    inputs: Tensor
    labels: Tensor
    class_names: tuple[str, ...]
    superclasses: tuple[str, ...] | None = None
    groups: Tensor | None = None
    parts: dict[str, Tensor] | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    columns: tuple[Column, ...] | None = None
    components: int | None = None
    texts: tuple[str, ...] | None = None

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one example as a net sees it."""
        if self.columns is not None:
            return (sum(column.width for column in self.columns),)
        if self.components is not None:
            return (self.components,)
        return tuple(self.inputs.shape[1:])

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    @property
    def positions(self) -> list[float] | None:
        """The number each class stands for: of a bin the median, else what its name says."""
        return self.notes.get("positions") or spaced_positions(self.class_names)

    @property
    def tree(self) -> Tree | None:
        """The tree of the classes below their superclasses, "plant" or "plant/flower"."""
        if self.superclasses is None:
            return None
        return tree_of_superclasses(self.class_names, self.superclasses)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        shape = " x ".join(str(size) for size in self.inputs.shape[1:])
        return (
            f"Dataset({self.name}: {len(self):,} examples of {shape}, {self.num_classes} classes)"
        )
