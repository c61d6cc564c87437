"""The paper's FSA, if its list of class names was not in the order of the labels."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from simloss.report.judge.run import Run

# Spellings of one class, which the paper leaves out: names between them would move by one.
SPELLINGS = ("computer keyboard", "keyboard")
BESIDE_IT = "lamp"  # in its superclass
PARTS = ("validation", "test")


def shifted_names(run: Run) -> str:
    """A sentence: FSA of cross entropy's nets as it is, shifted, and shifted elsewhere."""
    known = run.folder.classes() or {}
    names, groups = known["names"], known["superclasses"]
    base = run.results.baseline
    assert base is not None
    arrays = [run.folder.sidecar(cell) for cell in base.cells.values()]
    answers = {part: sum(each[f"{part}_confusion_argmax"] for each in arrays) for part in PARTS}
    moved = shifted(names, groups)
    plain, then = ([fsa(answers[p], g) for p in PARTS] for g in (groups, moved))
    count = sum(a != b for a, b in zip(groups, moved, strict=True))
    elsewhere = [
        fsa(answers["test"], [*groups[:start], *groups[start - 1 : start + count - 1], *rest])
        for start in range(1, len(groups) - count + 1)
        for rest in [groups[start + count :]]
    ]
    low, middle, high = min(elsewhere), median(elsewhere), max(elsewhere)
    return (
        f"Of our {len(arrays)} nets with cross entropy, FSA is {plain[0]:.1f} % on validation and "
        f"{plain[1]:.1f} % on test data, and {then[0]:.1f} and {then[1]:.1f} % if it is counted "
        f"so; with any {count} neighbours moved by one, it is {low:.1f} to {high:.1f} % on test "
        f"data, in the middle {middle:.1f} %."
    )


def shifted(names: Sequence[str], groups: Sequence[str]) -> list[str]:
    """The superclasses of the labels, if names were listed with the first spelling."""
    moved, before = list(groups), groups[names.index(BESIDE_IT)]
    for label, name in enumerate(names):
        if SPELLINGS[0] < name < SPELLINGS[1]:
            moved[label], before = before, groups[label]
    return moved


def fsa(answers: Any, groups: Sequence[str]) -> float:
    """Percent of the wrong answers in the right superclass; `answers` (C, C) by true class."""
    same = np.equal.outer(np.array(groups), np.array(groups))
    right = np.trace(answers)
    return float(100 * (answers[same].sum() - right) / (answers.sum() - right))
