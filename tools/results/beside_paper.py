"""The paper's tables beside ours: its means of ten runs, ours of the seeds we have."""

from collections.abc import Sequence

from simloss import metrics
from simloss.experiment.grid.store import RunFolder
from simloss.report.judge.results import Row
from simloss.report.judge.run import Run
from simloss.report.judge.wording import listed
from simloss.statistics import paired_comparison, smallest_p_value
from simloss.statistics.paired import LEVEL

from .over_sources import shared
from .paper import papers_table, value_in_the_paper
from .shared_seeds import shown


def beside_paper(run: Run) -> str:
    """Markdown: a line per value of the paper's parameter.

    Ours are raw means; of a row with fewer seeds than cross entropy, "cross entropy → this one" on
    the seeds that both have. Marked (+) and (−) as the paper does, where there are seeds enough for
    Wilcoxon's test.
    """
    results, base = run.results, run.results.baseline
    if base is None:
        raise ValueError(f"{run.folder.path} must have a finished run of cross entropy.")
    names, numbers = papers_table(run.config)
    ours = _by_value(run)
    second = results.rules[1]
    columns = [(name, results.rules[0]) for name in names] + [(names[1], second)]
    labels = [metrics.find(name).label for name in names]
    head = ["parameter", *(f"{label}, paper" for label in labels), *(f"{x}, ours" for x in labels)]
    head += [f"{labels[1]}, ours by {second}", "seeds"]
    lines = [head, ["---:"] * len(head)]
    for value, theirs in numbers.items():
        row = ours.get(value)
        first = f"{value:g}" + (" (cross entropy)" if row is base else "")
        papers = [metrics.find(n).format(x) for n, x in zip(names, theirs, strict=True)]
        cells = [_cell(row, base, name, rule) if row else "–" for name, rule in columns]
        lines.append([first, *papers, *cells, str(len(row.cells)) if row else "0"])
    return _table(lines)


def _cell(row: Row, base: Row, name: str, rule: str) -> str:
    metric, (ours, theirs) = metrics.find(name), shared(row, base, rule, name)
    mean = shown(row, base, rule, name)
    if row is base or not ours or smallest_p_value(len(ours)) > LEVEL:
        return mean
    found = paired_comparison(
        theirs, ours, higher_is_better=metric.higher_is_better, interval=False
    )
    return f"({found.mark.replace('-', '−')}) {mean}" if found.mark else mean


def missing_runs(runs: Sequence[Run]) -> str:
    """Markdown: a line per run, with how many of the paper's ten seeds there are, by parameter."""
    lines = [
        ["data", "of the paper's ten runs we have", "all runs", "hours"],
        ["---", "---", "---:", "---:"],
    ]
    for run in runs:
        _, numbers = papers_table(run.config)
        ours, counts = _by_value(run), dict[int, list[str]]()
        for value in numbers:
            row = ours.get(value)
            counts.setdefault(len(row.cells) if row else 0, []).append(f"{value:g}")
        parts = [f"{count or 'none'} at {listed(found)}" for count, found in sorted(counts.items())]
        shown = f"{min(counts)} at each value" if len(counts) == 1 else "; ".join(parts)
        lines.append([run.config.name, shown, *hours(run.folder)])
    return _table(lines)


def hours(folder: RunFolder) -> tuple[str, str]:
    """How many runs the folder has, and how many hours they took together."""
    took = [max(each["seconds"].values()) for each in folder.each_record() if "seconds" in each]
    return str(len(took)), f"{sum(took) / 3600:.1f}"


def _by_value(run: Run) -> dict[float | None, Row]:
    return {value_in_the_paper(run.config, row): row for row in run.results.done}


def _table(lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
