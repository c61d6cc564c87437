"""Pictures of the face experiments, from their records: `python -m tools.face_figures`.

docs/tradeoff.svg: the accuracy and mean error of each loss on UTKFace, by argmax and by the median.
docs/outputs.svg: the mean output of the nets for a few true ages.
docs/paper-utkface.svg, docs/paper-afad.svg: the paper's figure, by r, for both data sets.
"""

import re
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from simloss.experiment.grid.store import RunFolder

from .chart import COLORS, Axis, Panel, picture

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "experiments" / "utkface"
FACES = ("utkface", "afad")
PAPERS_AGE = 30
PAPERS_R = (0.0, 0.3, 0.8, 0.9)
PAPERS_SEED = 0  # each net chooses ages of its own, which a mean over nets would blur
CUT = 0.45  # as HIGHEST, in the figure by r
SHOWN = (
    "cross entropy",
    "SimLoss, r = 0.3",
    "SimLoss, r = 0.8",
    "proper SimLoss, r = 0.8",
    "soft targets, r = 0.8",
    "blended SimLoss, r = 0.9",
    "blended proper SimLoss, r = 0.95",
    "blended proper SimLoss, r = 0.95 + smooth",
)
TRUE_AGES = (5, 26, 60)
RULES = ("argmax", "median")
HIGHEST = 0.3  # a probability above is cut, with its number
CLOSE = 0.06  # years; a label this close below another one moves further down


def main() -> None:
    folder = RunFolder(FOLDER)
    by_label: dict[str, list[dict[str, Any]]] = {label: [] for label in SHOWN}
    for record in folder.each_record():
        label = _short(record["treatment"]["label"])
        if record["status"] == "done" and label in by_label:
            by_label[label].append(record)
    shared = set.intersection(*({each["seed"] for each in found} for found in by_label.values()))
    for label, found in by_label.items():  # of an unfinished run, what can be compared
        by_label[label] = [each for each in found if each["seed"] in shared]
    (ROOT / "docs" / "tradeoff.svg").write_text(tradeoff(by_label))
    (ROOT / "docs" / "outputs.svg").write_text(outputs(folder, by_label))
    for name in FACES:
        drawn = papers_figure(RunFolder(ROOT / "experiments" / name))
        (ROOT / "docs" / f"paper-{name}.svg").write_text(drawn)


def tradeoff(by_label: dict[str, list[dict[str, Any]]]) -> str:
    """Accuracy across, mean absolute error up: rings for argmax, dots for the median."""
    found = {
        (label, rule): (_mean(records, rule, "accuracy") * 100, _mean(records, rule, "mae"))
        for label, records in by_label.items()
        for rule in RULES
    }
    panel = Panel(
        _axis("accuracy, %", [x for x, _ in found.values()], 1.0, room=6.5),
        _axis("mean absolute error, years", [y for _, y in found.values()], 0.5),
        width=760,
        height=360,
    )
    for label, color in _colors(by_label).items():
        ring, dot = found[label, "argmax"], found[label, "median"]
        panel.line([ring, dot], color, width=1, dash="4 3")
        panel.mark(ring, color, filled=False)
        panel.mark(dot, color)
        close = any(0 < found[other, "argmax"][1] - ring[1] < CLOSE for other in by_label)
        dx = 9 if ring[0] >= dot[0] else -9
        panel.text(ring, label, color, dx=dx, dy=14 if close else 4)
    count = len(next(iter(by_label.values())))
    runs = f" (means of {count} runs)" if count > 1 else ""
    notes = [("○ answered by the most probable age", "#444"), (f"● by the median{runs}", "#444")]
    return picture([panel], notes)


def outputs(folder: RunFolder, by_label: dict[str, list[dict[str, Any]]]) -> str:
    """The mean output distribution on test faces of a few ages, a panel per loss."""
    colors = dict(zip(TRUE_AGES, COLORS[1:], strict=False))
    ages = np.arange(1, 91)
    panels = []
    for count, (label, records) in enumerate(by_label.items()):
        panel = Panel(
            Axis("age", 1, 90, [(a, str(a)) for a in (1, 30, 60, 90)]),
            Axis("", 0, HIGHEST, [(p, f"{p:.0%}") for p in np.arange(0, HIGHEST + 0.01, 0.1)]),
            place=count % 3,
            row=count // 3,
            width=310,
            height=230,
            title=label,
        )
        curves = _mean_outputs(folder, records)
        for age, color in colors.items():
            curve = curves[age - 1]
            panel.line([(age, 0), (age, HIGHEST)], color, width=1, dash="2 4")
            shown = np.minimum(curve, HIGHEST)
            panel.line(list(zip(ages, shown, strict=True)), color, width=1.5)
            for place in np.flatnonzero(curve > HIGHEST):
                panel.text((ages[place], HIGHEST), f"{curve[place]:.0%}", color)
        panels.append(panel)
    legend = [(f"mean output, faces of {age} (dotted)", color) for age, color in colors.items()]
    return picture(panels, legend)


def papers_figure(folder: RunFolder) -> str:
    """The mean output distribution of one net by r: of all test faces, and of those of one age."""
    by_r = defaultdict(list)
    for record in folder.each_record():
        treatment = record["treatment"]
        is_plain = treatment["loss"] in ("cross-entropy", "simloss")
        is_shown = record["status"] == "done" and record["seed"] == PAPERS_SEED
        if is_shown and is_plain and not treatment.get("options"):
            by_r[treatment.get("value") or 0.0].append(record)
    ages = [int(name) for name in (folder.classes() or {})["names"]]
    counts = folder.sidecar(by_r[0.0][0]["cell"])["test_counts"].astype(float)
    real, one = counts / counts.sum(), np.eye(len(ages))[ages.index(PAPERS_AGE)]
    colors = dict(zip((r for r in PAPERS_R if r in by_r), COLORS, strict=False))
    panels = []
    for place, (title, weights) in enumerate(
        (("all faces", real), (f"faces of {PAPERS_AGE}", one))
    ):
        curves = {r: weights @ _mean_outputs(folder, by_r[r]) for r in colors}
        high = min(CUT, max(real.max(), *(curve.max() for curve in curves.values())))
        panel = Panel(
            Axis("age", ages[0], ages[-1], [(a, str(a)) for a in range(20, ages[-1], 20)]),
            Axis("", 0, high, [(p, f"{p:.0%}") for p in np.arange(0, high, 0.1)]),
            place=place,
            title=title,
        )
        if place == 0:
            panel.line(list(zip(ages, real, strict=True)), "#aaaaaa", width=3)
        else:
            panel.line([(PAPERS_AGE, 0), (PAPERS_AGE, high)], "#aaaaaa", width=1)
        for r, color in colors.items():
            shown = np.minimum(curves[r], high)
            panel.line(list(zip(ages, shown, strict=True)), color, width=1.5)
            if curves[r].max() > high:
                top = int(curves[r].argmax())
                panel.text((ages[top], high), f"{curves[r][top]:.0%}", color)
        panels.append(panel)
    legend = [("true ages", "#888888"), *((f"r = {r:g}", color) for r, color in colors.items())]
    return picture(panels, legend)


def _short(label: str) -> str:
    """As in "blended SimLoss, r = 0.9", of that with a share of .1, the only one here."""
    return re.sub(r"(.*) (r = \S+) blended, share = 0.1", r"blended \1, \2", label)


def _mean_outputs(folder: RunFolder, records: list[dict[str, Any]]) -> Any:
    """The mean output by true class, over the seeds with arrays, (C, C)."""
    cells = [record["cell"] for record in records]
    arrays = [folder.sidecar(cell) for cell in cells if folder.sidecar_path(cell).exists()]
    return np.mean([each["test_mean_output"].astype(float) for each in arrays], 0)


def _mean(records: list[dict[str, Any]], rule: str, metric: str) -> float:
    return mean(record["metrics"]["test"][rule][metric] for record in records)


def _colors(by_label: dict[str, Any]) -> dict[str, str]:
    return dict(zip(by_label, COLORS, strict=False))


def _axis(label: str, values: list[float], step: float, room: float = 0) -> Axis:
    """Round ends; `room` on the right for words."""
    low, high = np.floor(min(values) / step) * step, np.ceil(max(values) / step) * step + room
    return Axis(label, low, high, [(v, f"{v:g}") for v in np.arange(low, high + step / 100, step)])


if __name__ == "__main__":
    main()
