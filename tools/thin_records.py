"""Make the records of a run small enough to commit: `python -m tools.thin_records FOLDER ...`.

The curve of every epoch is two thirds of a record, and digits beyond the fifth are noise; the
report needs neither to say what was found. What is left resumes, reports and compares as before,
but a page made from it has no training curves.
"""

import json
import sys
from pathlib import Path
from typing import Any

from simloss.experiment.grid.store import RunFolder
from simloss.experiment.writing import write_whole

_DIGITS = 5


def thin(folder: RunFolder) -> tuple[int, int]:
    """Rewrite records.jsonl whole; returns its size before and after."""
    with folder.lock():
        before = folder.records_path.stat().st_size
        lines = [_line(record) for record in folder.each_record()]
        write_whole(folder.records_path, "".join(f"{line}\n" for line in lines).encode())
        return before, folder.records_path.stat().st_size


def _line(record: dict[str, Any]) -> str:
    kept = {name: value for name, value in record.items() if name != "history"}
    return json.dumps(_rounded(kept), separators=(",", ":"), allow_nan=False)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    for name in sys.argv[1:]:
        old, new = thin(RunFolder(Path(name)))
        print(f"{name}: {old / 1e6:.1f} -> {new / 1e6:.1f} MB")
