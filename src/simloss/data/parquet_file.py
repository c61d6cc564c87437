"""Tables in parquet files, of which a few bytes may stand for any number of cells."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import _checks
from .._disk import regular_file
from .errors import DataError

_CELL_BYTES = 8


def read_parquet(path: Path) -> Any:
    """The table as a pandas frame; lists and structures of texts, of no use here, are empty."""
    with _opened(path) as (file, schema):
        return _frame(file.read(use_threads=False), schema)


def parquet_parts(path: Path, rows: int) -> Iterator[Any]:
    """The same, this many rows at a time, without lists: one row may hold any number."""
    with _opened(path) as (file, schema):
        flat = [each.name for each in schema if each.type.num_fields == 0]
        for batch in file.iter_batches(batch_size=rows, columns=flat, use_threads=False):
            yield _frame(batch, schema)


def parquet_bytes(path: Path) -> int:
    """About how much memory the cells take, by the end of the file; a text counts once."""
    parquet = _checks.installed("pyarrow.parquet", "cli")
    try:
        with regular_file(path, follow_links=True) as raw:
            about = parquet.read_metadata(raw)
        widths = [about.schema.column(i).length or 0 for i in range(about.num_columns)]
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        every = [(each.column(i), widths[i]) for each in groups for i in range(len(widths))]
        cells = sum(chunk.num_values * max(_CELL_BYTES, width) for chunk, width in every)
        return max(cells, sum(chunk.total_uncompressed_size for chunk, _ in every))
    except Exception:  # damage can make Arrow raise almost anything
        return 0  # the reader reports what is wrong


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """The file and its schema, in which a text that many cells share is kept once."""
    parquet = _checks.installed("pyarrow.parquet", "cli")
    try:
        with regular_file(path, follow_links=True) as raw:
            schema, about = parquet.read_schema(raw), parquet.read_metadata(raw).schema
            leaves = [about.column(i) for i in range(len(about))]
            paths = [each.path for each in leaves]
            names = Counter([*paths, *(name for name in schema.names if name not in paths)])
            [(name, times)] = names.most_common(1) or [("", 0)]
            if times > 1:
                raise DataError(
                    f"'{path}' must have distinct headings, but {name!r} occurs {times} times."
                )
            known = {each.name for each in schema if _is_dictionary(each.type)}  # or in an order
            texts = {each.path for each in leaves if each.physical_type == "BYTE_ARRAY"}
            shared = {"read_dictionary": sorted(texts - known)}
            with parquet.ParquetFile(raw, **shared, pre_buffer=False, buffer_size=2**20) as file:
                yield file, schema
    except DataError:
        raise
    except Exception as error:  # damage can make Arrow and pandas raise almost anything
        reason = " ".join(str(error).split("\n")[0].split()).rstrip(".") or type(error).__name__
        raise DataError(f"'{path}' must be a parquet file, but: {reason}.") from None


def _frame(table: Any, schema: Any) -> Any:
    """With texts that are shared between cells, as they are in the file."""
    unread = [each.name for each in table.schema if each.type.num_fields and _has_texts(each.type)]
    frame = table.select([name for name in table.schema.names if name not in unread]).to_pandas()
    for name, cells in frame.items():
        if cells.dtype == "category" and not _is_dictionary(schema.field(name).type):
            frame[name] = cells.astype(object)
    for name in unread:
        frame[name] = [()] * len(frame)
    return frame


def _has_texts(kind: Any) -> bool:
    inner = [kind.field(i).type for i in range(kind.num_fields)]
    return any(_is_dictionary(each) or _has_texts(each) for each in inner)


def _is_dictionary(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_dictionary(kind))
