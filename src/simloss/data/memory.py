"""The free memory, so that a file that is too large is refused in time."""

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import _checks
from .._disk import regular_file
from .errors import DataError

# The memory a table takes, in bytes per byte of its file: text becomes objects, and encoding
# holds the numbers a second time.
_GROWTH = {".csv": 3, ".tsv": 3, ".gz": 15, ".parquet": 8}

_CELL_BYTES = 8
_ROWS = 1 << 16  # of texts to count at once
_LITTLE = 2**28  # texts that cannot take more are not counted


def available_memory() -> int | None:
    """The number of free bytes; None if the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError, AttributeError):
        return None


def check_fits_memory(path: Path) -> None:
    """Refuse a table that would need more memory than there is."""
    available = available_memory()
    _refuse_more(path, _needed(path, available), available)


def check_rows_fit_memory(path: Path, rows: int) -> None:
    """Refuse a parquet file of which this many rows need more memory than there is."""
    _refuse_more(path, _parquet(path, rows), available_memory())


def _refuse_more(path: Path, needed: int, available: int | None) -> None:
    if available is not None and needed > available:
        raise DataError(
            f"'{path}' needs about {_readable(needed)} of memory, but {_readable(available)} is "
            f"free; use some of its rows, for example a random sample."
        )


def _needed(path: Path, available: int | None) -> int:
    """About how many bytes the table takes; for a packed file, including its unpacked size."""
    ending = path.suffix.lower()
    at_least = path.stat().st_size * _GROWTH.get(ending, 3)
    if ending == ".gz":
        return max(at_least, _GROWTH[".csv"] * _unpacked(path, available))
    if ending == ".parquet":
        return max(at_least, _parquet(path))
    return at_least


def _unpacked(path: Path, available: int | None) -> int:
    """The unpacked size of a .gz file, counted only until it is certainly too large."""
    size = 0
    try:
        with regular_file(path, follow_links=True) as raw, gzip.open(raw) as file:
            while some := file.read(2**20):
                size += len(some)
                if available is not None and size > available:
                    break
    except (EOFError, OSError, zlib.error):
        pass  # the reader reports what is wrong
    return size


def _parquet(path: Path, rows: int | None = None) -> int:
    """About how many bytes a parquet file's cells take: all, or this many rows at a time.

    A few bytes may stand for many cells: equal numbers in a list, a long text that is kept once.
    """
    parquet = _checks.installed("pyarrow.parquet", "cli")
    try:
        with regular_file(path, follow_links=True) as raw:
            about = parquet.read_metadata(raw)
            groups = [about.row_group(i) for i in range(about.num_row_groups)]
            every = [(each.column(j), j) for each in groups for j in range(about.num_columns)]
            texts = {c.path_in_schema for c, _ in every if _may_repeat(c, rows)}
            counts = list(_text_bytes(parquet, raw, sorted(texts), rows or _ROWS)) if texts else [0]
            if rows is None:
                numbers = sum(c.num_values for c, _ in every) * _CELL_BYTES
                return max(numbers, sum(c.total_uncompressed_size for c, _ in every), sum(counts))
            lists = [c.num_values for c, j in every if about.schema.column(j).max_repetition_level]
            return max(*counts, max(lists, default=0) * _CELL_BYTES)
    except Exception:  # damage can make Arrow raise almost anything
        return 0  # the reader reports what is wrong


def _may_repeat(chunk: Any, rows: int | None) -> bool:
    """Whether texts that are kept once may be long when each cell has its own."""
    count = chunk.num_values if rows is None else min(rows, chunk.num_values)
    is_text = chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page
    return is_text and count * chunk.total_uncompressed_size > _LITTLE


def _text_bytes(parquet: Any, raw: Any, paths: list[str], rows: int) -> Iterator[int]:
    """The length of all texts in each part, of which each is decoded once."""
    from pyarrow import compute

    with parquet.ParquetFile(raw, read_dictionary=paths, pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=rows, columns=paths, use_threads=False):
            leaves = batch.columns
            while nested := [each for each in leaves if not hasattr(each, "dictionary")]:
                leaves = [each for each in leaves if hasattr(each, "dictionary")]
                for each in nested:
                    inner = each.flatten()
                    leaves += inner if isinstance(inner, list) else [inner]
            lengths = [compute.binary_length(each.dictionary).take(each.indices) for each in leaves]
            yield sum(compute.sum(each).as_py() or 0 for each in lengths)


def _readable(count: int) -> str:
    return f"{count / 2**30:,.1f} GB" if count >= 2**29 else f"{count / 2**20:,.1f} MB"
