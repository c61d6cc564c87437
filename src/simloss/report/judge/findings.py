"""What was found: each family under each decision rule, chosen on validation, judged on test."""

import math
from dataclasses import dataclass, replace

from ...statistics import Comparison, Runs, choose_on_validation, corrected, paired_comparison
from .results import Results, Row


@dataclass(frozen=True)
class Finding:
    """A family of treatments under one decision rule.

    Attributes:
        row: the treatment of the family whose parameter is best on validation data.
        rule: the decision rule.
        comparison: on test data against cross entropy under the same rule, corrected for all
            findings. For cross entropy itself: against its own answers at argmax. None where there
            is nothing to compare with.
    """

    row: Row
    rule: str
    comparison: Comparison | None

    @property
    def is_better(self) -> bool:
        """Significantly."""
        return self.comparison is not None and self.comparison.mark == "+"

    @property
    def is_worse(self) -> bool:
        """Significantly."""
        return self.comparison is not None and self.comparison.mark == "-"


def findings(results: Results) -> list[Finding]:
    """One a family and rule, cross entropy first under each rule.

    The parameter is chosen among the treatments that finished the most seeds, on the seeds that
    they share with cross entropy: a treatment must not look better for having failed on the hard
    ones.
    """
    found = []
    for rule in results.rules:
        if results.baseline:
            found.append(Finding(results.baseline, rule, _decision(results, rule)))
        for rows in results.families().values():
            finding = _family(results, rows, rule)
            if finding:
                found.append(finding)
    made = {i: each.comparison for i, each in enumerate(found) if each.comparison}
    judged = corrected(made)
    return [replace(each, comparison=judged.get(i)) for i, each in enumerate(found)]


def _decision(results: Results, rule: str) -> Comparison | None:
    """What answering by another rule does to cross entropy."""
    assert results.baseline is not None
    first, name = results.rules[0], results.metric.name
    before, after = (results.baseline.by_seed("test", each, name) for each in (first, rule))
    seeds = sorted(before.keys() & after.keys())
    if rule == first or not seeds:
        return None
    higher = results.metric.higher_is_better
    return paired_comparison(
        [before[s] for s in seeds], [after[s] for s in seeds], higher_is_better=higher
    )


def _family(results: Results, rows: list[Row], rule: str) -> Finding | None:
    if results.baseline is None and len(rows) == 1 and rows[0].cells:
        return Finding(rows[0], rule, None)  # nothing to choose from
    known = [row for row in rows if not math.isnan(score(results, row, rule))]
    if not known:
        return None
    best = max(known, key=lambda row: score(results, row, rule))
    if results.baseline is None:
        return Finding(best, rule, None)
    base = _seeds(results, results.baseline, rule)
    shared = [(row, _seeds(results, row, rule) & base) for row in known]
    most = max(len(seeds) for _, seeds in shared)
    eligible = [row for row, seeds in shared if len(seeds) == most]
    seeds = set.intersection(*(seeds for _, seeds in shared if len(seeds) == most))
    if not seeds:  # each failed on another seed: none can be chosen fairly, so none is chosen from
        eligible, seeds = [best], _seeds(results, best, rule) & base
    return _chosen(results, eligible, rule, sorted(seeds))


def _chosen(results: Results, rows: list[Row], rule: str, seeds: list[int]) -> Finding:
    assert results.baseline is not None
    if not seeds:
        return Finding(rows[0], rule, None)
    name = results.metric.name
    choice = choose_on_validation(
        _runs(results.baseline, rule, name, seeds),
        {"family": {i: _runs(row, rule, name, seeds) for i, row in enumerate(rows)}},
        higher_is_better=results.metric.higher_is_better,
    )["family"]
    row, comparison = rows[choice.parameter], choice.comparison
    if len(_seeds(results, row, rule) & _seeds(results, results.baseline, rule)) > len(seeds):
        # Its ranks are of the runs that all values share; a run they lack may speak against it.
        before, after = means(results, Finding(row, rule, comparison))
        comparison = replace(comparison, difference=after - before)
    return Finding(row, rule, comparison)


def score(results: Results, row: Row, rule: str) -> float:
    """The mean on validation data, higher is better; NaN where there is none."""
    mean = row.mean("validation", rule, results.metric.name)
    return mean if results.metric.higher_is_better else -mean


def means(results: Results, finding: Finding) -> tuple[float, float]:
    """Cross entropy's number on test data and the finding's, under the same decision.

    For cross entropy itself: its own at argmax, and under this decision.
    """
    assert results.baseline is not None
    name = results.metric.name
    before = results.rules[0] if finding.row.is_baseline else finding.rule
    return (
        results.baseline.mean("test", before, name),
        finding.row.mean("test", finding.rule, name),
    )


def is_ahead(results: Results, finding: Finding) -> bool:
    """Whether its mean on test data is better than what it is compared with."""
    if finding.comparison is None:
        return False
    before, after = means(results, finding)
    return after > before if results.metric.higher_is_better else after < before


def _seeds(results: Results, row: Row, rule: str) -> set[int]:
    """The seeds with a number on validation and on test data."""
    name = results.metric.name
    parts = (row.by_seed(part, rule, name) for part in ("validation", "test"))
    return set.intersection(*(set(part) for part in parts))


def _runs(row: Row, rule: str, name: str, seeds: list[int]) -> Runs:
    validation, test = (row.by_seed(part, rule, name) for part in ("validation", "test"))
    return Runs([validation[s] for s in seeds], [test[s] for s in seeds])
