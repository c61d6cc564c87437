"""What may be used: a treatment with a decision rule, chosen on validation, compared on test."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ...statistics import Comparison, resampled_comparison, runs_to_tell
from .results import BySeed, Results, Row
from .wording import answered_by

# Fewer runs than this tell nothing, whatever their numbers.
FEWEST_RUNS = 5


@dataclass(frozen=True)
class Candidate:
    """A treatment and a decision rule, whatever made it: a net, boosted trees, a regression.

    Attributes:
        row: the treatment, with its numbers.
        rule: the decision rule.
    """

    row: Row
    rule: str

    def __str__(self) -> str:
        return f"{self.row.label}, answered by {answered_by(self.rule)}"

    def value(self, results: Results) -> float:
        """Its mean on test data."""
        return self.row.mean("test", self.rule, results.metric.name)


def candidates(results: Results, rows: Iterable[Row]) -> list[Candidate]:
    """Each row under each rule that it was measured by; a regression has its own.

    Without validation numbers nothing can be chosen; what stands alone need not be.
    """
    part = "test" if len(results.rows) == 1 else "validation"
    made = [Candidate(row, rule) for row in rows for rule in results.rules]
    return [each for each in made if _values(results, each, part)]


def best_on_validation(results: Results, pool: list[Candidate]) -> Candidate | None:
    """The one of best mean on validation data, the first of equals.

    Among those that have the most runs in common with cross entropy, and over the runs that all of
    these have: nothing must look better for having failed on the hard ones.
    """
    if not pool:
        return None
    sign = 1 if results.metric.higher_is_better else -1
    shared = [(each, _common(results, each)) for each in pool]
    most = max(len(seeds) for _, seeds in shared)
    able = [(each, seeds) for each, seeds in shared if len(seeds) == most]
    seeds = set.intersection(*(seeds for _, seeds in able))
    if not seeds:  # each failed on another one, or it stands alone
        return max(pool, key=lambda each: score(results, each.row, each.rule))
    return max(
        (each for each, _ in able),
        key=lambda each: sign * math.fsum(_values(results, each, "validation")[s] for s in seeds),
    )


def compared(results: Results, first: Candidate, second: Candidate) -> Comparison | None:
    """The second against the first on test data, over the runs that both have."""
    return compared_values(results, _values(results, first), _values(results, second))


def compared_values(results: Results, first: BySeed, second: BySeed) -> Comparison | None:
    """The same of numbers by seed."""
    seeds = sorted(first.keys() & second.keys())
    if not seeds:
        return None
    return resampled_comparison(
        [first[s] for s in seeds],
        [second[s] for s in seeds],
        higher_is_better=results.metric.higher_is_better,
        test_to_train=results.test_to_train,
    )


def runs_wanted(results: Results, first: Candidate, second: Candidate) -> int | None:
    """How many runs would tell the two apart if they went on like this; None for no number."""
    one, other = _values(results, first), _values(results, second)
    seeds = sorted(one.keys() & other.keys())
    if not seeds:
        return None
    return runs_to_tell(
        [one[s] for s in seeds], [other[s] for s in seeds], test_to_train=results.test_to_train
    )


def score(results: Results, row: Row, rule: str) -> float:
    """The mean on validation data, higher is better; NaN where there is none."""
    mean = row.mean("validation", rule, results.metric.name)
    return mean if results.metric.higher_is_better else -mean


def _values(results: Results, each: Candidate, part: str = "test") -> BySeed:
    return each.row.by_seed(part, each.rule, results.metric.name)


def _common(results: Results, each: Candidate) -> set[int]:
    """Its runs with both numbers that cross entropy has too."""
    own = _values(results, each, "validation").keys() & _values(results, each).keys()
    base = results.baseline
    return own if base is None or base is each.row else own & base.cells.keys()
