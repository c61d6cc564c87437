"""The cost of each rule on examples whose truth is known.

The file is read twice. The first pass records the truth and a sample of rows, on which the
temperatures are fitted, one per fold from the rows outside of it. The second pass answers every
row, with the original probabilities and with the temperature of its fold. Of each row only the
answers are kept, not the probabilities.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ... import metrics
from ...data.probability_file import ProbabilityFile
from ...decision import decide
from ...decision.aims import aim_of
from ...decision.thresholds import best_cuts, held_out_answers
from ...metrics import Curve, Reliability
from ...metrics.curves import abstention_points, node_curve
from ...metrics.uncertainty import reliability_of
from .estimates import Estimate, change
from .mistakes import Mistakes
from .passes import AS_IS, CALIBRATED, SecondPass, Truths, first_pass, temperatures_of
from .sampling import FOLDS, Sample

KAPPA = "thresholds for quadratic κ"

# The largest number of classes for which thresholds are fitted: they need tables of C x C.
_MOST_ORDERED = 2000

# A temperature that makes the truth likelier by fewer nats per example is not worth applying.
_WORTHWHILE = 0.01


@dataclass(frozen=True)
class Line:
    """One rule on one kind of probabilities.

    Attributes:
        rule: how it answers.
        probabilities: "as is", "calibrated", or "" if they do not matter.
        costs: the cost of each example, (N).
        answers: (N).
        accuracy: the share of right answers.
        kappa: quadratic kappa, for ordered classes.
    """

    rule: str
    probabilities: str
    costs: Tensor
    answers: Tensor
    accuracy: float
    kappa: float | None


@dataclass(frozen=True)
class Judged:
    """The results.

    Attributes:
        mistakes: the costs.
        truth: classes, or nodes above them, (N).
        left_out: the number of rows without a usable truth.
        lines: all rules; the most probable class first.
        temperature: fitted on all examples, for new ones.
        temperatures: one per fold, fitted on the others.
        gain: by how many nats per example the temperature of the other folds makes the truth
            likelier.
        nll: as is, and calibrated on the other folds.
        calibration_error: the same.
        reliability: the same.
        curves: kind of probabilities -> cost against share answered, for the cost's own rule.
        node_curve: risk against coverage of a tree's nodes, on the sample.
        thresholds: for quadratic kappa, fitted on all examples, for new ones; None if unordered.
    """

    mistakes: Mistakes
    truth: Tensor
    left_out: int
    lines: tuple[Line, ...]
    temperature: float
    temperatures: tuple[float, ...]
    gain: Estimate
    nll: tuple[float, float]
    calibration_error: tuple[float, float]
    reliability: tuple[Reliability, Reliability]
    curves: dict[str, Curve]
    node_curve: Curve | None
    thresholds: tuple[float, ...] | None

    @property
    def baseline(self) -> Line:
        """The most probable class."""
        return self.lines[0]

    @property
    def is_calibrated_better(self) -> bool:
        """Whether a temperature clearly makes the truth likelier."""
        return _better_kind(self.gain) == CALIBRATED

    @property
    def own(self) -> Line:
        """The cost's own rule, on the probabilities that are more likely.

        Chosen without looking at its cost, so that the comparison is that of a single rule.
        """
        own = [line for line in self.lines if line.rule == self.mistakes.rule]
        wanted = _better_kind(self.gain)
        return next((line for line in own if line.probabilities == wanted), own[0])

    @cached_property
    def difference(self) -> Estimate:
        """How much more the cost's own rule costs than the most probable class."""
        return change(self.own.costs, self.baseline.costs)

    @property
    def stays(self) -> bool:
        """Whether the most probable class is clearly better than the own rule, or costs nothing."""
        is_other = self.own is not self.baseline
        return is_other and (self.difference.low > 0 or math.isnan(self.difference.value))

    @property
    def chosen(self) -> Line:
        """What to answer by."""
        return self.baseline if self.stays else self.own


def judged(
    file: ProbabilityFile, mistakes: Mistakes, *, truth: str, superclass: str | None = None
) -> Judged:
    """Compare all rules.

    Args:
        file: the probabilities.
        mistakes: the costs.
        truth: the column of true classes; with a tree, it may also name inner nodes.
        superclass: the column that names a node of the tree if the class is unknown.
    """
    truths = Truths(file, mistakes, truth, superclass)
    labels, sample = first_pass(file, truths)
    temperatures = temperatures_of(sample)
    second = SecondPass(mistakes, temperatures)
    for part, own in zip(file.parts(), labels, strict=True):
        second.add(part, own)
    y = torch.cat(second.truth)
    left_out = sum(map(len, labels)) - len(y)
    return _summed_up(mistakes, second, y, left_out, sample)


def _summed_up(
    mistakes: Mistakes, second: SecondPass, y: Tensor, left_out: int, sample: Sample
) -> Judged:
    fold, gain = torch.cat(second.fold), second.gain()
    answers = {key: torch.cat(given) for key, given in second.answers.items()}
    lines = [_line(mistakes, rule, kind, a, y) for (rule, kind), a in answers.items()]
    cuts = None
    count = len(mistakes.order.names)
    if mistakes.order.is_ordered and count <= _MOST_ORDERED and int(y.max()) < count:
        kind = _better_kind(gain)
        aim = aim_of("quadratic_kappa", count, None, None)
        scores, classes = torch.cat(second.scores[kind]), torch.arange(count)
        held_out = held_out_answers(scores, y, aim, classes, fold)
        lines.append(_line(mistakes, KAPPA, kind, held_out, y))
        cuts = tuple(best_cuts(scores, y, aim, classes).tolist())
    lines.append(_constant(mistakes, y, fold))
    own = {line.probabilities: line for line in lines if line.rule == mistakes.rule}
    curves = {
        kind: abstention_points(torch.cat(second.expected[kind]), own[kind].costs) for kind in own
    }
    nodes = (
        node_curve(sample.probabilities, sample.truth, mistakes.tree)
        if mistakes.tree is not None and len(sample.truth)
        else None
    )
    return Judged(
        mistakes,
        y,
        left_out,
        tuple(lines),
        second.temperatures[-1],
        second.temperatures[:-1],
        gain,
        second.value("nll"),
        second.value("calibration_error"),
        (
            reliability_of(second.sums["calibration_error", AS_IS]),
            reliability_of(second.sums["calibration_error", CALIBRATED]),
        ),
        curves,
        nodes,
        cuts,
    )


def _better_kind(gain: Estimate) -> str:
    return CALIBRATED if gain.low > 0 and gain.value >= _WORTHWHILE else AS_IS


def _line(mistakes: Mistakes, rule: str, kind: str, answers: Tensor, y: Tensor) -> Line:
    has_nodes = int(y.max()) >= len(mistakes.order.names)
    right = (
        metrics.node_accuracy(answers, y, mistakes.tree)
        if has_nodes
        else metrics.accuracy(answers, y)
    )
    is_ordered = mistakes.order.is_ordered and not has_nodes
    kappa = metrics.quadratic_kappa(answers, y) if is_ordered else None
    return Line(rule, kind, mistakes.of_answers(answers, y), answers, right, kappa)


def _constant(mistakes: Mistakes, y: Tensor, fold: Tensor) -> Line:
    """Always the same answer, the best on the other folds."""
    count = len(mistakes.order.names)
    answers = torch.empty_like(y)
    for part in range(FOLDS):
        others = y[(fold != part) & (y < count)]
        counts = torch.bincount(others, minlength=count).double()
        shares = counts / counts.sum() if counts.sum() > 0 else torch.full_like(counts, 1 / count)
        answers[fold == part] = decide(shares, mistakes.cost, positions=mistakes.positions)
    most = mistakes.order.names[int(answers.mode().values)]
    return _line(mistakes, f"always {most!r}", "", answers, y)
