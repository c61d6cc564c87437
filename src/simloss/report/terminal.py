"""The verdict's table as aligned plain text."""

from typing import TYPE_CHECKING

from .. import metrics
from .findings import Finding
from .words import change

if TYPE_CHECKING:
    from .verdict import Verdict


def table(verdict: "Verdict") -> str:
    """One line a finding: test values of the treatment chosen on validation.

    The arrow marks what we would use; "change" and "p" are against cross entropy under the same
    decision, for cross entropy itself against its answers at argmax.
    """
    main = verdict.results.metric.name
    names = [main, *(name for name in verdict.results.columns if name != main)]
    head = ["", "test", "decision", *(metrics.find(name).label for name in names[:1])]
    head += ["change", "p", *(metrics.find(name).label for name in names[1:])]
    lines = [head, *(_line(verdict, each, names) for each in verdict.findings)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(_aligned(line, widths) for line in lines)


def _line(verdict: "Verdict", finding: Finding, names: list[str]) -> list[str]:
    best = verdict.recommendation
    is_best = best and best.row is finding.row and best.rule == finding.rule
    values = [
        metrics.find(name).format(finding.row.mean("test", finding.rule, name)) for name in names
    ]
    changed, p = "", ""
    if finding.comparison:
        each = finding.comparison
        changed = change(verdict.results.metric, each.baseline, each.treatment)
        p = f"{each.adjusted_p_value:.2g} {each.mark or ' '}" if verdict.can_tell else ""
    mark = "→" if is_best else ""
    return [mark, finding.row.label, finding.rule, values[0], changed, p, *values[1:]]


def _aligned(line: list[str], widths: list[int]) -> str:
    """Words to the left, numbers to the right."""
    words = [text.ljust(width) for text, width in zip(line[:3], widths[:3], strict=True)]
    rest = [text.rjust(width) for text, width in zip(line[3:], widths[3:], strict=True)]
    return "  ".join([*words, *rest]).rstrip()
