"""The tables as Markdown."""

import math
import re
from pathlib import Path

from ...metrics import Metric
from ..judge.paper_table import Entry, Line, Table, caption, parameter
from ..judge.results import Results
from ..judge.verdict import Verdict
from ..judge.wording import answered_by


def markdown(folder: Path, *, level: int = 1) -> str:
    """The verdict and the tables of a run folder, as Markdown.

    Args:
        folder: a run folder (docs/records.md).
        level: the level of the heading, for a page with other headings.
    """
    from ..judge.run import Run

    return markdown_of(Run.read(Path(folder)).verdict, level=level)


def markdown_of(verdict: Verdict, *, level: int = 1) -> str:
    """The same from a verdict."""
    results, marks = verdict.results, "#" * level
    parts = [f"{marks} {escaped(results.config.name)}", escaped(verdict.sentence)]
    parts += [escaped(text) for text in (*verdict.advice, *verdict.notes)]
    for table in verdict.tables:
        parts += [f"{marks}# Answered by {escaped(answered_by(table.rule))}", rendered(table)]
    parts += [escaped(caption(results)), *_failures(results, marks)]
    return "\n\n".join(parts) + "\n"


def rendered(table: Table) -> str:
    """One table; each family's parameter has its own rows."""
    names = [metric.label for metric in table.columns]
    head = ["loss", "parameter", "runs"]
    head += [f"{name}, {part}" for part in ("validation", "test") for name in names]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    lines += [_line(line, table.columns) for group in table.groups.values() for line in group]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _line(line: Line, columns: list[Metric]) -> list[str]:
    validation = [
        _bold(metric.format(entry.mean), entry.is_best)
        for metric, entry in zip(columns, line.parts["validation"], strict=True)
    ]
    test = [_test(metric, e) for metric, e in zip(columns, line.parts["test"], strict=True)]
    words = [escaped(line.row.family), parameter(line.row), str(len(line.row.cells))]
    return [*words, *validation, *test]


def _test(metric: Metric, entry: Entry) -> str:
    text = metric.format(entry.mean)
    if not math.isnan(entry.spread):
        spread = metric.format(entry.spread).removesuffix(" %")
        text = f"{text.removesuffix(' %')} ± {spread}{' %' if metric.percent else ''}"
    return text + (f" ({entry.mark.replace('-', '−')})" if entry.mark else "")


def _bold(text: str, is_best: bool) -> str:
    return f"**{text}**" if is_best else text


def _failures(results: Results, marks: str) -> list[str]:
    lines = [
        f"- {escaped(row.label)}, seed {seed}: {escaped(error)}"
        for row in results.rows
        for seed, error in sorted(row.failures.items())
    ]
    return [f"{marks}# Failed", "\n".join(lines)] if lines else []


def escaped(text: str) -> str:
    r"""Text escaped for Markdown: it ends no table, opens no tag, breaks no line.

    Example:
        >>> print(escaped("a|b <i>_c_"))
        a\|b &lt;i&gt;\_c\_
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|#])", r"\\\1", text)
