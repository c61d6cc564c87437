"""Reads a file of probabilities twice: for the truth and a temperature, then for the answers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ... import metrics
from ...calibration import fit_temperature, logits
from ...data.probability_file import Part, ProbabilityFile
from ...data.truth_cells import NOTHING, truth_indices
from ...decision import decide, expected_cost
from ...decision.answer import rounding_of
from ...decision.costs import SquaredCost
from ...similarity import Tree
from .estimates import Estimate
from .mistakes import Mistakes
from .sampling import FOLDS, Sample, folds

AS_IS, CALIBRATED = "as is", "calibrated"

_SAMPLE_ENTRIES = 1 << 22
_FEWEST = 20  # with fewer examples nothing can be said


@dataclass(frozen=True)
class Truths:
    """The columns that hold the truth."""

    file: ProbabilityFile
    mistakes: Mistakes
    truth: str
    superclass: str | None

    def of(self, part: Part) -> Any:
        """Classes, nodes above them, or -1 for what is unknown or unusable, (M)."""
        names, tree = self.file.order.names, self.mistakes.tree
        above = _inner_nodes(tree) if tree is not None else {}
        where = f"`--truth` {self.truth!r}"
        found = truth_indices(part.cells[self.truth], names, above, part.first, where)
        if self.superclass is not None:
            where = f"`--superclass` {self.superclass!r}"
            nodes = truth_indices(part.cells[self.superclass], (), above, part.first, where)
            found = np.where(found == NOTHING, nodes, found)
        is_usable = self.mistakes.kind == "tree"
        return found if is_usable else np.where(found < len(names), found, NOTHING)


def _inner_nodes(tree: Tree) -> dict[str, int]:
    """The nodes above the classes by name; a name that two of them share is left out."""
    names = tree.names[tree.num_classes :]
    return {name: tree.num_classes + at for at, name in enumerate(names) if names.count(name) == 1}


def first_pass(file: ProbabilityFile, truths: Truths) -> tuple[list[Any], Sample]:
    """The truth of each chunk, and a sample of the rows whose class is known."""
    count = len(file.order.names)
    sample, labels = Sample(max(1000, _SAMPLE_ENTRIES // count), count), []
    for part in file.parts():
        own = truths.of(part)
        known = (own >= 0) & (own < count)
        rows = part.first + np.arange(len(own))
        sample.add(rows[known], part.probabilities[known], own[known])
        labels.append(own)
    classes = sum(int(((own >= 0) & (own < count)).sum()) for own in labels)
    if classes < _FEWEST:  # a temperature is fitted on those, and judged by them
        raise ValueError(
            f"`--truth` must name the class of at least {_FEWEST} rows to judge by, "
            f"but names that of {classes}."
        )
    return labels, sample


def temperatures_of(sample: Sample) -> tuple[float, ...]:
    """For each fold, fitted on the rows outside of it; then on all."""
    z, y, fold = logits(sample.probabilities), torch.from_numpy(sample.truth), folds(sample.rows)
    chosen = [fold != part for part in range(FOLDS)] + [fold >= 0]
    return tuple(fit_temperature(z[some], y[some]) if some.any() else 1.0 for some in chosen)


class SecondPass:
    """What is kept of each row."""

    def __init__(self, mistakes: Mistakes, temperatures: tuple[float, ...]) -> None:
        self.mistakes, self.temperatures = mistakes, temperatures
        self.truth: list[Tensor] = []
        self.fold: list[Tensor] = []
        self.answers: dict[tuple[str, str], list[Tensor]] = {}
        self.expected: dict[str, list[Tensor]] = {AS_IS: [], CALIBRATED: []}
        self.scores: dict[str, list[Tensor]] = {AS_IS: [], CALIBRATED: []}
        self.sums: dict[tuple[str, str], Tensor] = {}
        self.gains: list[Tensor] = []

    def add(self, part: Part, truth: Any) -> None:
        known = truth >= 0
        fold = folds(part.first + np.arange(len(truth)))[known]
        y = torch.from_numpy(truth[known])
        self.truth.append(y)
        self.fold.append(torch.from_numpy(fold))
        if not len(y):
            return
        p = torch.from_numpy(part.probabilities[known])
        temperature = torch.tensor(self.temperatures, dtype=p.dtype)[fold].unsqueeze(1)  # (M, 1)
        z = logits(p)
        self._take(AS_IS, p, y)
        self._take(CALIBRATED, (z / temperature).softmax(-1), y)
        rows = (y < p.shape[1]).nonzero().squeeze(1)
        likelier = (z / temperature).log_softmax(-1) - z.log_softmax(-1)
        self.gains.append(likelier[rows, y[rows]])

    def _take(self, kind: str, p: Tensor, y: Tensor) -> None:
        for rule, (cost, positions) in self.mistakes.rules().items():
            if cost == "zero-one" and kind == CALIBRATED:
                continue  # a temperature does not change it
            answers = decide(p, cost, positions=positions)
            self.answers.setdefault((rule, kind), []).append(answers)
            if rule == self.mistakes.rule:
                costs = expected_cost(p, answers, cost, positions=positions)
                self.expected[kind].append(costs)
        if self.mistakes.order.is_ordered:
            mean = SquaredCost(torch.arange(p.shape[1], dtype=p.dtype))
            self.scores[kind].append(mean.scores(p, rounding_of(p)))
        is_class = y < p.shape[1]
        for name in ("nll", "calibration_error") if bool(is_class.any()) else ():
            own = metrics.find(name).sums_of(None, y[is_class], probabilities=p[is_class])
            self.sums[name, kind] = self.sums.get((name, kind), torch.zeros_like(own)) + own

    def gain(self) -> Estimate:
        """By how many nats a temperature makes the truth likelier, where it was not fitted on.

        A probability below 1e-7 counts as that on both sides: no temperature mends it.
        """
        return Estimate.of(torch.cat(self.gains))

    def value(self, name: str) -> tuple[float, float]:
        """A metric of the original and of the calibrated probabilities."""
        first, second = (
            float(metrics.find(name).finish(self.sums[name, kind])) for kind in (AS_IS, CALIBRATED)
        )
        return first, second
