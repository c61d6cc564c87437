"""Tables in files: CSV, TSV, plain or .gz, and parquet, as pandas reads them."""

import csv
import gzip
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from .. import _checks
from .errors import DataError, MissingDataError
from .memory import check_fits_memory
from .number_spelling import decimal_of, spelled_plainly

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")

# What stands in a cell that is empty. "None" is not among them: it is a class in many tables.
_EMPTY = ["", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "NULL", "null", "?"]
_SEPARATORS = ";\t|,"  # the comma last, because it also stands in numbers and headings
_LOOKED_AT = 20  # lines, to tell what parts the cells
_LONGEST_LINE = 1_000_000
_DAMAGE = (EOFError, OSError, zlib.error, OverflowError)


def is_table(path: Path) -> bool:
    """Whether the file's name ends like that of a table."""
    return path.name.lower().endswith(ENDINGS)


def read_table(
    path: Path, text_columns: tuple[str, ...] = (), with_commas: tuple[str, ...] = ()
) -> Any:
    """A pandas DataFrame whose numbers are written as Python writes them.

    Args:
        path: the file.
        text_columns: are kept as text.
        with_commas: columns of numbers that are known from elsewhere to have decimal commas, so
            that "1.250" is 1250 also in a file that does not show it.

    Returns:
        The frame; `attrs["with_commas"]` are its columns where points were thousands.
    """
    if not path.exists():
        raise MissingDataError(f"Nothing was found at '{path}'.")
    if not is_table(path):
        raise DataError(f"'{path}' must end in {', '.join(ENDINGS)} to be read as a table.")
    pandas = _checks.installed("pandas", "cli")
    check_fits_memory(path)
    decimal: str | None = "."
    try:
        if path.suffix.lower() == ".parquet":
            frame = _parquet(path)
        else:
            frame, decimal = _csv(path, (*text_columns, *with_commas))
    except UnicodeDecodeError:
        raise DataError(f"'{path}' must be UTF-8 text, but it is not.") from None
    except pandas.errors.EmptyDataError:
        raise DataError(f"'{path}' must hold a heading and rows, but it is empty.") from None
    except (pandas.errors.ParserError, *_DAMAGE) as error:
        raise DataError(f"'{path}' cannot be read: {' '.join(str(error).split())}.") from None
    except MemoryError:
        raise DataError(f"'{path}' does not fit into memory; give a part of its rows.") from None
    if frame.empty:
        raise DataError(f"'{path}' must hold rows below its heading, but there are none.")
    frame.columns = [str(name).strip() for name in frame.columns]
    _check_headings(path, list(frame.columns))
    return _with_plain_numbers(frame, decimal, with_commas)


def column(frame: Any, name: str, option: str, path: Path) -> Any:
    """A column by its heading, or one sentence that names the nearest one."""
    if name not in frame.columns:
        known = list(frame.columns)
        remedy = _checks.nearest_spelling(name, known) or _checks.nearest_spelling(
            name.lower(), [each.lower() for each in known]
        )
        shown = " ".join(", ".join(known[:12]).split()) + (", …" if len(known) > 12 else "")
        raise DataError(
            f"`{option}` must be a column of '{path}', but it has no {name!r}{remedy}; "
            f"its columns are {shown}{_no_headings(known)}."
        )
    return frame[name]


def _no_headings(names: list[str]) -> str:
    """A remedy where the first line seems to be data."""
    numbers = sum(name.replace(".", "", 1).isdecimal() for name in names)
    return "; the first line must name the columns" if 2 * numbers > len(names) else ""


def _csv(path: Path, text_columns: tuple[str, ...]) -> tuple[Any, str | None]:
    """The frame, and what stands before the fraction of its numbers, where the file shows it."""
    import pandas

    separator = _separator(path)
    with _opened(path) as lines:
        next(lines, None)  # the headings
        decimal = decimal_of(lines, separator)
    options: dict[str, Any] = {
        "sep": separator,
        "keep_default_na": False,
        "skipinitialspace": True,
        "encoding": "utf-8-sig",
    }
    # Before pandas renames a second "grade" to "grade.1", which would tell the answer.
    first = pandas.read_csv(path, nrows=1, header=None, dtype=str, **options)
    _check_headings(path, [name.strip() for name in first.iloc[0] if name.strip()])
    options |= {
        "decimal": decimal or ".",
        "na_values": _EMPTY,
        "low_memory": False,
        "dtype": dict.fromkeys(text_columns, str),
    }
    with warnings.catch_warnings():
        # Else the first of too many cells would become the name of the row, and shift all others.
        # An empty one at the end of each row, behind a last separator, is no warning.
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        try:
            return pandas.read_csv(path, index_col=False, **options), decimal
        except pandas.errors.ParserWarning:
            raise DataError(
                f"'{path}' must have a heading for each column, but its rows have more cells than "
                f"its heading has names; name each in the first line."
            ) from None


def _with_plain_numbers(frame: Any, decimal: str | None, with_commas: tuple[str, ...]) -> Any:
    import pandas

    found = []
    for name in frame.columns:
        cells = frame[name]
        if not (cells.dtype == object or isinstance(cells.dtype, pandas.StringDtype)):
            continue
        known = "," if decimal is None and name in with_commas else decimal
        plain = spelled_plainly(cells, known)
        if plain is not cells:
            frame[name] = plain
            found += [name] if known == "," else []
    frame.attrs = {"with_commas": found}
    return frame


def _parquet(path: Path) -> Any:
    import pandas

    _checks.installed("pyarrow", "parquet")
    try:
        return pandas.read_parquet(path)
    except Exception as error:  # what Arrow and pandas make of damage is almost anything
        reason = " ".join(str(error).split("\n")[0].split()).rstrip(".") or type(error).__name__
        raise DataError(f"'{path}' must be a parquet file, but: {reason}.") from None


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a file; of one without line ends, pieces."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        yield iter(lambda: str(file.readline(_LONGEST_LINE)), "")


def _separator(path: Path) -> str:
    """What parts the cells: gives each of the first lines as many, else the headings the most."""
    with _opened(path) as file:
        lines = list(islice(file, _LOOKED_AT))
    cells = {each: _cells(lines, each) for each in _SEPARATORS}
    for separator, counts in cells.items():
        if len(counts) > 1 and len(set(counts)) == 1 and counts[0] > 1:
            return separator
    # The comma first: it is what a file with a single column is taken to have.
    return max(reversed(_SEPARATORS), key=lambda each: cells[each][:1])


def _cells(lines: list[str], separator: str) -> list[int]:
    """How many cells each line has, as far as they can be read."""
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    counts: list[int] = []
    with suppress(csv.Error):  # a cell larger than it takes
        counts.extend(len(row) for row in rows if row)
    return counts[:-1] if len(lines) == _LOOKED_AT else counts  # the last one may be cut off


def _check_headings(path: Path, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"'{path}' must have distinct headings, but {name!r} is there twice.")
        seen.add(name)
