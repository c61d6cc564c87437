"""The conclusions, in plain sentences that say what to do."""

import math
from dataclasses import dataclass

from ... import _checks
from .estimates import Estimate
from .judged import KAPPA, Judged, Line
from .passes import CALIBRATED

# The share of examples that still get an answer when the advice is to leave some out.
_ANSWERED = 0.8


@dataclass(frozen=True)
class Verdict:
    """The verdict in words.

    Attributes:
        sentence: the answer.
        advice: what to do.
        notes: what else a reader should know.
        mood: "helps", "tendency" or "".
    """

    sentence: str
    advice: tuple[str, ...]
    notes: tuple[str, ...]
    mood: str


def verdict(found: Judged) -> Verdict:
    """The verdict on the results."""
    mood = "" if found.chosen is found.baseline else "tendency"
    if mood and found.difference.high < 0:
        mood = "helps"
    advice = [_calibration(found), *_abstaining(found), *_kappa(found)]
    return Verdict(_sentence(found), tuple(advice), tuple(_notes(found)), mood)


def _sentence(found: Judged) -> str:
    own, baseline, mistakes = found.own, found.baseline, found.mistakes
    plain, count, difference = Estimate.of(baseline.costs), len(found.truth), found.difference
    if own is baseline:
        return (
            f"If every mistake costs the same, the most probable class is the right answer: "
            f"{percent(plain.value)} of {count:,} examples are answered wrong "
            f"(95 % interval {percent(plain.low)} to {percent(plain.high)})."
        )
    measured = (
        f"{mistakes.noun} is {number(float(own.costs.mean()))}{mistakes.unit} instead of "
        f"{number(plain.value)} by the most probable class"
    )
    over = f"over {count:,} examples"
    if math.isnan(difference.value):
        return f"The most probable class is right in all {count:,} examples: nothing to gain."
    if difference.high < 0:
        return (
            f"Answer by {_rule(found, own)}: {measured}, {percent(-difference.value)} less "
            f"(95 % interval {percent(-difference.high)} to {percent(-difference.low)}) {over}."
        )
    if difference.low > 0:
        return (
            f"Stay with the most probable class: by {_rule(found, own)} {measured}, "
            f"{percent(difference.value)} more (95 % interval {percent(difference.low)} to "
            f"{percent(difference.high)}) {over}. The probabilities are not calibrated well enough."
        )
    return (
        f"{_rule(found, own, begins=True)} and the most probable class do not differ clearly: "
        f"{measured}, {signed(difference.value)} (95 % interval {signed(difference.low)} to "
        f"{signed(difference.high)}) {over}."
    )


def _rule(found: Judged, line: Line, *, begins: bool = False) -> str:
    rule = f"{line.rule[0].upper()}{line.rule[1:]}" if begins else line.rule
    is_calibrated = line.probabilities == CALIBRATED
    return f"{rule} at temperature {found.temperature:.3g}" if is_calibrated else rule


def _calibration(found: Judged) -> str:
    before, after = found.calibration_error
    if not found.is_calibrated_better:
        return (
            f"The probabilities are about as sure as they should be: their calibration error is "
            f"{percent(before)}."
        )
    how = "too sure of themselves" if found.temperature > 1 else "not sure enough of themselves"
    return (
        f"The probabilities are {how}: a temperature of {found.temperature:.3g} makes the truth "
        f"more likely, by {found.gain.value:.3g} nats per example, on examples it was "
        f"not fitted on; the calibration error changes from {percent(before)} to {percent(after)}."
    )


def _abstaining(found: Judged) -> list[str]:
    if found.stays:
        return []  # its expected costs are not those of this answer
    curve = found.curves[found.own.probabilities]
    reached = [at for at, share in enumerate(curve.coverage) if share >= _ANSWERED]
    at = reached[-1] if reached else 0
    if curve.coverage[at] == 1 or curve.risk[at] >= curve.risk[0]:
        return []
    return [
        f"If the {percent(1 - curve.coverage[at], 0)} of examples with the highest expected cost "
        f"get no answer, {found.mistakes.noun} is {number(curve.risk[at])}"
        f"{found.mistakes.unit} instead of {number(curve.risk[0])}: "
        f"--abstain {curve.threshold[at]:.3g}."
    ]


def _kappa(found: Judged) -> list[str]:
    line = next((line for line in found.lines if line.rule == KAPPA), None)
    if line is None or line.kappa is None:
        return []
    others = [each for each in found.lines if each.kappa is not None and each is not line]
    best = max(others, key=lambda each: each.kappa or 0.0)
    if line.kappa <= (best.kappa or 0.0):
        return []
    return [
        f"If quadratic kappa matters, thresholds on the expected class reach "
        f"{line.kappa:.3f}, {best.rule} {best.kappa:.3f}: simloss.fit_thresholds in Python."
    ]


def _notes(found: Judged) -> list[str]:
    notes = []
    if found.left_out:
        lacking = "row without a known class is", "rows without a known class are"
        notes.append(f"{_checks.counted(found.left_out, *lacking)} left out.")
    nodes = int((found.truth >= len(found.mistakes.order.names)).sum())
    if nodes:
        named = _checks.counted(nodes, "row names", "rows name")
        notes.append(f"{named} only an inner node: an answer below it counts as right.")
    constant = found.lines[-1]
    if constant.costs.mean() <= found.chosen.costs.mean():
        notes.append(f"Answering {constant.rule} would not cost more.")
    return notes


def percent(value: float, digits: int | None = None) -> str:
    """A share, with one digit after the point, or two if it is small.

    Example:
        >>> percent(0.0671), percent(0.0051), percent(0.2, 0)
        ('6.7 %', '0.51 %', '20 %')
    """
    if digits is None:
        digits = 1 if abs(value) >= 0.01 else 2
    return f"{100 * value:.{digits}f} %"


def signed(value: float) -> str:
    """A change, with its sign.

    Example:
        >>> signed(-0.012), signed(0.0004)
        ('-1.2 %', '+0.04 %')
    """
    return f"{'-' if value < 0 else '+'}{percent(abs(value))}"


def number(value: float) -> str:
    """With three significant digits.

    Example:
        >>> number(0.43126), number(1.3), number(0.0000123), number(1234.5)
        ('0.431', '1.30', '1.23e-05', '1,234')
    """
    size = abs(value)
    if 0 < size < 1e-2:
        return f"{value:.3g}"
    digits = 3 if size < 1 else max(0, 2 - math.floor(math.log10(size)))
    return f"{value:,.{digits}f}"
