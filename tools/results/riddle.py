"""The settings of `benchmarks.cifar_riddle` beside the paper's numbers."""

import json
from pathlib import Path
from typing import Any

METRICS = ("accuracy", "superclass_accuracy", "failed_superclass_accuracy")
# Cross entropy in the paper, percent: accuracy, SA, FSA.
PAPER = {"validation": (46.89, 55.78, 16.73), "test": (39.51, 49.22, 16.05)}


def riddle(path: Path) -> str:
    """Markdown: a line per setting, what is not run yet left out.

    "12 wrong" is FSA on test data if twelve classes were in a wrong superclass.
    """
    head = ["setting", "validation: accuracy, SA, FSA", "test: accuracy, SA, FSA", "ratio"]
    lines = [[*head, "FSA, 12 wrong", "epochs"], ["---", *["---:"] * 5]]
    lines.append(_line("the paper", PAPER, "", ""))
    for name, found in json.loads(path.read_text()).items():
        parts = {part: _percent(found[part]) for part in PAPER}
        moved = f"{100 * found['wrong superclasses']['12']:.1f}"
        lines.append(_line(name, parts, moved, str(found["epochs"])))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _percent(values: dict[str, float]) -> tuple[float, ...]:
    return tuple(100 * values[name] for name in METRICS if name in values)


def _line(name: str, parts: dict[str, Any], moved: str, epochs: str) -> list[str]:
    shown = [", ".join(f"{value:.1f}" for value in parts[part]) for part in PAPER]
    ratio = parts["validation"][0] / parts["test"][0]
    return [name, *shown, f"{ratio:.2f}", moved, epochs]
