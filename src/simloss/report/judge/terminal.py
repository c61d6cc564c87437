"""The verdict's table as aligned plain text."""

from typing import TYPE_CHECKING

from .overview import overview_columns, overview_lines
from .wording import one_line

if TYPE_CHECKING:
    from .verdict import Verdict

_WORDS = 3  # columns of words, which stand to the left; numbers stand to the right


def table(verdict: "Verdict") -> str:
    """One line per finding; the arrow marks what we would use."""
    lines = [["", "test", "decision", *overview_columns(verdict)]]
    for each in overview_lines(verdict):
        arrow = "→" if each.is_recommended else ""
        lines.append([arrow, each.finding.row.label, each.finding.rule, *each.cells])
    return aligned(lines)


def legend(verdict: "Verdict") -> list[str]:
    """A line on what the arrow and the changes mean, where the table has them."""
    told = []
    if verdict.recommendation is not None:
        told += ["→ what we would use, chosen on validation data"]
    if (baseline := verdict.judgement.baseline) is not None:
        told += [f"change and better in: against {baseline}"]
    return [f"   {'; '.join(told)}"] if told else []


def aligned(lines: list[list[str]]) -> str:
    """The cells of all lines in columns: three of words, then numbers.

    Example:
        >>> print(aligned([["", "test", "rule", "error"], ["→", "a", "median", "0.5"]]))
           test  rule    error
        →  a     median    0.5
    """
    lines = [[one_line(text) for text in line] for line in lines]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if at < _WORDS else text.rjust(width)
            for at, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
