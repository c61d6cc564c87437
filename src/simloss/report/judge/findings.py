"""What was found: each family under each decision rule, chosen on validation, judged on test."""

from dataclasses import dataclass, replace

from ...statistics import Comparison, corrected
from .candidates import FEWEST_RUNS, Candidate, best_on_validation, candidates, compared
from .results import Results, Row


@dataclass(frozen=True)
class Finding:
    """A family of treatments under one decision rule.

    Attributes:
        row: the treatment of the family whose parameter is best on validation data.
        rule: the decision rule.
        comparison: on test data against cross entropy under its own best decision, corrected for
            all findings; None for that one itself and where there is nothing to compare with.
    """

    row: Row
    rule: str
    comparison: Comparison | None

    @property
    def is_better(self) -> bool:
        """Significantly."""
        return self._mark == "+"

    @property
    def is_worse(self) -> bool:
        """Significantly."""
        return self._mark == "-"

    @property
    def _mark(self) -> str:
        made = self.comparison
        return made.mark if made is not None and made.runs >= FEWEST_RUNS else ""


def findings(results: Results) -> list[Finding]:
    """One per family and rule, cross entropy first under each rule."""
    base = None if results.is_one_net else baseline(results)
    groups = [[results.baseline] if results.baseline else [], *results.families().values()]
    found = []
    for rule in results.rules:
        for rows in groups:
            pool = [each for each in candidates(results, rows) if each.rule == rule]
            best = best_on_validation(results, pool)
            if best is not None:
                against = compared(results, base, best) if base and best != base else None
                found.append(Finding(best.row, rule, against))
    judged = corrected({i: each.comparison for i, each in enumerate(found) if each.comparison})
    return [replace(each, comparison=judged.get(i)) for i, each in enumerate(found)]


def baseline(results: Results) -> Candidate | None:
    """Cross entropy under the decision that is best for it on validation data."""
    rows = [results.baseline] if results.baseline else []
    return best_on_validation(results, candidates(results, rows))
