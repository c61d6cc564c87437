"""How much memory is left, so that a file too large is refused before the machine gives up."""

import os
from pathlib import Path

from .errors import DataError

# What a table takes in memory, in bytes a byte of its file: text becomes objects, and encoding
# holds the numbers a second time.
_GROWTH = {".csv": 3, ".tsv": 3, ".gz": 15, ".parquet": 8}


def available_memory() -> int | None:
    """Bytes that can still be had; None where the system does not say."""
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
    """One sentence if reading the table would need more memory than there is."""
    available = available_memory()
    needed = path.stat().st_size * _GROWTH.get(path.suffix.lower(), 3)
    if available is not None and needed > available:
        raise DataError(
            f"'{path}' needs about {_readable(needed)} of memory, but {_readable(available)} are "
            f"left; give a part of its rows, for example a random sample."
        )


def _readable(count: int) -> str:
    return f"{count / 2**30:,.1f} GB" if count >= 2**29 else f"{count / 2**20:,.1f} MB"
