"""The verdict: whether similarity helps here, and what we would use."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ... import metrics
from ...experiment.plan.config import Config
from ...statistics import Relabelling
from .candidates import FEWEST_RUNS, Candidate
from .findings import Finding, findings
from .judgement import WORTHWHILE, Judgement, Question, judgement
from .paper_table import Table, tables
from .results import Record, Results
from .sentence import about_relabelling, is_often_right, sentence
from .snippet import snippet, trained_how
from .wording import listed, numbers, one_line, runs

_ABOUT_INTERVALS = (
    "The intervals allow for splits that share examples, but not for another sample of the data."
)


@dataclass(frozen=True)
class Verdict:
    """What a run says about the question whether similarity helps.

    Attributes:
        sentence: the verdict, for a layman.
        notes: what a careful reader should know, a sentence each.
        judgement: the one question, its answer and what else was asked.
        findings: one per family and rule: the chosen treatment and its comparison.
        results: the numbers behind it.
        relabelling: whether cross entropy's own mistakes know of the similarity, where the run
            folder tells.
        command: what trains the recommendation, where there is a run folder.
    """

    sentence: str
    notes: tuple[str, ...]
    judgement: Judgement
    findings: tuple[Finding, ...]
    results: Results
    relabelling: Relabelling | None = None
    command: str | None = None

    @property
    def recommendation(self) -> Candidate | None:
        """What we would use; None where nothing was learned or nothing is compared."""
        return self.judgement.recommendation

    @property
    def helps(self) -> bool:
        """Whether training with similarity is better than cross entropy, by enough to matter."""
        found = self.judgement.similarity
        is_refuted = self.relabelling is not None and self.relabelling.is_real is False
        is_asked = not self.judgement.learned_nothing and not is_refuted
        return found is not None and found.is_yes and is_asked

    @property
    def can_tell(self) -> bool:
        """Whether there are runs enough to say anything."""
        asked = (self.judgement.similarity, self.judgement.other)
        return all(each is None or each.has_runs for each in asked)

    @cached_property
    def tables(self) -> list[Table]:
        """Every treatment, one table per decision rule."""
        return tables(self.results)

    @property
    def table(self) -> str:
        """For a terminal: what was found, a line each, the recommended one marked."""
        from .terminal import table

        return table(self)

    def __str__(self) -> str:
        from .terminal import legend

        below = [*legend(self), "", *self.advice, *self.notes]
        return "\n".join([one_line(self.sentence), "", self.table, *map(one_line, below)])

    @property
    def advice(self) -> list[str]:
        """The recommendation in a sentence, if there is one, and what to write for it."""
        best = self.recommendation
        if best is None:
            return []
        code = snippet(best.row.treatment, best.rule)
        lines = [f"We would use: {best}.", f"In code: {code}" if code else ""]
        how = trained_how(best.row.treatment, best.rule, self.results.config.rules[-1])
        lines += [f"To train it {how}: {self.command}" if self.command else ""]
        return [line for line in lines if line]

    def as_dict(self) -> dict[str, Any]:
        """The judgement as plain values, as JSON holds them."""
        found, best = self.judgement, self.recommendation
        learned = found.learned
        return {
            "sentence": self.sentence,
            "metric": self.results.metric.name,
            "higher_is_better": self.results.metric.higher_is_better,
            "learned_nothing": found.learned_nothing,
            "constant": learned and {"answer": found.constant, "value": learned.baseline},
            "baseline": _plain(self.results, found.baseline),
            "decision": _answer(self.results, found.decision),
            "similarity": _answer(self.results, found.similarity),
            "other": _answer(self.results, found.other),
            "similarity_helps": self.helps,
            "similarity_is_real": _real(self.relabelling),
            "recommendation": _plain(self.results, best),
            "as_good": [_plain(self.results, each) for each in found.as_good],
            "code": snippet(best.row.treatment, best.rule) if best else None,
            "command": self.command,
            "notes": list(self.notes),
        }


def _plain(results: Results, each: Candidate | None) -> dict[str, Any] | None:
    if each is None:
        return None
    value = each.value(results)
    return {"label": each.row.label, "decision": each.rule, "value": value}


def _answer(results: Results, asked: Question | None) -> dict[str, Any] | None:
    if asked is None:
        return None
    low, high = asked.comparison.interval
    return {
        "candidate": _plain(results, asked.candidate),
        "against": _plain(results, asked.against),
        "is_better": asked.is_yes,
        "difference": asked.comparison.difference,
        "expected_value": asked.expected,
        "interval": None if math.isnan(low) else [low, high],
        "p_value": asked.comparison.p_value,
        "runs": asked.comparison.runs,
        "runs_won": asked.comparison.wins,
        "runs_to_tell": asked.runs_wanted,
        "worthwhile": asked.worthwhile,
    }


def _real(found: Relabelling | None) -> dict[str, Any] | None:
    if found is None or not found.can_tell:
        return None
    return {"is_real": found.is_real, "p_value": found.p_value, "fit": found.fit}


def verdict(
    records: Iterable[Record],
    config: Config,
    *,
    unit: str | None = None,
    worthwhile: float = WORTHWHILE,
) -> Verdict:
    """The verdict of a run's records.

    One candidate with similarity (a loss, a value, a decision) is chosen on validation data over
    all runs, and tested once on test data against cross entropy under the decision that is best for
    it, chosen in the same way (:func:`simloss.statistics.resampled_comparison`). It helps where the
    test says so and the gain is worthwhile. If cross entropy does not clearly beat always giving
    one answer, nothing is recommended.

    Args:
        records: of :meth:`simloss.experiment.grid.store.RunFolder.records`.
        config: the experiment they belong to. Its first metric that knows some mistakes to be
            worse than others is the one that counts.
        unit: of the classes, such as years; known of the sources that come with the package.
        worthwhile: the smallest gain that is worth having, as a share of what cross entropy has.

    Example:
        >>> from simloss.experiment.plan.config import Config, DataConfig
        >>> from simloss.experiment.plan.treatment import treatments
        >>> arms = treatments(["simloss"], "order", [0.5])
        >>> config = Config("ages", DataConfig("abalone"), "mlp", tuple(arms), (0,), ("mae",))
        >>> def record(arm, seed, error):
        ...     numbers = {"argmax": {"mae": error + seed % 3 / 50}}
        ...     words = {"label": arm.label, "family": arm.family, "parameter": arm.parameter}
        ...     return {"cell": f"{arm.label} {seed}", "status": "done", "seed": seed,
        ...             "treatment": arm.as_dict() | words,
        ...             "metrics": {"validation": numbers, "test": numbers}}
        >>> runs = [record(arms[0], seed, 1.6) for seed in range(6)]
        >>> runs += [record(arms[1], seed, 1.5 + seed / 100) for seed in range(6)]
        >>> found = verdict(runs, config)
        >>> print(found.sentence)
        Answer by the most probable class: mean error 1.62 rings. Training with similarity lowers
        that to about 1.55 (−5 %, between −6 and −3 %; better in all 6 runs): SimLoss, r = 0.5.
        >>> print(found.recommendation)
        SimLoss, r = 0.5, answered by the most probable class
    """
    return verdict_of(Results.of(records, config, unit), worthwhile=worthwhile)


def verdict_of(
    results: Results,
    *,
    worthwhile: float = WORTHWHILE,
    relabelling: Relabelling | None = None,
    is_ordered: bool = True,
    command: str | None = None,
) -> Verdict:
    """The same of rows already made, and with what else a run folder knows."""
    found = judgement(results, worthwhile)
    said = sentence(results, found)
    real = about_relabelling(relabelling, is_ordered)
    is_asked = not found.learned_nothing or is_often_right(results, found)
    if real and relabelling and found.baseline and is_asked:
        said = f"{said} {real}"
        is_refuted = relabelling.is_real is False and results.metric.is_graded
        if is_refuted and found.recommendation:  # which went by the similarity
            plain = Candidate(found.baseline.row, results.rules[0])
            said = real
            found = replace(found, recommendation=plain, as_good=())
    return Verdict(
        said,
        tuple(_notes(results, found)),
        found,
        tuple(findings(results)),
        results,
        relabelling,
        command if found.recommendation else None,
    )


def _notes(results: Results, found: Judgement) -> list[str]:
    notes = [_price(results, found.recommendation)]
    asked = [each for each in (found.similarity, found.other) if each is not None]
    count = max((each.comparison.runs for each in asked), default=0)
    if count >= FEWEST_RUNS:
        notes += [_ABOUT_INTERVALS]
    notes += _uneven(results)
    if count > 1 and not results.config.split.new_for_each_seed:
        notes += [
            "All runs share one split of the data, so intervals speak of the noise of training "
            "only."
        ]
    if count > 1 and results.config.split.keep_test:
        notes += [
            "All runs are judged on the same test examples, so intervals speak of the noise of "
            "training and of how the rest was split."
        ]
    failed = sum(len(row.failures) for row in results.rows)
    if failed:
        notes += [f"{runs(failed)} failed and {'is' if failed == 1 else 'are'} left out."]
    seeds = set(results.config.seeds)
    asked_for = results.rows[: len(results.config.treatments)]  # the others come last
    missing = sum(len(seeds - row.cells.keys() - row.failures.keys()) for row in asked_for)
    if missing:
        wanted = len(seeds) * len(asked_for)
        verb = "is" if missing == 1 else "are"
        notes += [f"{missing:,} of {wanted:,} runs {verb} not there yet."]
    return [note for note in notes if note]


def _uneven(results: Results) -> list[str]:
    """What to know of treatments that have other runs than cross entropy."""
    base = results.baseline
    if base is None:
        return []
    others = [row.label for row in results.done if row.cells.keys() != base.cells.keys()]
    if not others:
        return []
    return [
        f"{_treatments(others)} other runs than cross entropy: what is shown is cross entropy's "
        f"number and the mean difference on the runs that both have."
    ]


def _treatments(labels: list[str]) -> str:
    """As in "3 treatments have"."""
    return f"{labels[0]} has" if len(labels) == 1 else f"{len(labels):,} treatments have"


def _price(results: Results, best: Candidate | None) -> str | None:
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
