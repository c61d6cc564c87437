"""The free memory, so that a file that is too large is refused in time."""

import gzip
import os
import zlib
from pathlib import Path

from .._disk import regular_file
from .errors import DataError

# The memory a table takes, in bytes per byte of its file: text becomes objects, and encoding
# holds the numbers a second time.
_GROWTH = {".csv": 3, ".tsv": 3, ".gz": 15, ".parquet": 8}


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
    refuse_more(path, _needed(path, available_memory()))


def refuse_more(path: Path, needed: int) -> None:
    """Refuse a table that takes so many bytes, where there are fewer."""
    available = available_memory()
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


def _readable(count: int) -> str:
    return f"{count / 2**30:,.1f} GB" if count >= 2**29 else f"{count / 2**20:,.1f} MB"
