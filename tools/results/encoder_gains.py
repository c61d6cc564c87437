"""What similarity gains on pretrained features, by examples per class.

The gain is by how much the best treatment with similarity, under its best decision, lowers what a
mistake costs, against cross entropy under its best decision. Both are chosen by their mean on
validation data, and measured on test data, seed by seed.
"""

from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from scipy.stats import t

from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config

SIZES = ("5", "10", "20", "50", "100", "all")
NAMES = {
    "cefr": "CEFR levels, MiniLM",
    "sst5": "SST-5 stars, MiniLM",
    "clinc150": "CLINC150 tree, MiniLM",
    "utkface": "UTKFace ages, EfficientNet",
    "afad": "AFAD ages, EfficientNet",
    "cifar100-tree": "CIFAR-100 tree, EfficientNet",
    "cifar100-names": "CIFAR-100 names, EfficientNet",
}
PLAIN = "cross entropy"


class Gain(NamedTuple):
    """In percent of cross entropy's cost; `half` is half of the 95 % interval over seeds."""

    baseline: float
    best: float
    percent: float
    half: float
    label: str
    rule: str
    seeds: int


Runs = dict[tuple[str, str], dict[int, tuple[float, float]]]
Gains = dict[str, dict[str, Gain]]


def gain_of(folder: Path) -> Gain | None:
    """What the records of one run say; None where they are not there."""
    found = _runs(folder)
    others = {key: runs for key, runs in found.items() if key[0] != PLAIN}
    return _gain(found, others) if found else None


def _runs(folder: Path) -> Runs:
    """By treatment and decision and then seed, the cost on validation and on test data."""
    found: Runs = defaultdict(dict)
    if (folder / "records.jsonl").exists():
        metric = Config.load(folder / "config.yaml").metrics[0]
        for record in RunFolder(folder).each_record():
            if record["status"] == "done":
                for rule, values in record["metrics"]["test"].items():
                    validation = record["metrics"]["validation"][rule][metric]
                    pair = _cost(metric, validation), _cost(metric, values[metric])
                    found[record["treatment"]["label"], rule][record["seed"]] = pair
    return found


def _gain(found: Runs, others: Runs) -> Gain:
    """Of the best of others against cross entropy."""
    plain = {key: runs for key, runs in found.items() if key[0] == PLAIN}
    base, best = plain[_chosen(plain)], others[_chosen(others)]
    seeds = sorted(base.keys() & best.keys())
    average = mean(base[seed][1] for seed in seeds)
    gains = [100 * (base[seed][1] - best[seed][1]) / average for seed in seeds]
    half = stdev(gains) / len(gains) ** 0.5 * t.ppf(0.975, len(gains) - 1)
    label, rule = _chosen(others)
    best_average = mean(best[s][1] for s in seeds)
    return Gain(average, best_average, mean(gains), half, label, rule, len(seeds))


def _cost(metric: str, value: float) -> float:
    return 1 - value if metric == "mean_similarity" else value


def _chosen(runs: Runs) -> tuple[str, str]:
    return min(runs, key=lambda key: mean(pair[0] for pair in runs[key].values()))


def gains_in(folder: Path) -> Gains:
    """By data set and examples per class, what has been run."""
    found = {
        name: {size: gain for size in SIZES if (gain := gain_of(folder / f"{name}-{size}"))}
        for name in NAMES
    }
    return {name: gains for name, gains in found.items() if gains}


def table(gains: Gains) -> str:
    """Cost of cross entropy and of the best with similarity, and the gain with its interval."""
    lines = ["| data | per class | cross entropy | with similarity | gain | chosen |"]
    lines += ["|---|--:|--:|--:|--:|---|"]
    for name, found in gains.items():
        for size, each in found.items():
            seeds = f", {each.seeds} seeds" if each.seeds != 10 else ""
            lines += [
                f"| {NAMES[name]} | {size} | {each.baseline:.3f} | {each.best:.3f} | "
                f"{_with_interval(each)} | {each.label}, {each.rule}{seeds} |"
            ]
    return "\n".join(lines)


def controls(folder: Path) -> str:
    """The gain of each treatment of the controls, under its own best decision."""
    lines = ["| data | per class | seeds | label smoothing | with similarity | with it shuffled |"]
    lines += ["|---|--:|--:|--:|--:|--:|"]
    for name in NAMES:
        for size in SIZES:
            found = _runs(folder / f"{name}-control-{size}")
            labels = dict.fromkeys(label for label, _ in found if label != PLAIN)
            made = [
                _gain(found, {key: runs for key, runs in found.items() if key[0] == label})
                for label in labels
            ]
            if made:
                cells = [NAMES[name], size, str(made[0].seeds), *map(_with_interval, made)]
                lines += [f"| {' | '.join(cells)} |"]
    return "\n".join(lines)


def _with_interval(gain: Gain) -> str:
    return f"{gain.percent:+.1f} % (± {gain.half:.1f})"
