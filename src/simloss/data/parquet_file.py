"""Tables in parquet files, of which a few bytes may stand for any number of cells.

Arrow reads a text that many cells share once; it is copied into the cells only if they then fit
into memory. Texts of encodings for which Arrow cannot do so are read a few rows at a time.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import _checks
from .._disk import regular_file
from .errors import DataError
from .memory import refuse_more

_CELL_BYTES = 8
_FEW_ROWS = 64
_LONGEST = 2**31 - 1  # bytes of all texts in one array of Arrow


def read_parquet(path: Path) -> Any:
    """The table as a pandas frame; lists and structures of texts, of no use here, are empty."""
    pandas = _checks.installed("pandas", "cli")
    with _opened(path) as (file, schema):
        refuse_more(path, _bytes(file.metadata))
        frames = _frames(path, file, schema, _has_texts, file.metadata.num_rows)
        return next(frames, pandas.DataFrame())


def parquet_parts(path: Path, rows: int) -> Iterator[Any]:
    """The same, this many rows at a time, and all lists are empty: one may hold any number."""
    with _opened(path) as (file, schema):
        yield from _frames(path, file, schema, _has_parts, rows)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """The file, in which a text that many cells share is kept once, and its schema."""
    parquet = _checks.installed("pyarrow.parquet", "cli")
    try:
        with regular_file(path, follow_links=True) as raw:
            schema, about = parquet.read_schema(raw), parquet.read_metadata(raw)
            leaves = [about.schema.column(i) for i in range(about.num_columns)]
            _refuse_doubles(path, schema.names, [each.path for each in leaves])
            known = {each.name for each in schema if _is_dictionary(each.type)}  # or in an order
            texts = {each.path for each in leaves if each.physical_type == "BYTE_ARRAY"}
            shared = sorted(texts - known - _delta_encoded(about))
            options = {"pre_buffer": False, "buffer_size": 2**20}
            with parquet.ParquetFile(raw, read_dictionary=shared, **options) as file:
                yield file, schema
    except DataError:
        raise
    except Exception as error:  # damage can make Arrow and pandas raise almost anything
        reason = " ".join(str(error).split("\n")[0].split()).rstrip(".") or type(error).__name__
        raise DataError(f"'{path}' must be a parquet file, but: {reason}.") from None


def _refuse_doubles(path: Path, names: Sequence[str], leaves: Sequence[str]) -> None:
    counts = Counter([*leaves, *(name for name in names if name not in leaves)])
    for name, times in counts.most_common(1):
        if times > 1:
            raise DataError(
                f"'{path}' must have distinct headings, but {name!r} occurs {times} times."
            )


def _bytes(about: Any) -> int:
    """About how much memory the cells take, by the end of the file; a text counts once."""
    leaves = [about.schema.column(i) for i in range(about.num_columns)]
    widths = {each.path: max(_CELL_BYTES, each.length or 0) for each in leaves}
    cells = sum(each.num_values * widths[each.path_in_schema] for each in _chunks(about))
    return max(cells, sum(each.total_uncompressed_size for each in _chunks(about)))


def _delta_encoded(about: Any) -> set[str]:
    """Columns of which a text may be stored as what differs from the one before."""
    return {
        each.path_in_schema
        for each in _chunks(about)
        if any("DELTA" in encoding for encoding in each.encodings)
    }


def _chunks(about: Any) -> Iterator[Any]:
    for group in range(about.num_row_groups):
        for column in range(about.num_columns):
            yield about.row_group(group).column(column)


def _frames(
    path: Path, file: Any, schema: Any, is_left: Callable[[Any], bool], rows: int
) -> Iterator[Any]:
    """Frames of so many rows; a column whose type `is_left` is empty."""
    left = [is_left(each.type) for each in schema]
    read = [each for each, out in zip(file.schema_arrow, left, strict=True) if not out]
    is_plain = any(_is_text(each.type) for each in read)
    few = max(1, min(rows, _FEW_ROWS) if is_plain else rows)
    names, parts, count, size = [each.name for each in read], [], 0, 0
    for batch in file.iter_batches(few, columns=names, use_threads=False):
        parts.append(batch)
        count += len(batch)
        if is_plain:
            size += batch.nbytes
            refuse_more(path, size)
        if count >= rows:
            yield _frame(path, parts, schema, left)
            parts, count, size = [], 0, 0
    if parts:
        yield _frame(path, parts, schema, left)


def _frame(path: Path, parts: list[Any], schema: Any, left: list[bool]) -> Any:
    import pyarrow

    columns, at, size = [], 0, 0
    for field, out in zip(schema, left, strict=True):
        if out:
            starts = pyarrow.repeat(pyarrow.scalar(0, pyarrow.int32()), sum(map(len, parts)) + 1)
            columns.append(pyarrow.ListArray.from_arrays(starts, pyarrow.nulls(0)))
            continue
        cells = [part.column(at) for part in parts]
        at += 1
        if _is_dictionary(cells[0].type) and not _is_dictionary(field.type):
            size += sum(_text_bytes(each) for each in cells)
            refuse_more(path, size)
            cells = [unfolded for each in cells for unfolded in _unfolded(each)]
        columns.append(pyarrow.chunked_array(cells))
    table = pyarrow.Table.from_arrays(columns, schema.names)
    return table.replace_schema_metadata(schema.metadata).to_pandas()


def _text_bytes(cells: Any) -> int:
    """What the texts take once each cell has its own."""
    from pyarrow import compute

    counted = cells.indices.value_counts()
    lengths = compute.binary_length(cells.dictionary.take(counted.field("values")))
    return compute.sum(compute.multiply(lengths, counted.field("counts"))).as_py() or 0


def _unfolded(cells: Any) -> list[Any]:
    """Each cell with its own text, in as many arrays as hold them."""
    if len(cells) > 1 and _text_bytes(cells) > _LONGEST:
        middle = len(cells) // 2
        return _unfolded(cells[:middle]) + _unfolded(cells[middle:])
    return [cells.dictionary_decode()]


def _has_parts(kind: Any) -> bool:
    return bool(kind.num_fields)


def _has_texts(kind: Any) -> bool:
    """Whether it is a list or structure with texts in it."""
    inner = [kind.field(i).type for i in range(kind.num_fields)]
    return any(_is_text(each) or _has_texts(each) for each in inner)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    texts = (types.is_string, types.is_binary, types.is_large_string, types.is_large_binary)
    return any(each(kind) for each in texts)


def _is_dictionary(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_dictionary(kind))
