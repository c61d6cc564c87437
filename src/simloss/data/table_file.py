"""Tables in files: CSV, TSV, plain or .gz, and parquet, read with pandas."""

import csv
import gzip
import io
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from .. import _checks
from .._disk import regular_file
from .errors import DataError, MissingDataError
from .memory import check_fits_memory
from .number_spelling import decimal_of, spelled_plainly
from .parquet_file import parquet_parts, read_parquet

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")

# The text of an empty cell. "None" is not included: it is a class in many tables.
_EMPTY = ["", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "NULL", "null", "?"]
_SEPARATORS = ";\t|,"  # the comma last, because it also occurs in numbers and headings
_LOOKED_AT = 20  # lines, to find the separator
_LONGEST_LINE = 10_000_000
_MOST_HEADINGS = 100_000
_DAMAGE = (EOFError, OSError, zlib.error, OverflowError)


def is_table(path: Path) -> bool:
    """Whether the file's name ends like that of a table."""
    return path.name.lower().endswith(ENDINGS)


def read_table(
    path: Path, text_columns: tuple[str, ...] = (), with_commas: tuple[str, ...] = ()
) -> Any:
    """A pandas DataFrame whose numbers are in Python's format.

    Args:
        path: the file.
        text_columns: columns to keep as text.
        with_commas: columns of numbers that are known to have decimal commas, so that
            "1.250" is 1250 even in a file that does not show it.

    Returns:
        The frame; `attrs["with_commas"]` lists its columns in which points separate thousands,
        `attrs["short_rows"]` counts its rows with fewer cells than the heading.
    """
    _require_table(path)
    check_fits_memory(path)
    decimal: str | None = "."
    short = 0
    with _told_in_a_sentence(path):
        if path.suffix.lower() == ".parquet":
            frame = read_parquet(path)
        else:
            options, decimal = _csv_options(path, (*text_columns, *with_commas))
            frame = _csv(path, options)
            short = _short_rows(path, frame, options["sep"])
    if frame.empty:
        raise DataError(f"'{path}' must hold rows below its heading, but it has none.")
    frame = _with_plain_numbers(_headed(path, frame), decimal, with_commas)
    frame.attrs["short_rows"] = short
    return frame


def notes_on_rows(frame: Any) -> dict[str, int]:
    """What a dataset's notes say about the rows of a table that was read."""
    return {name: count for name in ("short_rows",) if (count := frame.attrs.get(name))}


def table_parts(path: Path, rows: int, text_columns: tuple[str, ...] = ()) -> Iterator[Any]:
    """The same, this many rows at a time: a table of any length takes no more memory."""
    _require_table(path)
    is_empty = True
    with _told_in_a_sentence(path):
        if path.suffix.lower() == ".parquet":
            decimal, frames = ".", parquet_parts(path, rows)
        else:
            options, known = _csv_options(path, text_columns)
            decimal, frames = known or ".", _csv_parts(path, options, rows)
        for frame in frames:
            is_empty &= frame.empty
            yield _with_plain_numbers(_headed(path, frame), decimal, ())
    if is_empty:
        raise DataError(f"'{path}' must hold rows below its heading, but it has none.")


def _require_table(path: Path) -> None:
    if not path.exists():
        raise MissingDataError(f"Nothing was found at {str(path)!r}.")
    if not is_table(path):
        raise DataError(f"'{path}' must end in {', '.join(ENDINGS)} to be read as a table.")


@contextmanager
def _told_in_a_sentence(path: Path) -> Iterator[None]:
    """Turns everything that can go wrong while a table is read into one sentence."""
    pandas = _checks.installed("pandas", "cli")
    try:
        yield
    except UnicodeDecodeError:
        raise DataError(f"'{path}' must be UTF-8 text, but it is not.") from None
    except pandas.errors.EmptyDataError:
        raise DataError(f"'{path}' must hold a heading and rows, but it is empty.") from None
    except (pandas.errors.ParserError, *_DAMAGE) as error:
        raise DataError(f"'{path}' cannot be read: {' '.join(str(error).split())}.") from None
    except MemoryError:
        raise DataError(f"'{path}' does not fit into memory; use some of its rows.") from None


def _headed(path: Path, frame: Any) -> Any:
    frame.columns = [str(name).strip() for name in frame.columns]
    _check_headings(path, list(frame.columns))
    return frame


def column(frame: Any, name: str, option: str, path: Path) -> Any:
    """A column by its heading, or an error that names the closest one."""
    if name not in frame.columns:
        known = list(frame.columns)
        remedy = _checks.nearest_spelling(name, known)
        shown = " ".join(", ".join(known[:12]).split()) + (", …" if len(known) > 12 else "")
        raise DataError(
            f"`{option}` must be a column of '{path}', but it has no {name!r}{remedy}; "
            f"its columns are {shown}{_no_headings(known)}."
        )
    return frame[name]


def _no_headings(names: list[str]) -> str:
    """A remedy if the first line seems to be data."""
    numbers = sum(name.replace(".", "", 1).isdecimal() for name in names)
    return "; the first line must name the columns" if 2 * numbers > len(names) else ""


def _csv_options(path: Path, text_columns: tuple[str, ...]) -> tuple[dict[str, Any], str | None]:
    """How to read the file, and the decimal sign of its numbers, if it shows."""
    separator = _separator(path)
    with _opened(path) as lines:
        # Before pandas renames a second "grade" to "grade.1", which would give the class away.
        _check_headings(path, _headings(path, lines, separator))
        decimal = decimal_of(lines, separator)
    options = {
        "sep": separator,
        "keep_default_na": False,
        "skipinitialspace": True,
        "encoding": "utf-8-sig",
        "decimal": decimal or ".",
        "na_values": _EMPTY,
        "low_memory": False,
        "dtype": dict.fromkeys(text_columns, str),
    }
    return options, decimal


def _headings(path: Path, lines: Iterator[str], separator: str) -> list[str]:
    """The headings that are not empty; a few packed bytes could hold millions."""
    rows = csv.reader(_beginning(path, lines), delimiter=separator, skipinitialspace=True)
    try:
        names = next((row for row in rows if len(row) > 1 or "".join(row).strip()), [])
    except csv.Error as error:  # a cell larger than its limit
        raise DataError(f"'{path}' must have plain headings, but: {error}.") from None
    if len(names) > _MOST_HEADINGS:
        raise DataError(
            f"'{path}' must have at most {_MOST_HEADINGS:,} headings, but has {len(names):,}."
        )
    return [name.strip() for name in names if name.strip()]


def _beginning(path: Path, lines: Iterator[str]) -> Iterator[str]:
    left = _LONGEST_LINE
    for line in lines:
        left -= len(line)
        if left <= 0:
            raise DataError(f"'{path}' must have fewer than {_LONGEST_LINE:,} letters of headings.")
        yield line


def _csv(path: Path, options: dict[str, Any]) -> Any:
    import pandas

    with _no_more_cells_than_headings(path), _unpacked(path) as file:
        return pandas.read_csv(file, index_col=False, **options)


def _short_rows(path: Path, frame: Any, separator: str) -> int:
    """How many rows have fewer cells than the heading: pandas fills them up without a word."""
    if not len(frame.columns) or frame.iloc[:, -1].notna().all():  # no row lacks its last cell
        return 0
    with _opened(path) as lines, suppress(csv.Error):  # a cell larger than its limit
        cells = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        rows = (row for row in cells if len(row) > 1 or "".join(row).strip())
        width = max((place for place, name in enumerate(next(rows), 1) if name.strip()), default=0)
        return sum(len(row) < width for row in rows)
    return 0


def _csv_parts(path: Path, options: dict[str, Any], rows: int) -> Iterator[Any]:
    import pandas

    with (
        _unpacked(path) as file,
        pandas.read_csv(file, index_col=False, chunksize=rows, **options) as reader,
    ):
        while True:
            with _no_more_cells_than_headings(path):
                frame = next(reader, None)
            if frame is None:
                return
            yield frame


@contextmanager
def _no_more_cells_than_headings(path: Path) -> Iterator[None]:
    """Otherwise the first of too many cells would become the row name and shift all others.

    An empty cell at the end of each row, after a last separator, is fine.
    """
    import pandas

    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        try:
            yield
        except pandas.errors.ParserWarning:
            raise DataError(
                f"'{path}' must have a heading for each column, but its rows have more cells than "
                f"its heading has names; name every column in the first line."
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


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a file; pieces of it if it has no line ends."""
    with _unpacked(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        yield iter(lambda: str(text.readline(_LONGEST_LINE)), "")


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    """The text of a file, unpacked if it is a .gz."""
    with regular_file(path, follow_links=True) as raw:
        if path.suffix.lower() != ".gz":
            yield raw
            return
        with gzip.open(raw) as file:
            yield file  # type: ignore[misc]


def _separator(path: Path) -> str:
    """The separator: the one that splits the first lines evenly, else the heading most."""
    with _opened(path) as file:
        lines = list(islice(file, _LOOKED_AT))
    cells = {each: _cells(lines, each) for each in _SEPARATORS}
    for separator, counts in cells.items():
        if len(counts) > 1 and len(set(counts)) == 1 and counts[0] > 1:
            return separator
    # The comma first: it is the default for a file with a single column.
    return max(reversed(_SEPARATORS), key=lambda each: cells[each][:1])


def _cells(lines: list[str], separator: str) -> list[int]:
    """How many cells each line has, as far as they can be read."""
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    counts: list[int] = []
    with suppress(csv.Error):  # a cell larger than its limit
        counts.extend(len(row) for row in rows if row)
    return counts[:-1] if len(lines) == _LOOKED_AT else counts  # the last one may be cut off


def _check_headings(path: Path, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"'{path}' must have distinct headings, but {name!r} occurs twice.")
        seen.add(name)
