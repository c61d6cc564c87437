"""`simloss decide` on a million rows of 100 classes: time and peak memory, file by file.

`python -m benchmarks.decide FOLDER` writes the files there (1.2 GB) and runs the command on each,
in a process of its own.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROWS, CLASSES = 1_000_000, 100
_AT_ONCE = 50_000


def make(folder: Path, rows: int = ROWS, classes: int = CLASSES) -> dict[str, Path]:
    """The same float32 probabilities as npz and as parquet, with a truth drawn from them."""
    import pyarrow
    from pyarrow import parquet

    random = np.random.default_rng(0)
    p = np.empty((rows, classes), np.float32)
    truth = np.empty(rows, np.int64)
    for first in range(0, rows, _AT_ONCE):
        some = slice(first, min(rows, first + _AT_ONCE))
        centre = random.uniform(0, classes - 1, (some.stop - first, 1))
        density = np.exp(-0.5 * ((np.arange(classes) - centre) / 6) ** 2)
        density /= density.sum(1, keepdims=True)
        truth[some] = (density.cumsum(1) < random.random((len(density), 1))).sum(1)
        p[some] = density**1.5 / (density**1.5).sum(1, keepdims=True)
    truth = truth.clip(max=classes - 1)
    files = {"npz": folder / "million.npz", "parquet": folder / "million.parquet"}
    np.savez(files["npz"], probabilities=p, truth=truth)
    with parquet.ParquetWriter(files["parquet"], _schema(pyarrow, classes)) as writer:
        for first in range(0, rows, _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            columns = [*p[some].T, truth[some]]
            writer.write_table(pyarrow.table(columns, schema=_schema(pyarrow, classes)))
    return files


def _schema(arrow: object, classes: int) -> object:
    kinds = [(str(i), arrow.float32()) for i in range(classes)]  # type: ignore[attr-defined]
    return arrow.schema([*kinds, ("truth", arrow.int64())])  # type: ignore[attr-defined]


def main() -> None:
    folder = Path(sys.argv[1])
    for ending, path in make(folder).items():
        without = ["--out", str(folder / "answers.parquet"), "--class-order", _order()]
        for what, options in (
            ("answers", [*without, "--cost", "absolute"]),
            ("zero-one", [*without, "--cost", "zero-one"]),
            ("judged", ["--truth", "truth", "--page", str(folder / "page.html")]),
        ):
            seconds, memory = _measured(["decide", str(path), *options])
            print(f"{ending:8} {what:9} {seconds:6.1f} s  {memory / 2**20:6.0f} MB", flush=True)


def _order() -> str:
    return ",".join(str(i) for i in range(CLASSES))


def _measured(arguments: list[str]) -> tuple[float, int]:
    """Seconds, and the peak memory in bytes, of a command in a process of its own."""
    code = (
        "import resource, sys; from simloss.cli import main; main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - began, int(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
