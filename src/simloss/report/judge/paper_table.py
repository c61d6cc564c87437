"""The paper's table: parameters down, validation and test across, best in bold, marks."""

import math
from dataclasses import dataclass, replace

from ... import metrics
from ...metrics import Metric
from ...statistics import Comparison, paired_comparison, smallest_p_value
from ...statistics.paired import LEVEL
from .results import BySeed, Results, Row, spread

PARTS = ("validation", "test")


@dataclass(frozen=True)
class Entry:
    """One number of a table.

    Attributes:
        mean: over the runs; NaN where there is none.
        spread: the standard deviation over the runs; NaN with fewer than two.
        mark: "+" or "-" where a test value is significantly better or worse than cross entropy's.
        p: of that comparison; NaN where there is none.
        is_best: whether it is the best validation value of its column.
    """

    mean: float
    spread: float
    mark: str = ""
    p: float = math.nan
    is_best: bool = False


@dataclass(frozen=True)
class Line:
    """One treatment: its numbers by part, in the order of the columns."""

    row: Row
    parts: dict[str, list[Entry]]


@dataclass(frozen=True)
class Table:
    """All treatments under one decision rule.

    Attributes:
        rule: the decision rule.
        columns: the metrics, those of probabilities last.
        groups: family -> its lines; cross entropy first.
    """

    rule: str
    columns: list[Metric]
    groups: dict[str, list[Line]]


def tables(results: Results) -> list[Table]:
    """One a decision rule; only treatments with a finished cell."""
    return [_table(results, rule) for rule in results.rules]


def _table(results: Results, rule: str) -> Table:
    columns = [metrics.find(name) for name in results.columns]
    best = [_best(results, rule, metric) for metric in columns]
    groups: dict[str, list[Line]] = {}
    measured = [row for row in results.done if any(rule == key[1] for key in row.numbers)]
    for row in sorted(measured, key=lambda row: not row.is_baseline):
        validation = [
            _entry(row, "validation", rule, metric, is_best=row is best[i])
            for i, metric in enumerate(columns)
        ]
        test = [_test_entry(results, row, rule, metric) for metric in columns]
        line = Line(row, {"validation": validation, "test": test})
        groups.setdefault(row.family, []).append(line)
    return Table(rule, columns, groups)


def _best(results: Results, rule: str, metric: Metric) -> Row | None:
    """The row of best mean on validation, the first of equals."""
    means = {i: row.mean("validation", rule, metric.name) for i, row in enumerate(results.done)}
    known = {i: mean for i, mean in means.items() if not math.isnan(mean)}
    if not known or results.is_one_net:
        return None
    pick = max if metric.higher_is_better else min
    return results.done[pick(known, key=known.__getitem__)]


def _entry(row: Row, part: str, rule: str, metric: Metric, *, is_best: bool = False) -> Entry:
    values = row.by_seed(part, rule, metric.name).values()
    return Entry(row.mean(part, rule, metric.name), spread(values), is_best=is_best)


def _test_entry(results: Results, row: Row, rule: str, metric: Metric) -> Entry:
    entry = _entry(row, "test", rule, metric)
    if results.baseline is None or row is results.baseline:
        return entry
    base, values = (each.by_seed("test", rule, metric.name) for each in (results.baseline, row))
    compared = _compared(base, values, metric)
    return entry if compared is None else replace(entry, mark=compared.mark, p=compared.p_value)


def _compared(baseline: BySeed, values: BySeed, metric: Metric) -> Comparison | None:
    """Each by itself, as in the paper; without the interval, which nobody sees here."""
    seeds = sorted(baseline.keys() & values.keys())
    if not seeds or smallest_p_value(len(seeds)) > LEVEL:
        return None
    return paired_comparison(
        [baseline[seed] for seed in seeds],
        [values[seed] for seed in seeds],
        higher_is_better=metric.higher_is_better,
        interval=False,
    )


def parameter(row: Row) -> str:
    """The first column of a line: the value, or a dash for none."""
    return "–" if row.value is None else f"{row.value:g}"


CAPTION = (
    "Means over runs. Best validation values are bold. Test values that differ significantly from "
    "cross entropy's under the same decision (Wilcoxon, 5 %, each comparison by itself) are marked "
    "+ where they are better and − where they are worse, as in the paper; the verdict goes by "
    "another test, which counts that runs share examples."
)
NO_MARKS = (
    "Means over runs. Best validation values are bold. There are no marks of significance, because "
    "fewer than 6 runs cannot show any."
)


def caption(results: Results) -> str:
    """What a reader of the table must know."""
    if results.is_one_net:
        return "One model, so there is nothing to compare it with."
    most = max((len(row.cells) for row in results.rows), default=0)
    return CAPTION if most and smallest_p_value(most) <= LEVEL else NO_MARKS
