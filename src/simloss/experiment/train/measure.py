"""Logits made into answers and numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ... import metrics
from ...calibration import fit_temperature
from ...data import Dataset
from ...decision import decide
from ...decision.rules import RULES
from ...similarity import Similarity, Tree
from ..plan.alternatives import conse, word_vectors
from ..plan.similarities import positions_of, similarity_of, tree_of


@dataclass(frozen=True)
class Judge:
    """How this data's answers are made and measured.

    Attributes:
        names: the metrics, companions included.
        tree: the classes' tree, where they have one.
        num_classes: C.
        positions: the numbers the classes stand for, (C), where mistakes are measured by them.
        similarity: whose 1 - S is the cost, where one is.
        class_names: in class order, for the rule that answers by what they mean.
    """

    names: tuple[str, ...]
    tree: Tree | None
    num_classes: int
    positions: Tensor | None = None
    similarity: Similarity | None = None
    class_names: tuple[str, ...] = ()

    @classmethod
    def of(cls, dataset: Dataset, names: tuple[str, ...], cost: str | None = None) -> "Judge":
        """The judge of a data set; `cost` as a configuration names it."""
        tree = tree_of(dataset) if dataset.superclasses is not None else None
        positions = positions_of(dataset) if cost == "values" else None
        known = None if cost in (None, "values") else similarity_of(cost, None, dataset)
        return cls(
            tuple(metrics.columns(names)),
            tree,
            dataset.num_classes,
            positions,
            known,
            dataset.class_names,
        )

    def answers(self, probabilities: Tensor, rule: str) -> Tensor:
        """The classes answered by a decision rule."""
        if rule == "conse":
            return conse(probabilities, word_vectors(self.class_names))
        if self.cost(rule) is None:
            what = "superclasses" if rule == "tree" else "a similarity as the `cost`"
            raise ValueError(f"`rules` {rule!r} needs {what}, but there is none.")
        return decide(probabilities, self.cost(rule), positions=self.where(rule))

    def try_out(self, rules: tuple[str, ...], watched: str) -> None:
        """Answer and measure one example, so that what cannot be measured is said at once."""
        p, truth = torch.full((1, self.num_classes), 1 / self.num_classes), torch.tensor([0])
        for rule in rules:
            answers = self.answers(p, rule)
            self.all_metrics(answers, truth, p)
            self.metric(watched, answers, truth, p)

    def cost(self, rule: str) -> Any:
        """The cost that a rule's answers keep lowest."""
        return {"tree": self.tree, "similarity": self.similarity}.get(rule, rule)

    def where(self, rule: str) -> Tensor | None:
        """The positions of the classes, for the rules that measure a distance."""
        return self.positions if RULES[rule].needs == "order" else None

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

    def best_constants(
        self, training: Tensor, others: dict[str, Tensor]
    ) -> dict[str, dict[str, Any]]:
        """For each metric of answers the one answer that is best if it is always given.

        Chosen on the training part's labels, measured on the others: {"mae": {"answer": "4",
        "test": 1.69}}. Whoever learned anything is better than that.
        """
        made = {}
        for metric in (metrics.find(name) for name in self.names):
            if "probabilities" in metric.needs:
                continue
            values = {c: self._constant(metric, c, training) for c in range(self.num_classes)}
            known = {c: value for c, value in values.items() if np.isfinite(value)}
            if not known:
                continue
            pick = max if metric.higher_is_better else min
            best = pick(known, key=known.__getitem__)
            reached = {part: self._constant(metric, best, y) for part, y in others.items()}
            if all(np.isfinite(value) for value in reached.values()):
                answer = self.class_names[best] if self.class_names else str(best)
                made[metric.name] = {"answer": answer, **reached}
        return made

    def _constant(self, metric: metrics.Metric, answer: int, truth: Tensor) -> float:
        """The metric of one answer, by how often each class is true."""
        context = {k: v for k, v in self._context(truth).items() if k != "probabilities"}
        return metric(torch.full_like(truth, answer), truth, **context)

    def _context(self, probabilities: Tensor) -> dict[str, Any]:
        context: dict[str, Any] = {"probabilities": probabilities}
        known = {"tree": self.tree, "positions": self.positions, "similarity": self.similarity}
        context |= {name: value for name, value in known.items() if value is not None}
        return context | ({"cost": self.similarity} if self.similarity is not None else {})


def temperature_of(logits: Tensor, truth: Tensor) -> float:
    """The temperature that calibrates on these (validation) logits."""
    return fit_temperature(logits, truth)


def output_summary(
    probabilities: Tensor, answers: dict[str, Tensor], truth: Tensor, num_classes: int
) -> dict[str, np.ndarray[Any, Any]]:
    """What the report's figures need of one part, however many examples it had.

    Returns:
        counts (C): examples of each true class; mean_output (C, C): the mean output distribution
        by true class; confusion_RULE (C, C): answers by true class; calibration (3, 15) bins of
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
