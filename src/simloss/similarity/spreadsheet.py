"""A similarity as a CSV table that can be edited by hand in a spreadsheet."""

import csv
import io
from os import PathLike
from pathlib import Path

import torch
from torch import Tensor

from .. import _checks
from .._disk import whole_file
from .base import Similarity
from .csv_lines import (
    defused,
    equally_long,
    is_number,
    numbers,
    plain,
    read_lines,
    refuse_semicolons,
)
from .matrix import matrix

_MOST_CLASSES = 10_000  # a gigabyte of text
_UNNAMED = ", unnamed"  # in the corner: the names are only numbers


def write_csv(similarity: Similarity, path: Path) -> None:
    """Names in the first line and column, the kind in the corner; numbers with all their digits."""
    if similarity.num_classes > _MOST_CLASSES:
        raise ValueError(
            f"A .csv file must have at most {_MOST_CLASSES:,} classes, but the similarity has "
            f"{similarity.num_classes:,}; save it as .npz or .safetensors."
        )
    if similarity.num_rows > similarity.num_classes:
        raise ValueError(
            "A .csv file holds one row per class, but the similarity has rows for inner nodes too; "
            "save it as .npz or .safetensors."
        )
    names = similarity.names
    corner = similarity.kind + ("" if names else _UNNAMED)
    labels = names or [str(i) for i in range(similarity.num_classes)]
    shown = [defused(name) for name in labels]
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text)
        writer.writerow([corner, *shown])
        for some in similarity._chunks():
            for i, row in zip(some, similarity.rows(some, torch.float64), strict=True):
                writer.writerow([shown[int(i)], *(repr(value) for value in row.tolist())])
        text.detach()


def read_csv(path: Path) -> Similarity:
    """A similarity from a table, with or without names."""
    corner, names, values = read_table(path)
    kind = "probability" if corner.startswith("probability") else "similarity"
    return matrix(values, None if corner.endswith(_UNNAMED) else names, kind=kind)


def read_table(path: str | PathLike[str]) -> tuple[str, tuple[str, ...] | None, Tensor]:
    """The corner cell, the class names if there are any, and the numbers."""
    lines = read_lines(path)
    refuse_semicolons(path, lines)
    equally_long(path, lines)
    corner = lines[0][0].strip()
    if is_number(corner):
        return "", None, numbers(path, lines, (0, 0))
    columns = [plain(name.strip()) for name in lines[0][1:]]
    _same_names(path, [plain(line[0].strip()) for line in lines[1:]], columns)
    names = _checks.class_names(columns, len(columns))
    return corner, names, numbers(path, [line[1:] for line in lines[1:]], (1, 1))


def _same_names(path: str | PathLike[str], rows: list[str], columns: list[str]) -> None:
    if len(rows) != len(columns):
        raise ValueError(
            f"{path} must have one line for each of the {len(columns)} classes in its first line, "
            f"but it has {len(rows)}."
        )
    for number, (row, column) in enumerate(zip(rows, columns, strict=True), 2):
        if row != column:
            raise ValueError(
                f"{path} must have the same names in its first column as in its first line, "
                f"in the same order, but line {number} begins with {row!r} instead of {column!r}."
            )
