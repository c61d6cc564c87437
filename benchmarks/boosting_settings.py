"""Which settings LightGBM gets as a rival, chosen by validation errors alone.

`python -m benchmarks.boosting_settings` trains boosted trees and both boosted regressions with the
settings in use and with others, three seeds on each table, and keeps the mean errors on the
*validation* parts in benchmarks/results/boosting_settings.json; test errors are not looked at. What
is there already is not run again.

The rule, written before the first run: another setting replaces the present one if, on average over
tables, its error is at least 1 % lower and it takes at most twice the time. The round to stop at is
chosen on the same validation parts, so all errors are a little too low.
"""

import json
import time
from pathlib import Path
from statistics import fmean
from typing import Any

from simloss.experiment.grid.cell import run_cell
from simloss.experiment.grid.setup import Setup
from simloss.experiment.plan.config import Config
from simloss.experiment.plan.treatment import Treatment
from simloss.experiment.rivals import boost

RESULTS = Path(__file__).with_name("results") / "boosting_settings.json"
RUNS = Path(__file__).parents[1] / "experiments"
TABLES = ("stand-ins/diamonds", "stand-ins/abalone", "fresh/wine-white", "fresh/wine-red",
          "fresh/beps", "fresh/science", "fresh/scotssec", "fresh/computers")  # fmt: skip
LEARNERS = ("boosting", "boosted-regression", "boosted-regression-l2")
SEEDS = (0, 1, 2)
CANDIDATES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "no L2": {"lambda_l2": 0.0},
    "L2 of 10": {"lambda_l2": 10.0},
    "255 bins": {"max_bin": 255},
    "steps of .05": {"learning_rate": 0.05},
    "steps of .2": {"learning_rate": 0.2},
    "7 leaves": {"num_leaves": 7},
    "15 leaves": {"num_leaves": 15},
}
_GIVEN = boost.settings_of


def errors(table: str, learner: str, changes: dict[str, Any]) -> dict[str, float]:
    """The mean error on the validation part, by the median, and the seconds of CPU; over seeds."""
    setup = Setup(Config.load(RUNS / table / "config.yaml", named_by_user=True))
    boost.settings_of = lambda *task: {**_GIVEN(*task), **changes}
    began = time.process_time()
    try:
        made = [run_cell(setup, Treatment(learner), seed)[0] for seed in SEEDS]
    finally:
        boost.settings_of = _GIVEN
    return {
        "error": fmean(each["metrics"]["validation"]["median"]["mae"] for each in made),
        "seconds": (time.process_time() - began) / len(SEEDS),
    }


def shown(results: dict[str, Any]) -> str:
    """A line per setting: error and time against the present setting, mean over tables."""
    lines = [["setting", *(f"{name}: error, time" for name in LEARNERS)]]
    lines.append(["---", *["---:"] * len(LEARNERS)])
    for candidate in CANDIDATES:
        cells = []
        for learner in LEARNERS:
            pairs = [
                (results[f"{table}|{learner}|{candidate}"], results[f"{table}|{learner}|as it is"])
                for table in TABLES
                if f"{table}|{learner}|{candidate}" in results
            ]
            error, seconds = (
                fmean(new[key] / old[key] for new, old in pairs) for key in ("error", "seconds")
            )
            cells.append(f"{100 * (error - 1):+.1f} %, x {seconds:.1f}".replace("-", "−"))
        lines.append([candidate, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Run what is missing, table by table, and print the means."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for table in TABLES:
        for learner in LEARNERS:
            for candidate, changes in CANDIDATES.items():
                key = f"{table}|{learner}|{candidate}"
                if key not in results:
                    found = errors(table, learner, changes)
                    results[key] = {name: float(f"{v:.5g}") for name, v in found.items()}
                    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
                    print(key, results[key], flush=True)
    print(shown(results))


if __name__ == "__main__":
    main()
