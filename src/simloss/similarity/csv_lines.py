"""CSV files as cells, and cells as numbers, with errors that say where."""

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
    """No table as spreadsheets write it where the comma is the decimal point: `low;1;0,5;0`."""
    cells = ",".join(lines[-1]).split(";")
    if len(cells) > 1 and all(is_number(cell.replace(",", ".")) for cell in cells[1:]):
        raise ValueError(
            f"{path} must have commas between its cells and points in its numbers, "
            f"but has semicolons."
        )


def equally_long(path: str | PathLike[str], lines: list[list[str]], remedy: str = "") -> None:
    """Equally many cells in each line."""
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]):
            raise ValueError(
                f"{path} must have equally many cells in each line, but line {number} has "
                f"{len(line)} where line 1 has {len(lines[0])}{remedy}."
            )


def numbers(path: str | PathLike[str], cells: list[list[str]], shift: tuple[int, int]) -> Tensor:
    """Cells as float64; `shift` is how many lines and cells stand before them in the file."""
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
    """A name that no spreadsheet takes for a formula: an apostrophe goes before it.

    A number stays as it is, and :func:`plain` takes the apostrophe away again.

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
