"""Rules for the parameter before anything is tuned, each tested on data it was not made from."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from simloss.similarity import order

# Effective numbers of classes to aim at.
_AIMS = (1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 13.0)
# A data set with hardly any errors must not decide for all others: twice 3 % is still little.
_MOST = 0.25


@dataclass(frozen=True)
class Case:
    """A data set with one family under one decision: the errors by value of the parameter.

    Attributes:
        name: of the run.
        group: data sets of one group are left out together.
        classes: how many.
        examples: of the training part.
        nll: of cross entropy on validation data: how unsure the answers are.
        validation: r -> the mean error on validation data.
        test: r -> the same on test data.
        baseline: cross entropy's mean error on test data.
    """

    name: str
    group: str
    classes: int
    examples: int
    nll: float
    validation: dict[float, float]
    test: dict[float, float]
    baseline: float

    @property
    def tuned(self) -> float:
        """The r that validation data asks for."""
        return min(self.validation, key=self.validation.__getitem__)

    def regret(self, r: float) -> float:
        """By what share the test error at this r is above that of the tuned r."""
        return self.test[r] / self.test[self.tuned] - 1


Rule = Callable[[Case], float]
Fit = Callable[[Sequence[Case]], Rule]


def _constant(cases: Sequence[Case]) -> Rule:
    """The r that is best on average, by validation data."""
    shared = set.intersection(*(set(case.validation) for case in cases))
    best = min(sorted(shared), key=lambda r: sum(_excess(case, r) for case in cases))
    return lambda case: best


def _line(feature: Callable[[Case], float]) -> Fit:
    """A straight line from the feature to log(r / (1 - r)), by least squares."""

    def fit(cases: Sequence[Case]) -> Rule:
        x, y = [feature(case) for case in cases], [_logit(case.tuned) for case in cases]
        middle = sum(x) / len(x), sum(y) / len(y)
        spread = sum((a - middle[0]) ** 2 for a in x)
        both = sum((a - middle[0]) * (b - middle[1]) for a, b in zip(x, y, strict=True))
        slope = both / spread if spread else 0.0
        return lambda case: _nearest(case, middle[1] + slope * (feature(case) - middle[0]))

    return fit


def _effective(cases: Sequence[Case]) -> Rule:
    """The r that leaves a certain effective number of classes, the same everywhere."""

    def rule_for(aim: float) -> Rule:
        return lambda case: min(
            sorted(case.test),
            key=lambda r: abs(math.log(_effective_classes(case.classes, r) / aim)),
        )

    rules = [rule_for(aim) for aim in _AIMS]
    return min(rules, key=lambda rule: sum(_excess(case, rule(case)) for case in cases))


RULES: dict[str, Fit] = {
    "one r for all": _constant,
    "by the number of classes": _line(lambda case: math.log(case.classes)),
    "by training examples per class": _line(lambda case: math.log(case.examples / case.classes)),
    "by cross entropy's NLL": _line(lambda case: case.nll),
    "by effective classes": _effective,
}


def left_out(cases: Sequence[Case], fit: Fit) -> dict[str, tuple[float, float]]:
    """Name -> the r that a rule made from all other groups gives, and its regret."""
    found = {}
    for group in dict.fromkeys(case.group for case in cases):
        rule = fit([case for case in cases if case.group != group])
        for case in cases:
            if case.group == group:
                r = rule(case)
                found[case.name] = r, case.regret(r)
    return found


def _excess(case: Case, r: float) -> float:
    return min(_MOST, case.validation[r] / case.validation[case.tuned] - 1)


def _logit(r: float) -> float:
    return math.log(r / (1 - r))


def _nearest(case: Case, wanted: float) -> float:
    return min(sorted(case.test), key=lambda r: abs(_logit(r) - wanted))


@lru_cache
def _effective_classes(classes: int, r: float) -> float:
    return float(order(classes, r).diagnose().effective_classes or 1.0)
