"""`python -m benchmarks [TABLE ...]` measures; `python -m benchmarks pages` rewrites the pages.

Tables: losses, linear, growth, million, similarity, operations; all of them by default. What is
measured is printed and kept in benchmarks/results/latest.json, together with the machine. The pages
are the README, which shows a summary, and docs/speed.md, which shows everything.
"""

import argparse
import json
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

import simloss

from .plot import cost_figure, growth_figure
from .show import by_shape, shown, table
from .tables import TABLES

RESULTS = Path(__file__).parents[1] / "results"
ROOT = Path(__file__).parents[2]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "speed.md"
GROWTH, COST = ROOT / "docs" / "growth.svg", ROOT / "docs" / "cost.svg"
TITLES = {
    "losses": "Time and memory of a loss",
    "growth": "How time grows",
    "linear": "The last layer and the loss in one",
    "million": "Many classes",
    "similarity": "What S takes",
    "operations": "What a GPU is asked to do",
}
IN_SHORT = (
    "SimLoss, order",
    "ProperSimLoss, order",
    "ProperSimLoss, order, blended",
    "SoftTargetLoss, order",
)
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


def main() -> None:
    """Measure what the command line names, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="*", choices=[*TABLES, "pages", []], metavar="TABLE")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each shape")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.what == ["pages"]:
        kept = _kept(options.out)
        earlier = _kept(options.out, "earlier.json")["tables"]
        for page, text in ((README, summary(kept)), (PAGE, everything(kept, earlier))):
            page.write_text(with_results(page.read_text(), text))
        GROWTH.write_text(growth_figure(kept["tables"]["growth"]))
        COST.write_text(cost_figure(kept["tables"]["losses"]))
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


def _kept(folder: Path, name: str = "latest.json") -> dict[str, Any]:
    file = folder / name
    return json.loads(file.read_text()) if file.exists() else {"tables": {}}


def _keep(folder: Path, name: str, records: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    kept = _kept(folder)
    kept["machine"] = machine()
    kept["tables"][name] = records
    (folder / "latest.json").write_text(json.dumps(kept, indent=1) + "\n")


def with_results(page: str, results: str) -> str:
    """A page with the results between its two markers."""
    if BEGIN not in page or END not in page:
        raise SystemExit(f"a page must have the lines {BEGIN} and {END}.")
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{results}\n{END}{after}"


def everything(kept: dict[str, Any], earlier: dict[str, Any]) -> str:
    """Every table, what it was measured on, and the ratios of the run before it."""
    parts = [f"## {TITLES[name]}\n\n{shown(name, kept['tables'][name])}" for name in TITLES]
    for name in ("losses", "linear"):
        if name in earlier:
            title = f"## {TITLES[name]}: the run before"
            parts.append(f"{title}\n\n{by_shape(earlier[name], 'ratio')}")
    return "\n\n".join([*parts, measured_on(kept)])


def measured_on(kept: dict[str, Any]) -> str:
    """The machine and the versions, in a sentence."""
    where = kept["machine"]
    return (
        f"float32, {where['threads']} threads, {where['cpu']}, torch {where['torch']}, "
        f"{where['date']}; `make bench` measures again."
    )


def summary(kept: dict[str, Any]) -> str:
    """The results in short: ratios to cross entropy for four losses, and memory."""
    ours = [r for r in kept["tables"]["losses"] if len(r["shape"]) == 2]
    shapes = list(dict.fromkeys(tuple(r["shape"]) for r in ours))
    found = {(r["name"], tuple(r["shape"])): f"{r['ratio']:.2f}" for r in ours}
    head = ["forward and backward, times `F.cross_entropy`", *(f"{s}" for s in shapes)]
    rows = [[name, *(found.get((name, shape), "-") for shape in shapes)] for name in IN_SHORT]
    return f"{table(head, rows)}\n\n{_memory(ours)} {_last_layer(kept)}\n\n{measured_on(kept)}"


def _memory(records: list[dict[str, Any]]) -> str:
    grown = {
        (r["name"], tuple(r["shape"])): r["memory"]["growth"] for r in records if r.get("memory")
    }
    shape = max((shape for _, shape in grown), key=lambda shape: shape[0] * shape[1])
    share = grown["SimLoss, order", shape] / grown["F.cross_entropy", shape]
    return f"Peak memory of `SimLoss` at {shape}: {share:.2f} of cross entropy's."


def _last_layer(kept: dict[str, Any]) -> str:
    known = {record["name"]: record for record in kept["tables"]["linear"]}
    plain, ours = known["F.linear + F.cross_entropy"], known["linear_sim_loss, order"]
    share = ours["memory"]["growth"] / plain["memory"]["growth"]
    N, D, C = ours["shape"]
    return (
        f"`linear_sim_loss`, the last layer and the loss in one, at N = {N:,}, D = {D:,}, "
        f"C = {C:,}: {share:.2f} of the memory and {ours['ratio']:.2f} of the time of `F.linear` "
        f"and `F.cross_entropy`. All figures: [what it costs](docs/speed.md)."
    )


if __name__ == "__main__":
    main()
