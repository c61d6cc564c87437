"""Reads CSV files as cells, and cells as numbers; errors name the line."""

import csv
import io
from os import PathLike

import torch
from torch import Tensor

from .._disk import regular_file

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def read_lines(path: str | PathLike[str]) -> list[list[str]]:
    """The cells of each line that is not empty."""
    with regular_file(path, follow_links=True) as file:
        try:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            lines = [line for line in csv.reader(text) if any(cell.strip() for cell in line)]
        except (UnicodeDecodeError, csv.Error):
            raise ValueError(f"{path} must be a CSV file in UTF-8, but is not.") from None
    if not lines:
        raise ValueError(f"{path} must hold at least one line, but it is empty.")
    return lines


def refuse_semicolons(path: str | PathLike[str], lines: list[list[str]]) -> None:
    """Refuse a table from a spreadsheet with a decimal comma: `low;1;0,5;0`."""
    cells = ",".join(lines[-1]).split(";")
    if len(cells) > 1 and all(is_number(cell.replace(",", ".")) for cell in cells[1:]):
        raise ValueError(
            f"{path} must use commas between cells and points in numbers, but it has semicolons."
        )


def equally_long(path: str | PathLike[str], lines: list[list[str]], remedy: str = "") -> None:
    """Require the same number of cells in every line."""
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]):
            raise ValueError(
                f"{path} must have the same number of cells in every line, but line {number} has "
                f"{len(line)} where line 1 has {len(lines[0])}{remedy}."
            )


def numbers(path: str | PathLike[str], cells: list[list[str]], shift: tuple[int, int]) -> Tensor:
    """Cells as float64; `shift` is the number of lines and cells before them in the file."""
    for number, line in enumerate(cells, 1 + shift[0]):
        for place, cell in enumerate(line, 1 + shift[1]):
            if not is_number(cell):
                raise ValueError(
                    f"{path} must hold numbers, but got {cell!r} in line {number}, cell {place}."
                )
    return torch.tensor([[float(cell) for cell in line] for line in cells], dtype=torch.float64)


def is_number(cell: str) -> bool:
    """Whether a cell can be read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def defused(name: str) -> str:
    """A name that no spreadsheet takes for a formula: with an apostrophe in front.

    A number stays unchanged, and :func:`plain` removes the apostrophe again.

    Example:
        >>> defused("=1+1"), defused("-3"), plain(defused("=1+1"))
        ("'=1+1", '-3', '=1+1')
    """
    begins_formula = name.lstrip("'").startswith(_FORMULA) and not is_number(name)
    return f"'{name}" if begins_formula else name


def plain(name: str) -> str:
    """The reverse of :func:`defused`."""
    is_defused = name.startswith("'") and name.lstrip("'").startswith(_FORMULA)
    return name[1:] if is_defused and not is_number(name[1:]) else name
