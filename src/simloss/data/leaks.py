"""What makes a test look too good: a column that tells the class, rows seen in training."""

import torch
from torch import Tensor

from .columns import Column
from .dataset import Dataset
from .duplicates import groups, repeated
from .encoder import by_column

# Of neighbours along a column: how many may be of two classes, and compared with chance.
_MOST_CHANGES = 0.01
_MOST_OF_CHANCE = 0.1
_FEWEST_NEIGHBOURS = 20


def telling_columns(columns: tuple[Column, ...], inputs: Tensor, labels: Tensor) -> list[str]:
    """The columns that tell the class by themselves.

    Along the values of such a column the class changes only where it must: between the classes
    for a number, between the values for a word.

    Args:
        columns: what the cells mean.
        inputs: the cells as numbers, (N, K), NaN where nothing stands.
        labels: the classes, (N).
    """
    shares = torch.bincount(labels).double() / max(1, len(labels))
    chance = 1 - float(shares.square().sum())  # that two examples are of two classes
    return [
        each.name
        for each, cells in by_column([each for each in columns if each.kind != "text"], inputs)
        if cells.ndim == 1 and _tells(cells, labels, chance, is_word=each.kind == "category")
    ]


def _tells(cells: Tensor, labels: Tensor, chance: float, *, is_word: bool) -> bool:
    order = cells.argsort(stable=True)
    value, label = cells[order], labels[order]
    changes = label[1:] != label[:-1]
    needed = len(label.unique()) - 1
    if is_word:  # what is next to another word says nothing
        changes, needed = changes[value[1:] == value[:-1]], 0
    count, excess = len(changes), max(0, int(changes.sum()) - needed)
    if count < max(_FEWEST_NEIGHBOURS, len(label) / 2):
        return False
    return excess <= count * min(_MOST_CHANGES, _MOST_OF_CHANCE * chance)


def seen_in_training(dataset: Dataset, parts: dict[str, Tensor]) -> int:
    """How many examples of the test part are in training, too, cell for cell, pixel for pixel."""
    same = _same(dataset)
    trained = torch.isin(same[parts["test"]], same[parts["train"]])
    return int(trained.sum())


def _same(dataset: Dataset) -> Tensor:
    """One number per example, equal for examples that are equal, (N)."""
    if dataset.groups is not None:
        return dataset.groups
    if dataset.inputs.ndim != 2:  # of images their sources say it
        return torch.arange(len(dataset))
    cells = torch.cat([dataset.inputs, dataset.labels.unsqueeze(1)], 1)  # (N, K + 1)
    rows = cells.nan_to_num(nan=torch.inf).numpy()
    texts = dataset.texts or ("",) * len(rows)
    keys = ((row.tobytes(), text) for row, text in zip(rows, texts, strict=True))
    return groups(len(dataset), repeated(keys))
