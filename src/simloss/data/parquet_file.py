"""Tables in parquet files, of which a few bytes may stand for any number of cells.

Arrow reads a text that many cells share once; it is copied into the cells only if they then fit
into memory. Texts of encodings for which Arrow cannot do so are read a few rows at a time. Lists
and structures of texts, of no use here, stay empty.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
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
    """The table as a pandas frame."""
    pandas = _checks.installed("pandas", "cli")
    with _told_in_a_sentence(path), regular_file(path, follow_links=True) as raw:
        about = _checks.installed("pyarrow.parquet", "cli").read_metadata(raw)
        refuse_more(path, _bytes(about))
        return next(_frames(path, raw, about.num_rows, with_lists=True), pandas.DataFrame())


def parquet_parts(path: Path, rows: int) -> Iterator[Any]:
    """The same, this many rows at a time, and all lists are empty: one may hold any number."""
    with _told_in_a_sentence(path), regular_file(path, follow_links=True) as raw:
        yield from _frames(path, raw, rows, with_lists=False)


@contextmanager
def _told_in_a_sentence(path: Path) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # damage can make Arrow and pandas raise almost anything
        reason = " ".join(str(error).split("\n")[0].split()).rstrip(".") or type(error).__name__
        raise DataError(f"'{path}' must be a parquet file, but: {reason}.") from None


def _bytes(about: Any) -> int:
    """About how much memory the cells take, by the end of the file; a text counts once.

    Only of lists the single columns of a group of rows are looked at, for the number of their
    values: where that part of the end is damaged, Arrow ends the process.
    """
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    needed = 0
    for i in range(about.num_columns):
        leaf = about.schema.column(i)
        is_list = leaf.max_repetition_level > 0
        count = sum(each.column(i).num_values for each in groups) if is_list else about.num_rows
        needed += count * max(_CELL_BYTES, leaf.length or 0)
    return max(needed, sum(each.total_byte_size for each in groups))


def _frames(path: Path, raw: Any, rows: int, *, with_lists: bool) -> Iterator[Any]:
    """Frames of so many rows."""
    parquet = _checks.installed("pyarrow.parquet", "cli")
    schema, about = parquet.read_schema(raw), parquet.read_metadata(raw).schema
    leaves = [about.column(i) for i in range(len(about))]
    _refuse_doubles(path, schema.names, [each.path for each in leaves])
    known = {each.name for each in schema if _is_dictionary(each.type)}  # or in an order
    texts = {each.path for each in leaves if each.physical_type == "BYTE_ARRAY"}
    options = {"pre_buffer": False, "buffer_size": 2**20}
    read = [not k.num_fields or (with_lists and not _has_texts(k)) for k in schema.types]
    done = 0
    try:
        shared = sorted(texts - known)
        with parquet.ParquetFile(raw, read_dictionary=shared, **options) as file:
            for parts in _parts(path, file, schema, read, rows, rows):
                frame = _frame(path, parts, schema, read)
                done += len(frame)
                yield frame
    except (NotImplementedError, OSError) as error:
        if "DictAccumulator" not in str(error):  # texts stored by what differs from the one before
            raise
        with parquet.ParquetFile(raw, **options) as file:
            for parts in _parts(path, file, schema, read, rows, _FEW_ROWS, done):
                yield _frame(path, parts, schema, read)


def _refuse_doubles(path: Path, names: Sequence[str], leaves: Sequence[str]) -> None:
    counts = Counter([*leaves, *(name for name in names if name not in leaves)])
    for name, times in counts.most_common(1):
        if times > 1:
            raise DataError(
                f"'{path}' must have distinct headings, but {name!r} occurs {times} times."
            )


def _parts(
    path: Path,
    file: Any,
    schema: Any,
    read: list[bool],
    rows: int,
    at_a_time: int,
    done: int = 0,
) -> Iterator[list[Any]]:
    """Batches that have so many rows together, without the rows that are done."""
    names = [each.name for each, is_read in zip(schema, read, strict=True) if is_read]
    parts: list[Any] = []
    count = size = 0
    for batch in file.iter_batches(max(1, min(rows, at_a_time)), columns=names, use_threads=False):
        left = batch[done:]
        done -= len(batch) - len(left)
        parts.append(left)
        count += len(left)
        if at_a_time < rows:
            size += left.nbytes
            refuse_more(path, size)
        if count >= rows:
            yield parts
            parts, count, size = [], 0, 0
    if count:
        yield parts


def _frame(path: Path, parts: list[Any], schema: Any, read: list[bool]) -> Any:
    import pyarrow

    columns, at, size = [], 0, 0
    for field, is_read in zip(schema, read, strict=True):
        if not is_read:
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
    table.validate(full=True)  # that texts are UTF-8, which pandas asks only when it needs them
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


def _is_dictionary(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_dictionary(kind))


def _has_texts(kind: Any) -> bool:
    """Whether it is a list or structure with texts in it."""
    from pyarrow import types

    inner = [kind.field(i).type for i in range(kind.num_fields)]
    plain = (types.is_string, types.is_binary, types.is_large_string, types.is_large_binary)
    texts = (*plain, types.is_dictionary)
    return any(_has_texts(each) or any(is_text(each) for is_text in texts) for each in inner)
