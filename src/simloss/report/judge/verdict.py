"""The verdict: whether similarity helps here, and what we would use."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ... import metrics
from ...experiment.plan.config import Config
from ...statistics import runs_needed, significance_note
from .findings import Finding, findings, is_ahead, score
from .paper_table import Table, tables
from .results import Record, Results, Row
from .snippet import snippet
from .wording import answered_by, listed, numbers, runs


@dataclass(frozen=True)
class Recommendation:
    """What we would use: a treatment and a decision rule.

    Attributes:
        row: the treatment, with its numbers.
        rule: the decision rule.
    """

    row: Row
    rule: str

    def __str__(self) -> str:
        return f"{self.row.label}, answered by {answered_by(self.rule)}"


@dataclass(frozen=True)
class Verdict:
    """What a run says about the question whether similarity helps.

    Attributes:
        sentence: the verdict, for a layman.
        recommendation: what we would use; cross entropy may win. None where nothing is compared.
        notes: what a careful reader should know, a sentence each.
        findings: one a family and rule: the chosen treatment and its comparison.
        helps: whether any similarity is significantly better than cross entropy under the same
            decision, after Holm's correction.
        can_tell: whether the number of runs can show a difference at all.
        results: the numbers behind it.
    """

    sentence: str
    recommendation: Recommendation | None
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    helps: bool
    can_tell: bool
    results: Results

    @cached_property
    def tables(self) -> list[Table]:
        """Every treatment, one table a decision rule."""
        return tables(self.results)

    @property
    def table(self) -> str:
        """For a terminal: what was found, a line each, the recommended one marked."""
        from .terminal import table

        return table(self)

    def __str__(self) -> str:
        return "\n".join([self.sentence, "", self.table, "", *self.advice, *self.notes])

    @property
    def advice(self) -> list[str]:
        """The recommendation in a sentence, if there is one, and what to write for it."""
        if self.recommendation is None:
            return []
        hedge = "" if self.can_tell else ", by tendency"
        code = snippet(self.recommendation.row.treatment, self.recommendation.rule)
        said = f"We would use{hedge}: {self.recommendation}."
        return [said, *([f"In code: {code}"] if code else [])]


def verdict(records: Iterable[Record], config: Config, *, unit: str | None = None) -> Verdict:
    """The verdict of a run's records.

    The parameter of each family is chosen on validation data, under each decision rule by itself;
    the verdict is on test data. A family helps if it is significantly better than cross entropy
    **under the same decision**, after Holm's correction over all families and rules.

    Args:
        records: of :meth:`simloss.experiment.grid.store.RunFolder.records`.
        config: the experiment they belong to. Its first metric that knows some mistakes to be
            worse than others is the one that counts.
        unit: of the classes, such as years; known of the sources that come with the package.

    Example:
        >>> from simloss.experiment.plan.config import Config, DataConfig
        >>> from simloss.experiment.plan.treatment import treatments
        >>> arms = treatments(["simloss"], "order", [0.5])
        >>> config = Config("ages", DataConfig("abalone"), "mlp", tuple(arms), (0,), ("mae",))
        >>> def record(arm, error):
        ...     numbers = {"argmax": {"mae": error}}
        ...     words = {"label": arm.label, "family": arm.family, "parameter": arm.parameter}
        ...     return {"cell": arm.label, "status": "done", "seed": 0,
        ...             "treatment": arm.as_dict() | words,
        ...             "metrics": {"validation": numbers, "test": numbers}}
        >>> found = verdict([record(arms[0], 1.6), record(arms[1], 1.5)], config)
        >>> print(found.sentence)
        A tendency only, from 1 run: similarity (SimLoss, r = 0.5) lowers the mean error from 1.60
        to 1.50 rings (−6 %).
        >>> print(found.recommendation)
        SimLoss, r = 0.5, answered by the most probable class
    """
    return verdict_of(Results.of(records, config, unit))


def verdict_of(results: Results) -> Verdict:
    """The same of rows already made."""
    from .sentence import sentence

    found = findings(results)
    alone = len(results.rows) == 1  # nothing to choose from
    can_tell = _can_tell(found) and (alone or results.baseline is not None)
    # Cross entropy under one decision, and no run of anything else beside its own: no contest.
    no_contest = results.baseline is not None and not any(each.comparison for each in found)
    recommendation = None if alone or no_contest else _recommended(results, found, can_tell)
    return Verdict(
        sentence=sentence(results, found, recommendation, can_tell),
        recommendation=recommendation,
        notes=tuple(_notes(results, found, recommendation)),
        findings=tuple(found),
        helps=any(each.is_better and each.row.uses_similarity for each in found),
        can_tell=can_tell,
        results=results,
    )


def _compared(found: list[Finding]) -> tuple[int, int]:
    """The runs of the comparison with the most, and the number of comparisons.

    Cross entropy's own answers are compared on all its runs, which says nothing about the others.
    """
    made = [each for each in found if each.comparison]
    counted = [each for each in made if not each.row.is_baseline] or made
    most = max((each.comparison.runs for each in counted if each.comparison), default=0)
    return most, len(made)


def _can_tell(found: list[Finding]) -> bool:
    count, comparisons = _compared(found)
    return not comparisons or count >= runs_needed(comparisons)


def _recommended(results: Results, found: list[Finding], can_tell: bool) -> Recommendation | None:
    """The best on validation of cross entropy and all that is significantly better than it.

    With too few runs to tell, what is ahead of it on test data too takes the place of what is
    significantly better; without cross entropy, all.
    """
    if results.baseline is None:
        allowed = found
    else:
        allowed = [each for each in found if _may_be_used(results, each, can_tell)]
    known = [each for each in allowed if not math.isnan(score(results, each.row, each.rule))]
    if not known:
        return None
    best = max(known, key=lambda each: score(results, each.row, each.rule))
    return Recommendation(best.row, best.rule)


def _may_be_used(results: Results, each: Finding, can_tell: bool) -> bool:
    """Cross entropy at argmax may always; its other decisions are compared with that."""
    if each.row.is_baseline and each.rule == results.rules[0]:
        return True
    if not can_tell:
        return is_ahead(results, each)
    return not each.is_worse if each.row.is_baseline else each.is_better


def _notes(results: Results, found: list[Finding], best: Recommendation | None) -> list[str]:
    notes = [_price(results, best)]
    count, comparisons = _compared(found)
    if comparisons:
        notes += [significance_note(count, comparisons)]
    notes += _uneven(results, found, count, comparisons)
    if count > 1 and not results.config.split.new_for_each_seed:
        notes += [
            "All runs share one split of the data, so p speaks of the noise of training only."
        ]
    if count > 1 and results.config.split.keep_test:
        notes += [
            "All runs are judged on the same test examples, so p speaks of the noise of training "
            "and of how the rest was split."
        ]
    failed = sum(len(row.failures) for row in results.rows)
    if failed:
        notes += [f"{runs(failed)} failed and {'is' if failed == 1 else 'are'} left out."]
    seeds = set(results.config.seeds)
    asked = results.rows[: len(results.config.treatments)]  # the others come last
    missing = sum(len(seeds - row.cells.keys() - row.failures.keys()) for row in asked)
    if missing:
        wanted = len(seeds) * len(asked)
        verb = "is" if missing == 1 else "are"
        notes += [f"{missing:,} of {wanted:,} runs {verb} not there yet."]
    return [note for note in notes if note]


def _uneven(results: Results, found: list[Finding], most: int, comparisons: int) -> list[str]:
    """What to know of treatments that have other runs than cross entropy."""
    base = results.baseline
    if base is None:
        return []
    others = [row.label for row in results.done if row.cells.keys() != base.cells.keys()]
    if not others:
        return []
    notes = [
        f"{_treatments(others)} other runs than cross entropy: what is shown is cross entropy's "
        f"number and the mean difference on the runs that both have."
    ]
    needed = runs_needed(comparisons) if comparisons else 0
    few = {each.row.label for each in found if each.comparison and each.comparison.runs < needed}
    if few and most >= needed:
        notes += [f"{_treatments(sorted(few))} too few runs to tell."]
    return notes


def _treatments(labels: list[str]) -> str:
    """As in "3 treatments have"."""
    return f"{labels[0]} has" if len(labels) == 1 else f"{len(labels):,} treatments have"


def _price(results: Results, best: Recommendation | None) -> str | None:
    """What the recommended treatment does to all else that is measured."""
    if best is None or best.row.is_baseline or results.baseline is None:
        return None
    parts = []
    for metric in (metrics.find(name) for name in results.columns):
        rows = (results.baseline, best.row)
        before, after = (row.mean("test", best.rule, metric.name) for row in rows)
        if metric.name != results.metric.name and not math.isnan(before + after):
            shown = numbers(metric, before, after)
            if shown[0] != shown[1]:
                parts.append(f"{metric.label} from {shown[0]} to {shown[1]}")
    if not parts:
        return None
    return f"With it, against cross entropy under the same decision: {listed(parts)}."
