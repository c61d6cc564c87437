"""Is the verdict right? `python -m benchmarks verdict` judges data sets whose truth is known.

On each data set nets are trained on ten splits, their numbers go through `simloss.report.verdict`
as a run's records do, and what it says is held against fresh examples. What is found is kept in
benchmarks/results/verdict.json and shown in docs/verdict.md. About 15 minutes on one core;
`--sets` takes fewer data sets.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats

from simloss.experiment.plan.config import Config, DataConfig, SplitConfig
from simloss.experiment.plan.treatment import Treatment
from simloss.report import Verdict, verdict

from .verdict_nets import CROSS_ENTROPY, RULES, Arm, Numbers, World, solved, trained

RESULTS = Path(__file__).with_name("results") / "verdict.json"
PAGE = Path(__file__).parents[1] / "docs" / "verdict.md"
BEGIN, END = "<!-- simulation: begin -->", "<!-- simulation: end -->"

LOSSES = ("soft-target", "blended", "simloss")
GRID: tuple[Arm, ...] = (
    CROSS_ENTROPY,
    *((loss, r) for loss in LOSSES for r in (0.3, 0.5, 0.7, 0.9)),
)
NULL: tuple[Arm, ...] = (CROSS_ENTROPY,) * len(GRID)

# name -> (world, how it is made, data sets)
WORLDS: dict[str, tuple[World, Callable[[World, int], Numbers], int]] = {
    "nothing to find, nets": (World(300, 7, 1.5, NULL, own_noise=True), trained, 300),
    "nothing to find, regressions": (World(300, 7, 1.5, NULL, runs=30), solved, 600),
    "the same, repeated cross-validation": (
        World(300, 7, 1.5, NULL, runs=30, folds=True),
        solved,
        600,
    ),
    "pure noise": (World(300, 7, 0.0, GRID), trained, 300),
    "a gain of 5 %": (World(600, 24, 2.0, GRID), trained, 100),
    "a gain of 10 %": (World(600, 44, 2.5, GRID), trained, 100),
}


def judged(world: World, numbers: Numbers, runs: int) -> Verdict:
    """The verdict on the first `runs` runs; arm i is a treatment of the default grid."""
    rules = RULES[: numbers["test"].shape[-1]]
    arms = [Treatment("cross-entropy")]
    arms += [Treatment(loss, "order", r) for loss, r in GRID[1:]]
    config = Config(
        "simulated", DataConfig("table"), "mlp", tuple(arms), tuple(range(runs)), ("mae",), rules,
        SplitConfig(new_for_each_seed=True),
    )  # fmt: skip
    return verdict(_records(arms, numbers, runs, rules), config)


def _records(
    arms: list[Treatment], numbers: Numbers, runs: int, rules: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    for i, arm in enumerate(arms):
        words = {"label": arm.label, "family": arm.family, "parameter": arm.parameter}
        for seed in range(runs):
            values = {
                part: {
                    rule: {"mae": float(numbers[part][seed, i, j])} for j, rule in enumerate(rules)
                }
                for part in ("validation", "test")
            }
            constant = float(numbers["constant"][seed])
            yield {
                "cell": f"{i}-{seed}",
                "status": "done",
                "seed": seed,
                "treatment": {**arm.as_dict(), **words},
                "metrics": values,
                "constant": {"mae": {"answer": "4", "validation": constant, "test": constant}},
            }


def measured(world: World, numbers: Numbers, runs: int) -> dict[str, Any]:
    """What the verdict says of one data set, what other tests would, and the truth."""
    found = judged(world, numbers, runs)
    asked = found.judgement.similarity
    assert asked is not None
    base, best = (_values(numbers, each, "test", runs) for each in (asked.against, asked.candidate))
    gain = base - best
    t = gain.mean() / (gain.std(ddof=1) + 1e-12)
    reach = stats.t.ppf(0.975, runs - 1)
    line = {
        "helps": found.helps,
        "learned nothing": found.judgement.learned_nothing,
        "Wilcoxon's test": bool(gain.mean() > 0 and _wilcoxon(gain) <= 0.05),
        "paired t-test": bool(t > reach * np.sqrt(1 / runs)),
        "Nadeau and Bengio": bool(t > reach * np.sqrt(1 / runs + 1 / 3)),
        "gain seen": asked.gain,
        "gain claimed": 1 - asked.expected / asked.comparison.baseline,
    }
    if "truth" in numbers:
        true = [_values(numbers, c, "truth", runs).mean() for c in (asked.against, asked.candidate)]
        line["true gain"] = 1 - true[1] / true[0]
    return {k: v if isinstance(v, bool) else round(float(v), 5) for k, v in line.items()}


def _values(numbers: Numbers, candidate: Any, part: str, runs: int) -> Any:
    row = candidate.row.treatment
    arm = GRID.index((row["loss"], row.get("value")))
    return numbers[part][:runs, arm, RULES.index(candidate.rule)]


def _wilcoxon(gain: Any) -> float:
    return float(stats.wilcoxon(gain).pvalue) if gain.any() else 1.0


def study(name: str, sets: int | None = None, first: int = 0) -> list[dict[str, Any]]:
    """Every data set of a world judged, with 5, 10 and as many runs as there are."""
    world, make, count = WORLDS[name]
    lines = []
    for seed in range(first, first + (sets or count)):
        numbers = make(world, seed)
        lines += [
            {"set": seed, "runs": runs, **measured(world, numbers, runs)}
            for runs in sorted({5, 10, world.runs})
        ]
    return lines


def summary(lines: list[dict[str, Any]], runs: int) -> dict[str, Any]:
    """Shares of data sets, and gains where there is something claimed."""
    some = [line for line in lines if line["runs"] == runs]
    made: dict[str, Any] = {"data sets": len(some)}
    for name, value in some[0].items():
        if isinstance(value, bool):
            made[name] = float(np.mean([line[name] for line in some]))
    claimed = [line for line in some if line["helps"]]
    for name in ("gain seen", "gain claimed", "true gain"):
        if claimed and name in claimed[0]:
            made[f"{name} where it helps"] = float(np.mean([line[name] for line in claimed]))
    if "true gain" in some[0]:
        made["true gain"] = float(np.mean([line["true gain"] for line in some]))
    return {k: round(v, 4) for k, v in made.items()}


def shown(results: dict[str, Any]) -> str:
    """The page's table."""
    tests = ("helps", "Wilcoxon's test", "paired t-test", "Nadeau and Bengio")
    head = ["data", "runs", "data sets", "learned nothing", "similarity helps, says the verdict"]
    head += ["Wilcoxon", "t-test", "Nadeau and Bengio", "claimed gain / true gain"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name, by_runs in results.items():
        for runs, found in by_runs.items():
            cells = [name, runs, str(found["data sets"]), f"{100 * found['learned nothing']:.1f} %"]
            cells += [f"{100 * found[test]:.1f} %" for test in tests]
            key = "gain claimed where it helps"
            gains = "–"
            if found["helps"] * found["data sets"] > 5 and "true gain where it helps" in found:
                gains = f"{100 * found[key]:.1f} / {100 * found['true gain where it helps']:.1f} %"
            lines.append([*cells, gains])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _kept() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def main(arguments: list[str]) -> None:
    """Judge what the command line names, or all, and rewrite the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks verdict", description=__doc__)
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=WORLDS)
    parser.add_argument("--sets", type=int, help="data sets of each; nothing is kept then")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    kept = _kept()
    for name in options.worlds:
        began = time.perf_counter()
        lines = study(name, options.sets)
        runs = sorted({line["runs"] for line in lines})
        kept[name] = {str(count): summary(lines, count) for count in runs}
        print(name, json.dumps(kept[name], indent=1), f"{time.perf_counter() - began:.0f} s")
        if options.sets is None:
            kept = {**_kept(), name: kept[name]}  # others may be at work on other worlds
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    ordered = {name: kept[name] for name in WORLDS if name in kept}
    print(shown(ordered))
    if options.sets is None and PAGE.exists():
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{shown(ordered)}\n\n{END}{rest.partition(END)[2]}")
