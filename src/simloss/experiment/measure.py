"""Logits made into answers and numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import metrics
from ..calibration import fit_temperature
from ..data import Dataset
from ..decision import decide
from ..similarity import Tree
from .similarities import tree_of


@dataclass(frozen=True)
class Judge:
    """How this data's answers are made and measured.

    Attributes:
        names: the metrics, companions included.
        tree: the classes' tree, where they have one.
        num_classes: C.
    """

    names: tuple[str, ...]
    tree: Tree | None
    num_classes: int

    @classmethod
    def of(cls, dataset: Dataset, names: tuple[str, ...]) -> "Judge":
        """The judge of a data set."""
        tree = tree_of(dataset) if dataset.superclasses is not None else None
        return cls(tuple(metrics.columns(names)), tree, dataset.num_classes)

    def answers(self, probabilities: Tensor, rule: str) -> Tensor:
        """The classes answered by a decision rule."""
        return decide(probabilities, self.tree if rule == "tree" else rule)

    def metric(self, name: str, answers: Tensor, truth: Tensor, probabilities: Tensor) -> float:
        """One metric."""
        return metrics.find(name)(answers, truth, **self._context(probabilities))

    def all_metrics(
        self, answers: Tensor, truth: Tensor, probabilities: Tensor
    ) -> dict[str, float]:
        """Every metric; what is not a number is left out, for JSON has no word for it."""
        context = self._context(probabilities)
        values = {name: metrics.find(name)(answers, truth, **context) for name in self.names}
        return {name: value for name, value in values.items() if np.isfinite(value)}

    def _context(self, probabilities: Tensor) -> dict[str, Any]:
        context: dict[str, Any] = {"probabilities": probabilities}
        if self.tree is not None:
            context["tree"] = self.tree
        return context


def temperature_of(logits: Tensor, truth: Tensor) -> float:
    """The temperature that calibrates on these (validation) logits."""
    return fit_temperature(logits, truth)


def output_summary(
    probabilities: Tensor, answers: dict[str, Tensor], truth: Tensor, num_classes: int
) -> dict[str, np.ndarray[Any, Any]]:
    """What the report's figures need of one part, however many examples it had.

    Returns:
        counts (C): examples of each true class; mean_output (C, C): the mean output distribution
        by true class; confusion_RULE (C, C): answers by true class; calibration (2, 15) bins of
        the top probability: examples, right answers at argmax, and sum of probabilities.
    """
    counts = torch.bincount(truth, minlength=num_classes)
    sums = torch.zeros(num_classes, num_classes).index_add_(0, truth, probabilities.float())
    summary = {
        "counts": counts.numpy().astype(np.int32),
        "mean_output": (sums / counts.clamp(min=1).unsqueeze(1)).numpy().astype(np.float16),
        "calibration": _calibration_bins(probabilities, truth),
    }
    for rule, answer in answers.items():
        pairs = torch.bincount(truth * num_classes + answer, minlength=num_classes**2)
        summary[f"confusion_{rule}"] = pairs.reshape(num_classes, -1).numpy().astype(np.int32)
    return summary


def _calibration_bins(probabilities: Tensor, truth: Tensor, bins: int = 15) -> Any:
    confidence, answer = probabilities.max(-1)
    at = (confidence * bins).long().clamp(max=bins - 1)
    right = (answer == truth).double()
    rows = (torch.ones_like(right), right, confidence.double())
    return torch.stack([torch.bincount(at, row, bins) for row in rows]).numpy()
