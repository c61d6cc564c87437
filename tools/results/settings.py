"""The settings of `benchmarks.paper_settings`, beside the paper's numbers."""

import json
from pathlib import Path
from typing import Any

from .paper import CIFAR100, OBJECTS

PARTS = ("validation", "test")
# Cross entropy in the paper: accuracy, SA, FSA.
PAPER = {"validation": (0.4689, 0.5578, 0.1673), "test": CIFAR100[0.99]}


def settings(path: Path, task: str) -> str:
    """Markdown: a line per setting of the task; what has not been run is left out."""
    found = json.loads(path.read_text()).get(task, {})
    recorded = dict(sorted(found.items(), key=lambda item: item[0] != "the preset"))
    lines = _faces(recorded) if task == "utkface" else _riddle(recorded)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _riddle(recorded: dict[str, Any]) -> list[list[str]]:
    """Accuracy, SA and FSA; the ratio is validation to test accuracy."""
    lines = [
        ["setting", *(f"{part}: accuracy, SA, FSA" for part in PARTS), "ratio", "epochs"],
        ["---", *["---:"] * 4],
        ["the paper", *(_listed(PAPER[part]) for part in PARTS), _ratio(PAPER), ""],
    ]
    for name, found in recorded.items():
        plain = {part: tuple(found[part][metric] for metric in OBJECTS) for part in PARTS}
        shown = [_listed(plain[part]) for part in PARTS]
        lines.append([name, *shown, _ratio(plain), str(found["epochs"])])
    return lines


def _faces(recorded: dict[str, Any]) -> list[list[str]]:
    """Test data: by argmax; by the median of the same weights, and of its own best epoch."""
    head = ["setting", "accuracy", "MAE", "MSE", "MAE by median", "at its own best epoch", "epochs"]
    lines = [head, ["---", *["---:"] * 6]]
    for name, found in recorded.items():
        at = found["test"]
        medians = [found[f"test by median{end}"]["mae"] for end in ("", ", its own epoch")]
        line = [name, f"{100 * at['accuracy']:.2f} %", f"{at['mae']:.2f}", f"{at['mse']:.1f}"]
        lines.append([*line, *(f"{mae:.2f}" for mae in medians), str(found["epochs"])])
    return lines


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{100 * value:.1f}" for value in values)


def _ratio(parts: dict[str, tuple[float, ...]]) -> str:
    return f"{parts['validation'][0] / parts['test'][0]:.2f}"
