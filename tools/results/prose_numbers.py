"""Numbers in prose, filled in from the records they speak of.

``<!-- number: FOLDER; LABEL; RULE; METRIC -->6.56<!-- . -->`` holds the mean of a treatment's raw
test values over the seeds that it shares with cross entropy. With a fifth part, ``against LABEL``,
it holds the change against that treatment in percent, over the seeds that the two share; with
``against rule RULE``, against its own answers by that rule.
``<!-- number: PAGE; COLUMN; LINE -->`` holds what a table of a page says there; "this page" is one.
"""

import re
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from simloss import metrics
from simloss.report.judge.results import Row
from simloss.report.judge.run import Run

from .over_sources import shared

NUMBER = re.compile(r"(?P<open><!-- number: (?P<what>[^\n]*?) -->)[^\n]*?(?P<close><!-- \. -->)")


def with_numbers(text: str, beside: Path) -> str:
    """The text with every marked number made anew; folders are looked for beside the page."""
    if len(re.findall("<!-- number:", text)) != len(NUMBER.findall(text)):
        raise ValueError("the page must close each number with `<!-- . -->` on its line.")
    return NUMBER.sub(lambda m: f"{m['open']}{_number(m['what'], beside, text)}{m['close']}", text)


def _number(what: str, beside: Path, text: str) -> str:
    parts = [part.strip() for part in what.split(";")]
    if len(parts) == 3:
        page = text if parts[0] == "this page" else (beside / parts[0]).read_text(encoding="utf-8")
        return _in_table(page, *parts[1:])
    if len(parts) not in (4, 5) or (len(parts) == 5 and not parts[4].startswith("against ")):
        raise ValueError(
            f"a number must say `folder; label; rule; metric`, and may say `against label`, or "
            f"`page; column; line`, but one says {what!r}."
        )
    folder, label, rule, name = parts[:4]
    run = _read(beside / folder)
    row, base = _row(run, label), run.results.baseline
    assert base is not None
    if len(parts) == 4:
        metric = metrics.find(name.removesuffix("_calibrated"))
        return metric.format(fmean(shared(row, base, rule, name)[0]))
    other = parts[4].removeprefix("against ")
    if other.startswith("rule "):
        ours, theirs = (
            list(row.by_seed("test", each, name).values())
            for each in (rule, other.removeprefix("rule "))
        )
    else:
        ours, theirs = shared(row, _row(run, other), rule, name)
    return f"{100 * (fmean(ours) / fmean(theirs) - 1):+.1f} %".replace("-", "−")


def _in_table(page: str, column: str, line: str) -> str:
    head: list[str] = []
    for row in page.splitlines():
        cells = [cell.strip().strip("*") for cell in row.strip("|").split("|")]
        if not row.startswith("|"):
            head = []
        elif not head:
            head = cells
        elif cells[0] == line and column in head:
            return cells[head.index(column)]
    raise ValueError(f"a number must stand in a table, but none has {column!r} and {line!r}.")


def _row(run: Run, label: str) -> Row:
    for row in run.results.done:
        if row.label == label:
            return row
    raise ValueError(f"a number must be of a treatment in {run.folder.path}, but {label!r} is not.")


@lru_cache(maxsize=32)
def _read(folder: Path) -> Run:
    return Run.read(folder)
