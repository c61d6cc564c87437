"""Probabilities in a file, one column per class, read a few rows at a time."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import _checks
from .class_order import ClassOrder, class_order
from .columns import names_rows
from .errors import DataError, MissingDataError
from .npz_rows import npz_rows, npz_shapes
from .probability_rows import checked_rows
from .table_file import ENDINGS, column, is_table, table_parts

Array = np.ndarray[Any, Any]

# How many numbers and bytes to read at once, and rows to examine to tell the kind of columns.
_PART_ENTRIES = 1 << 20
_PART_BYTES = 1 << 26
_LOOKED_AT = 1000
_MOST_CLASSES = 1_000_000

_OURS = re.compile(r"p\((.+)\)")
_NPZ = ".npz"
_ARRAY = "probabilities"
_CLASSES = "classes"


class Part(NamedTuple):
    """Some rows of a file.

    Attributes:
        first: the number of the first row, from 1.
        probabilities: (M, C), in class order; each row sums to 1.
        cells: heading -> cells (M) of the other requested columns.
    """

    first: int
    probabilities: Array
    cells: dict[str, Any]


@dataclass(frozen=True)
class ProbabilityFile:
    """A file of probabilities, and the kinds of its columns.

    Attributes:
        path: CSV, TSV (also .gz), parquet or npz.
        order: the classes in order.
        names_rows: the columns that name the rows.
        others: the other requested columns.
    """

    path: Path
    order: ClassOrder
    names_rows: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        classes: Sequence[str] | None = None,
        order: Sequence[str] | None = None,
        others: Sequence[str] = (),
    ) -> "ProbabilityFile":
        """Tell the classes from the other columns.

        Args:
            path: the file. An npz file holds an array "probabilities", (N, C), and, unless the
                classes are 0, 1, 2, ..., their names as an array "classes".
            classes: the class names, if known; otherwise all columns of numbers are classes,
                except those that number or name the rows.
            order: all classes in order, if their names do not show it.
            others: headings of requested columns that are not classes.
        """
        wanted = list(order if order is not None else classes or ())
        if path.name.lower().endswith(_NPZ):
            found, named = _npz_classes(path, others), list[str]()
        else:
            found, named = _table_classes(path, wanted, others)
        for name in wanted:
            if name not in found:
                remedy = _checks.nearest_spelling(name, found)
                raise DataError(
                    f"'{path}' must have a column for each class, but {name!r} has none{remedy}."
                )
        found = [name for name in found if name in wanted] if wanted else found
        if len(found) < 2:
            has = f"only {found[0]!r}" if found else "none"
            raise DataError(f"'{path}' must have a column of numbers per class, but it has {has}.")
        known = class_order(found, order)
        return cls(path, known, tuple(named), tuple(dict.fromkeys(others)))

    def parts(self) -> Iterator[Part]:
        """All rows, a few at a time."""
        count = max(1, _PART_ENTRIES // len(self.order.names))
        first = 1
        is_npz = self.path.name.lower().endswith(_NPZ)
        for p, cells in self._npz_parts(count) if is_npz else self._table_parts(count):
            yield Part(first, checked_rows(p, first, self.order.names, self.path), cells)
            first += len(p)

    def _npz_parts(self, count: int) -> Iterator[tuple[Array, dict[str, Any]]]:
        pandas = _checks.installed("pandas", "cli")
        at = {name: i for i, name in enumerate(_npz_names(self.path))}
        shapes = npz_shapes(self.path)
        widest = max(shapes[name].dtype.itemsize for name in (_ARRAY, *self.others))
        count = max(1, min(count, _PART_BYTES // max(1, widest)))  # texts may be of any length
        place = [at[name] for name in self.order.names]
        beside = [npz_rows(self.path, name, count) for name in self.others]
        for p, *cells in zip(npz_rows(self.path, _ARRAY, count), *beside, strict=True):
            some = {name: pandas.Series(c) for name, c in zip(self.others, cells, strict=True)}
            in_order = p if place == sorted(place) else p[:, place]
            yield in_order.astype(np.float64), some

    def _table_parts(self, count: int) -> Iterator[tuple[Array, dict[str, Any]]]:
        names, first = list(self.order.names), 1
        for frame in _frames(self.path, count, self.others):
            _require_numbers(frame, names, first, self.path)
            cells = {name: frame[name] for name in (*self.names_rows, *self.others)}
            yield frame[names].to_numpy(np.float64, na_value=np.nan), cells
            first += len(frame)


def _frames(path: Path, count: int, others: tuple[str, ...]) -> Iterator[Any]:
    """Some rows at a time; of what `simloss predict --all` wrote, only p(CLASS) are classes."""
    import pandas

    for frame in table_parts(path, count, others):
        own = {name: match[1] for name in frame.columns if (match := _OURS.fullmatch(str(name)))}
        beside = [
            name
            for name in frame.columns
            if name in others
            or names_rows(name)
            or not pandas.api.types.is_numeric_dtype(frame[name])
        ]
        beside = [name for name in beside if name not in own.values()]
        yield frame[[*beside, *own]].rename(columns=own) if own else frame


def _table_classes(
    path: Path, wanted: Sequence[str], others: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns that may be classes, and those that name the rows."""
    import pandas

    if path.exists() and not is_table(path):
        endings = ", ".join((*ENDINGS, _NPZ))
        raise DataError(f"'{path}' must end in {endings} to be read as probabilities.")
    frame = next(_frames(path, _LOOKED_AT, tuple(others)))
    if frame.empty:
        raise DataError(f"'{path}' must hold rows below its heading, but it has none.")
    for name in others:
        column(frame, name, "truth", path)
    rest = [name for name in frame.columns if name not in others]
    named = [
        name
        for name in rest
        if name not in wanted
        and (names_rows(name) or not pandas.api.types.is_numeric_dtype(frame[name]))
    ]
    return [name for name in rest if name not in named], named


def _npz_classes(path: Path, others: Sequence[str]) -> list[str]:
    if not path.exists():
        raise MissingDataError(f"Nothing was found at '{path}'.")
    shapes = npz_shapes(path)
    if _ARRAY not in shapes or len(shapes[_ARRAY].shape) != 2:
        came = ", ".join(f"{name} {shapes[name].shape}" for name in shapes) or "nothing"
        raise DataError(
            f"'{path}' must hold an array 'probabilities' of shape (N, C), but holds {came}."
        )
    if shapes[_ARRAY].dtype.kind not in "biuf":
        kind = shapes[_ARRAY].dtype.name
        raise DataError(f"'{path}' must hold numbers in 'probabilities', but holds {kind}.")
    rows, count = shapes[_ARRAY].shape
    if count > _MOST_CLASSES:  # zeros shrink a thousandfold in the file, their names do not
        raise DataError(f"'{path}' must have at most {_MOST_CLASSES:,} classes, but has {count:,}.")
    for name in others:
        if name not in shapes or shapes[name].shape != (rows,):
            came = f"has shape {shapes[name].shape}" if name in shapes else "does not exist"
            raise DataError(
                f"'{path}' must hold an array {name!r} of {rows:,} cells, but it {came}."
            )
    if not rows:
        raise DataError(f"'{path}' must hold a row of probabilities, but it has none.")
    return _npz_names(path)


def _npz_names(path: Path) -> list[str]:
    shapes = npz_shapes(path)
    count = shapes[_ARRAY].shape[1]
    if _CLASSES not in shapes:
        return [str(i) for i in range(count)]
    if shapes[_CLASSES].shape != (count,):
        raise DataError(
            f"'{path}' must name each of its {count} columns in 'classes', but that has shape "
            f"{shapes[_CLASSES].shape}."
        )
    names = [str(name) for some in npz_rows(path, _CLASSES, count) for name in some.tolist()]
    _checks.distinct("classes", names)
    return names


def _require_numbers(frame: Any, names: list[str], first: int, path: Path) -> None:
    """Report the first cell of a class column that is not a number."""
    import pandas

    for name in names:
        if pandas.api.types.is_numeric_dtype(frame[name]):
            continue
        numbers = pandas.to_numeric(frame[name], errors="coerce")
        odd = (numbers.isna() & frame[name].notna()).to_numpy().nonzero()[0]
        if len(odd):
            cell = str(frame[name].iloc[odd[0]])[:40]
            raise DataError(
                f"'{path}' must hold probabilities, but row {first + odd[0]} has {cell!r} for "
                f"{name!r}."
            )
        frame[name] = numbers
