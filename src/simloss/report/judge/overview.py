"""What was found, a line each: the same in the terminal and on the page."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ... import metrics
from .findings import Finding
from .wording import change

if TYPE_CHECKING:
    from .verdict import Verdict


@dataclass(frozen=True)
class OverviewLine:
    """One finding as text.

    Attributes:
        finding: what it is about.
        cells: the texts under :func:`overview_columns`.
        is_recommended: whether it is what we would use.
    """

    finding: Finding
    cells: list[str]
    is_recommended: bool


def overview_columns(verdict: "Verdict") -> list[str]:
    """The metric that counts, its change, the runs in which it is better, then all else."""
    first, *others = (metrics.find(name).label for name in verdict.results.columns_main_first)
    against = ["change", "better in"] if _compares(verdict) else []
    return [first, *against, *others]


def overview_lines(verdict: "Verdict") -> list[OverviewLine]:
    """Test values of each family under each rule, its parameter chosen on validation.

    The change is against cross entropy under the decision that is best for it on validation.
    """
    return [_line(verdict, finding) for finding in verdict.findings]


def _line(verdict: "Verdict", finding: Finding) -> OverviewLine:
    results, best = verdict.results, verdict.recommendation
    first, *others = (
        metrics.find(name).format(finding.row.mean("test", finding.rule, name))
        for name in results.columns_main_first
    )
    changed, wins = "", ""
    if made := finding.comparison:
        changed = change(results.metric, made.baseline, made.baseline + made.difference)
        wins = f"{made.wins}/{made.runs}"
    against = [changed, wins] if _compares(verdict) else []
    cells = [first, *against, *others]
    is_best = best is not None and best.row is finding.row and best.rule == finding.rule
    return OverviewLine(finding, cells, is_best)


def _compares(verdict: "Verdict") -> bool:
    return verdict.results.baseline is not None and not verdict.results.is_one_net
