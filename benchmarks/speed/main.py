"""`python -m benchmarks [TABLE ...]` measures; `python -m benchmarks readme` rewrites the README.

Tables: losses, linear, growth, million, similarity; all of them by default. What is measured is
printed and kept in benchmarks/results/latest.json, together with the machine.
"""

import argparse
import json
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

import simloss

from .plot import growth_figure
from .show import shown, table
from .tables import TABLES

RESULTS = Path(__file__).parents[1] / "results"
README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


def main() -> None:
    """Measure what the command line names, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="*", choices=[*TABLES, "readme", []], metavar="TABLE")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each shape")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.what == ["readme"]:
        README.write_text(with_results(README.read_text(), _kept(options.out)))
        return
    torch.set_num_threads(options.threads)
    for name in options.what or TABLES:
        records = TABLES[name](options.seconds)
        _keep(options.out, name, records)
        print(f"## {name}\n\n{shown(name, records)}\n", flush=True)


def machine() -> dict[str, Any]:
    """What the figures were measured on, and with."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = lines[0].partition(": ")[2] if lines else cpu
    return {
        "cpu": cpu,
        "threads": torch.get_num_threads(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "simloss": simloss.__version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def _kept(folder: Path) -> dict[str, Any]:
    file = folder / "latest.json"
    return json.loads(file.read_text()) if file.exists() else {"tables": {}}


def _keep(folder: Path, name: str, records: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    kept = _kept(folder)
    kept["machine"] = machine()
    kept["tables"][name] = records
    (folder / "latest.json").write_text(json.dumps(kept, indent=1) + "\n")
    if name == "growth":
        (folder / "growth.svg").write_text(growth_figure(records))


def with_results(text: str, kept: dict[str, Any]) -> str:
    """A README with the results between its two markers."""
    if BEGIN not in text or END not in text:
        raise SystemExit(f"README.md must have the lines {BEGIN} and {END}.")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{summary(kept)}\n{END}{after}"


def summary(kept: dict[str, Any]) -> str:
    """The results in short: ratios to cross entropy at the four shapes, and memory."""
    ours = [r for r in kept["tables"]["losses"] if len(r["shape"]) == 2]
    shapes = list(dict.fromkeys(tuple(r["shape"]) for r in ours))
    names = list(dict.fromkeys(r["name"] for r in ours))
    found = {(r["name"], tuple(r["shape"])): f"{r['ratio']:.2f}" for r in ours}
    head = ["forward and backward, times `F.cross_entropy`", *(f"{s}" for s in shapes)]
    rows = [[name, *(found.get((name, shape), "-") for shape in shapes)] for name in names]
    where = kept["machine"]
    return (
        table(head, rows)
        + f"\n\nfloat32, {where['threads']} threads, {where['cpu']}, torch {where['torch']}, "
        f"{where['date']}; `make bench` measures again."
    )


if __name__ == "__main__":
    main()
