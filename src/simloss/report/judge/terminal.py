"""The verdict's table as aligned plain text."""

from typing import TYPE_CHECKING

from .overview import overview_columns, overview_lines

if TYPE_CHECKING:
    from .verdict import Verdict

_WORDS = 3  # columns of words, which stand to the left; numbers stand to the right


def table(verdict: "Verdict") -> str:
    """One line a finding; the arrow marks what we would use."""
    lines = [["", "test", "decision", *overview_columns(verdict)]]
    for each in overview_lines(verdict):
        arrow = "→" if each.is_recommended else ""
        lines.append([arrow, each.finding.row.label, each.finding.rule, *each.cells])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(_aligned(line, widths) for line in lines)


def _aligned(line: list[str], widths: list[int]) -> str:
    pairs = list(zip(line, widths, strict=True))
    words = [text.ljust(width) for text, width in pairs[:_WORDS]]
    numbers = [text.rjust(width) for text, width in pairs[_WORDS:]]
    return "  ".join([*words, *numbers]).rstrip()
