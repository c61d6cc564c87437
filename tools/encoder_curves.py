"""What similarity gains on pretrained features: `python -m tools.encoder_curves`.

From the records in experiments/encoders. Writes docs/encoders.svg, and the table of docs/results.md
between `<!-- encoder curves -->` and `<!-- end of curves -->`.

The gain is by how much the best treatment with similarity, under its best decision, lowers what a
mistake costs, against cross entropy under its best decision; both are chosen by their mean on
validation data, and measured on test data, seed by seed.
"""

import re
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from scipy.stats import t

from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config

from .chart import COLORS, Axis, Panel, picture

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "experiments" / "encoders"
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
_REGION = re.compile(r"(<!-- encoder curves -->\n).*?(<!-- end of curves -->)", re.DOTALL)


class Gain(NamedTuple):
    """In percent of cross entropy's cost; `half` is half of the 95 % interval over seeds."""

    baseline: float
    best: float
    percent: float
    half: float
    label: str
    rule: str


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


def chart(gains: dict[str, dict[str, Gain]]) -> str:
    """One line per data set, its 95 % intervals as thin lines."""
    every = [each for found in gains.values() for each in found.values()]
    ends = [each.percent + side * each.half for each in every for side in (-1, 1)]
    low, high = 5 * (min(ends) // 5), 5 * (-(-max(ends) // 5))
    ticks = [(value, f"{value:g} %") for value in range(int(low), int(high) + 1, 5)]
    places = {size: 1 + i for i, size in enumerate(SIZES)}
    panel = Panel(
        Axis("examples per class", 0.6, 6.4, [(at, size) for size, at in places.items()]),
        Axis("lower cost of mistakes than cross entropy under its best decision", low, high, ticks),
        width=760,
        height=380,
    )
    panel.line([(0.6, 0), (6.4, 0)], "#888888", width=1)
    for at, found in enumerate(gains.values()):
        color = COLORS[at % len(COLORS)]
        shift = 0.06 * (at - (len(gains) - 1) / 2)
        for size, each in found.items():
            x, up = places[size] + shift, each.percent + each.half
            panel.line([(x, each.percent - each.half), (x, up)], color, width=1)
        points = [(places[size] + shift, each.percent) for size, each in found.items()]
        panel.line(points, color)
        for point in points:
            panel.mark(point, color, size=3)
    legend = [(NAMES[name], COLORS[at % len(COLORS)]) for at, name in enumerate(gains)]
    return picture([panel], legend)


def table(gains: dict[str, dict[str, Gain]]) -> str:
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


def main() -> None:
    gains = {
        name: {size: gain for size in SIZES if (gain := gain_of(FOLDER / f"{name}-{size}"))}
        for name in NAMES
    }
    gains = {name: found for name, found in gains.items() if found}
    (ROOT / "docs" / "encoders.svg").write_text(chart(gains))
    page = ROOT / "docs" / "results.md"
    text = page.read_text()
    page.write_text(_REGION.sub(lambda m: f"{m[1]}\n{table(gains)}\n\n{m[2]}", text))
    print(table(gains))


if __name__ == "__main__":
    main()
