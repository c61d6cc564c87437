"""A run's treatments against cross entropy on the seeds that both have, in raw numbers."""

from statistics import fmean

from simloss import metrics
from simloss.report.judge.run import Run
from simloss.report.tables.markdown import escaped

from .over_sources import shared


def shared_seeds(run: Run) -> str:
    """Markdown: a line per treatment; "7.05 → 6.56" is cross entropy's mean and its own."""
    results, base = run.results, run.results.baseline
    if base is None:
        raise ValueError(f"{run.folder.path} must have a finished run of cross entropy.")
    main = results.metric.name
    columns = [(main, rule) for rule in results.rules] + [
        (name, results.rules[0]) for name in ("accuracy", "nll")
    ]
    head = ["loss", "seeds", *(f"{metrics.find(n).label}, {rule}" for n, rule in columns)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for row in results.done:
        seeds, cells = 0, []
        for name, rule in columns:
            ours, theirs = shared(row, base, rule, name)
            seeds = len(ours)
            cells.append(change(metrics.find(name), ours, None if row is base else theirs))
        lines.append([escaped(row.label), str(seeds), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def change(metric: metrics.Metric, ours: list[float], theirs: list[float] | None) -> str:
    """The mean, and before it the baseline's if that is given."""
    if not ours:
        return "–"
    shown = metric.format(fmean(ours))
    return shown if theirs is None else f"{metric.format(fmean(theirs))} → {shown}"
