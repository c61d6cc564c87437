"""The one question: whether what validation chose is better on test than the baseline."""

from dataclasses import dataclass, replace

from ...statistics import Comparison
from ...statistics.resampled import shrunken
from .candidates import (
    FEWEST_RUNS,
    Candidate,
    best_on_validation,
    candidates,
    compared,
    compared_values,
    runs_wanted,
)
from .findings import baseline
from .results import Results, Row

# The smallest gain that is worth having, as a share of what it was.
WORTHWHILE = 0.01

# What is listed first of what is as good: the fewest new ideas.
_SIMPLEST_FIRST = (
    "linear",
    "cross-entropy",
    "soft-target",
    "simloss",
    "proper",
    "blended",
    "regression",
    "boosted-regression",
    "boosting",
)


@dataclass(frozen=True)
class Question:
    """One candidate, tested once on test data against another.

    Attributes:
        against: what it is compared with.
        candidate: what was chosen on validation data.
        comparison: of their test values.
        worthwhile: the smallest gain that is worth having, as a share of what it was.
        runs_wanted: with how many runs such a difference would be told; None for no number.
    """

    against: Candidate
    candidate: Candidate
    comparison: Comparison
    worthwhile: float
    runs_wanted: int | None

    @property
    def gain(self) -> float:
        """By how much it is better, as a share of what it was."""
        better = 1 if self.comparison.is_better else -1
        return better * abs(self.comparison.difference) / max(abs(self.comparison.baseline), 1e-300)

    @property
    def expected(self) -> float:
        """The value to expect of fresh data: what was found, less what luck has added to it."""
        return self.comparison.baseline + shrunken(self.comparison)

    @property
    def has_runs(self) -> bool:
        """Whether there are enough runs to say anything."""
        return self.comparison.runs >= FEWEST_RUNS

    @property
    def is_clear(self) -> bool:
        """Whether it is better beyond doubt, by however little."""
        return self.has_runs and self.comparison.mark == "+"

    @property
    def is_yes(self) -> bool:
        """Whether it is better beyond doubt, and by enough."""
        return self.is_clear and self.gain >= self.worthwhile


@dataclass(frozen=True)
class Judgement:
    """What is known of a run, and what we would use.

    Attributes:
        baseline: cross entropy under the decision that is best for it on validation data.
        constant: the answer that is best if it is always given, where that is recorded.
        learned: the baseline against that answer, or what we would use if that learned more.
        decision: the baseline against cross entropy's most probable class.
        similarity: the best candidate with similarity against the baseline.
        other: the best of all others, such as boosted trees, against the best so far.
        recommendation: what we would use; None where nothing was learned or compared.
        as_good: what cannot be told apart from the recommendation, the simplest first.
    """

    baseline: Candidate | None = None
    constant: str | None = None
    learned: Comparison | None = None
    decision: Question | None = None
    similarity: Question | None = None
    other: Question | None = None
    recommendation: Candidate | None = None
    as_good: tuple[Candidate, ...] = ()

    @property
    def learned_nothing(self) -> bool:
        """Whether always giving one answer is as good, as far as the runs can tell."""
        if self.learned is None:
            return False
        has_runs = self.learned.runs >= FEWEST_RUNS
        return not self.learned.is_better or (has_runs and self.learned.mark != "+")


def judgement(results: Results, worthwhile: float = WORTHWHILE) -> Judgement:
    """Choose on validation data over all runs, test once on test data."""
    base = baseline(results)
    if base is None or results.baseline is None or results.is_one_net:
        return Judgement()
    first = Candidate(base.row, results.rules[0])
    decision = None if base == first else _question(results, first, base, 0.0)
    rows = [row for row in results.done if not row.is_baseline]
    with_similarity = [row for row in rows if row.uses_similarity]
    similarity = _asked(results, base, with_similarity, worthwhile)
    best = similarity.candidate if similarity and similarity.is_yes else base
    others = [row for row in rows if not row.uses_similarity]
    other = _asked(results, best, others, worthwhile)
    best = other.candidate if other and other.is_yes else best
    answer, learned = _learned(results, base, best)
    made = Judgement(base, answer, learned, decision, similarity, other)
    if made.learned_nothing or (decision is similarity is other is None):
        return made
    as_good = () if best == base else _as_good(results, best, rows)
    return replace(made, recommendation=best, as_good=as_good)


def _asked(
    results: Results, against: Candidate, rows: list[Row], worthwhile: float
) -> Question | None:
    best = best_on_validation(results, candidates(results, rows))
    return None if best is None else _question(results, against, best, worthwhile)


def _question(
    results: Results, against: Candidate, candidate: Candidate, worthwhile: float
) -> Question | None:
    comparison = compared(results, against, candidate)
    if comparison is None:
        return None
    wanted = runs_wanted(results, against, candidate)
    return Question(against, candidate, comparison, worthwhile, wanted)


def _learned(
    results: Results, base: Candidate, best: Candidate
) -> tuple[str | None, Comparison | None]:
    """The answer that is best if always given, and what the nets make of the data beside it."""
    name = results.metric.name
    values = base.row.constants.get(name, {})
    if not values:
        return None, None
    answers = list(base.row.answers[name].values())
    found = [
        compared_values(results, values, each.row.by_seed("test", each.rule, name))
        for each in (base, best)
    ]
    clear = next((each for each in found if each and each.mark == "+"), found[0])
    return max(answers, key=answers.count), clear


def _as_good(results: Results, best: Candidate, rows: list[Row]) -> tuple[Candidate, ...]:
    """Of every other family the best on validation that test data does not tell from it."""
    families: dict[str, list[Row]] = {}
    for row in rows:
        families.setdefault(row.family, []).append(row)
    families.pop(best.row.family)
    found = []
    for members in families.values():
        own = best_on_validation(results, candidates(results, members))
        comparison = compared(results, best, own) if own else None
        if own and comparison and not comparison.is_significant:
            found.append(own)
    return tuple(sorted(found, key=lambda each: _place(each.row)))


def _place(row: Row) -> tuple[int, bool]:
    loss, last = row.treatment["loss"], len(_SIMPLEST_FIRST)
    place = _SIMPLEST_FIRST.index(loss) if loss in _SIMPLEST_FIRST else last
    return place, bool(row.treatment.get("options"))
