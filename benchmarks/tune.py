"""What a search costs and finds, against the full grid: `python -m benchmarks.tune [FOLDER]`.

The grid is that of `simloss compare diamonds`: 16 treatments x the seeds of a repeat. The search
has the same seeds, so the same splits, initial nets and batches. Both are measured on validation
data, under one metric and decision: the grid by its best treatment's mean over the seeds, the
search by that of what it chose. Epochs are those of all nets; the grid's are counted twice, as
`compare` trains (until the last of its decision rules stops improving) and as it would for this
rule alone.

Target: at most a quarter of the epochs, within 1 % of the grid's best, over 5 repeats.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from simloss import metrics
from simloss.experiment.grid import run
from simloss.experiment.presets import COMPARE_LOSSES, comparison
from simloss.experiment.progress import progress_for
from simloss.experiment.search import search
from simloss.experiment.search_space import space_of
from simloss.experiment.store import RunFolder
from simloss.experiment.training import EarlyStopping
from simloss.experiment.tune import Plan, plan


def epochs_for_rule(record: dict[str, Any], made: Plan) -> int:
    """How long the cell would have trained if only this rule's best epoch were wanted."""
    stopping = EarlyStopping((made.rule,), made.metric, made.config.training.patience)
    for line in record["history"]:
        stopping.improved(made.rule, line["validation"][made.rule], line["epoch"])
        if stopping.is_over(line["epoch"]):
            return int(line["epoch"])
    return len(record["history"])


def best_of_grid(records: list[dict[str, Any]], made: Plan) -> tuple[float, str]:
    """The best treatment's mean on validation data."""
    values: dict[str, list[float]] = {}
    for record in records:
        value = record["metrics"]["validation"][made.rule][made.metric]
        values.setdefault(record["treatment"]["label"], []).append(value)
    sign = -1 if metrics.find(made.metric).higher_is_better else 1
    label = min(values, key=lambda each: sign * mean(values[each]))
    return mean(values[label]), label


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("runs/benchmark-tune"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--metric", default="mae")
    parser.add_argument("--decision", default="median")
    options = parser.parse_args()
    space = space_of("order", COMPARE_LOSSES)
    preset = comparison("diamonds")
    made = plan(preset, space, metric=options.metric, rule=options.decision, seeds=options.seeds)
    seeds = tuple(range(1, options.repeats * options.seeds + 1))
    grid = replace(made.config, seeds=seeds)
    place = RunFolder(options.folder / f"grid-{options.metric}-{options.decision}")
    records = run(grid, place, resume=True, progress=progress_for())
    shares = []
    for repeat in range(options.repeats):
        own = seeds[repeat * options.seeds : (repeat + 1) * options.seeds]
        repeated = replace(made, seeds=own, seed=repeat)
        name = f"{options.metric}-{options.decision}-{options.seeds}-{repeat}"
        found = search(repeated, options.folder / name)
        cells = [record for record in records if record["seed"] in own]
        best, label = best_of_grid(cells, made)
        all_epochs = sum(record["epochs"] for record in cells)
        rule_epochs = sum(epochs_for_rule(record, made) for record in cells)
        worse = found.value / best - 1
        if metrics.find(made.metric).higher_is_better:
            worse = 1 - found.value / best
        shares.append((found.epochs / all_epochs, found.epochs / rule_epochs, worse))
        print(
            f"repeat {repeat}: grid {best:.4f} ({label}; {all_epochs} epochs, {rule_epochs} for "
            f"the rule alone); search {found.value:.4f} ({found.best.label}; {found.epochs} "
            f"epochs, {found.trials} trials): {shares[-1][0]:.1%} and {shares[-1][1]:.1%} of the "
            f"epochs, {worse:+.2%} worse",
            flush=True,
        )
    first, second, worse = zip(*shares, strict=True)
    print(
        f"mean: {mean(first):.1%} and {mean(second):.1%} of the epochs, {mean(worse):+.2%} worse; "
        f"within 1 % in {sum(each <= 0.01 for each in worse)} of {len(worse)} repeats, "
        f"at most a quarter of the epochs in {sum(each <= 0.25 for each in first)} and "
        f"{sum(each <= 0.25 for each in second)}"
    )


if __name__ == "__main__":
    main()
