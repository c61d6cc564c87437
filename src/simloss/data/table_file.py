"""Tables in files: CSV, TSV, plain or .gz, and parquet, as pandas reads them."""

import gzip
import zlib
from pathlib import Path
from typing import Any

from .. import _checks
from .errors import DataError, MissingDataError
from .memory import check_fits_memory

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")

# What stands in a cell that is empty. "None" is not among them: it is a class in many tables.
_EMPTY = ["", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "NULL", "null", "?"]
_SEPARATORS = ",;\t|"
_DAMAGE = (EOFError, OSError, zlib.error, OverflowError)


def is_table(path: Path) -> bool:
    """Whether the file's name ends like that of a table."""
    return path.name.lower().endswith(ENDINGS)


def read_table(path: Path, text_columns: tuple[str, ...] = ()) -> Any:
    """A pandas DataFrame; `text_columns` are kept as they are written."""
    if not path.exists():
        raise MissingDataError(f"Nothing was found at '{path}'.")
    if not is_table(path):
        raise DataError(f"'{path}' must end in {', '.join(ENDINGS)} to be read as a table.")
    pandas = _checks.installed("pandas", "cli")
    check_fits_memory(path)
    try:
        frame = _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path, text_columns)
    except UnicodeDecodeError:
        raise DataError(f"'{path}' must be UTF-8 text, but it is not.") from None
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, *_DAMAGE) as error:
        raise DataError(f"'{path}' cannot be read: {' '.join(str(error).split())}.") from None
    except MemoryError:
        raise DataError(f"'{path}' does not fit into memory; give a part of its rows.") from None
    if frame.empty:
        raise DataError(f"'{path}' must hold rows below its heading, but there are none.")
    frame.columns = [str(name).strip() for name in frame.columns]
    _check_headings(path, list(frame.columns))
    return frame


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


def _csv(path: Path, text_columns: tuple[str, ...]) -> Any:
    import pandas

    separator = _separator(path)
    # Before pandas renames a second "grade" to "grade.1", which would tell the answer.
    first = pandas.read_csv(
        path,
        sep=separator,
        nrows=1,
        header=None,
        dtype=str,
        keep_default_na=False,
        skipinitialspace=True,
        encoding="utf-8-sig",
    )
    _check_headings(path, [name.strip() for name in first.iloc[0] if name.strip()])
    return pandas.read_csv(
        path,
        sep=separator,
        decimal="," if separator == ";" else ".",
        na_values=_EMPTY,
        keep_default_na=False,
        skipinitialspace=True,
        low_memory=False,
        encoding="utf-8-sig",
        dtype=dict.fromkeys(text_columns, str),
    )


def _parquet(path: Path) -> Any:
    import pandas

    _checks.installed("pyarrow", "parquet")
    try:
        return pandas.read_parquet(path)
    except Exception as error:  # what Arrow and pandas make of damage is almost anything
        reason = " ".join(str(error).split("\n")[0].split()).rstrip(".") or type(error).__name__
        raise DataError(f"'{path}' must be a parquet file, but: {reason}.") from None


def _separator(path: Path) -> str:
    """What parts the headings: the most frequent of the usual separators in the first line."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig") as file:
        first = file.readline(1_000_000)
    return max(_SEPARATORS, key=first.count)


def _check_headings(path: Path, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"'{path}' must have distinct headings, but {name!r} is there twice.")
        seen.add(name)
