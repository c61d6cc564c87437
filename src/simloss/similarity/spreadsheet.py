"""A similarity as a table that opens in a spreadsheet and can be edited by hand."""

import csv
from pathlib import Path

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .matrix import matrix

_UNNAMED = ", unnamed"  # in the corner: the names are only numbers


def write_csv(similarity: Similarity, path: Path) -> None:
    """Names in the first line and column, the kind in the corner; every digit of each number."""
    names = similarity.names
    corner = similarity.kind + ("" if names else _UNNAMED)
    labels = names or [str(i) for i in range(similarity.num_classes)]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([corner, *labels])
        for some in similarity._chunks():
            for i, row in zip(some, similarity.rows(some, torch.float64), strict=True):
                writer.writerow([labels[int(i)], *(repr(value) for value in row.tolist())])


def read_csv(path: Path) -> Similarity:
    """A table with names, or just the numbers."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        try:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
        except (UnicodeDecodeError, csv.Error):
            raise ValueError(f"{path} must be a CSV file in UTF-8, but is not.") from None
    if not lines:
        raise ValueError(f"{path} must hold a similarity, but it is empty.")
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]):
            raise ValueError(
                f"{path} must have equally many cells in each line, but line {number} has "
                f"{len(line)} where line 1 has {len(lines[0])}."
            )
    corner = lines[0][0].strip()
    if _is_number(corner):
        return matrix(_numbers(path, lines, 0))
    kind = "probability" if corner.startswith("probability") else "similarity"
    columns = [name.strip() for name in lines[0][1:]]
    rows = [line[0].strip() for line in lines[1:]]
    _same_names(path, rows, columns)
    names = None if corner.endswith(_UNNAMED) else _checks.class_names(columns, len(columns))
    return matrix(_numbers(path, [line[1:] for line in lines[1:]], 1), names, kind=kind)


def _same_names(path: Path, rows: list[str], columns: list[str]) -> None:
    if len(rows) != len(columns):
        raise ValueError(
            f"{path} must have one line for each class in its first line, {len(columns)}, "
            f"but has {len(rows)}."
        )
    for number, (row, column) in enumerate(zip(rows, columns, strict=True), 2):
        if row != column:
            raise ValueError(
                f"{path} must have the same names in its first column as in its first line, "
                f"in the same order, but line {number} begins with {row!r} and not {column!r}."
            )


def _numbers(path: Path, cells: list[list[str]], shift: int) -> Tensor:
    values = []
    for number, line in enumerate(cells, 1 + shift):
        for place, cell in enumerate(line, 1 + shift):
            if not _is_number(cell):
                raise ValueError(
                    f"{path} must hold numbers, but got {cell!r} in line {number}, cell {place}."
                )
        values.append([float(cell) for cell in line])
    return torch.tensor(values, dtype=torch.float64)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
