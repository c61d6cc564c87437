"""What similarity gains on pretrained features, by examples per class.

The gain is by how much the best treatment with similarity, under its best decision, lowers what a
mistake costs, against cross entropy under its best decision. Both are chosen by their mean on
validation data, and measured on test data, seed by seed.
"""

from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

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


class Gain(NamedTuple):
    """In percent of cross entropy's cost; `half` is half of the 95 % interval over seeds."""

    baseline: float
    best: float
    percent: float
    half: float
    label: str
    rule: str


Gains = dict[str, dict[str, Gain]]


def gain_of(folder: Path) -> Gain | None:
    """What the records of one run say; None where they are not there."""
    found: dict[tuple[str, str], dict[int, Any]] = defaultdict(dict)
    if not (folder / "records.jsonl").exists():
        return None
    metric = Config.load(folder / "config.yaml").metrics[0]
    for record in RunFolder(folder).each_record():
        if record["status"] == "done":
            for rule, values in record["metrics"]["test"].items():
                validation = record["metrics"]["validation"][rule][metric]
                pair = _cost(metric, validation), _cost(metric, values[metric])
                found[record["treatment"]["label"], rule][record["seed"]] = pair
    plain = {key: runs for key, runs in found.items() if key[0] == "cross entropy"}
    others = {key: runs for key, runs in found.items() if key[0] != "cross entropy"}
    base, best = plain[_chosen(plain)], others[_chosen(others)]
    seeds = sorted(base.keys() & best.keys())
    average = mean(base[seed][1] for seed in seeds)
    gains = [100 * (base[seed][1] - best[seed][1]) / average for seed in seeds]
    half = stdev(gains) / len(gains) ** 0.5 * t.ppf(0.975, len(gains) - 1)
    label, rule = _chosen(others)
    return Gain(average, mean(best[s][1] for s in seeds), mean(gains), half, label, rule)


def _cost(metric: str, value: float) -> float:
    return 1 - value if metric == "mean_similarity" else value


def _chosen(runs: dict[tuple[str, str], dict[int, Any]]) -> tuple[str, str]:
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
        lines += [
            f"| {NAMES[name]} | {size} | {each.baseline:.3f} | {each.best:.3f} | "
            f"{each.percent:+.1f} % (± {each.half:.1f}) | {each.label}, {each.rule} |"
            for size, each in found.items()
        ]
    return "\n".join(lines)
