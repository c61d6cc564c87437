"""A run's treatments against cross entropy on the seeds that both have, in raw numbers."""

from statistics import fmean

from simloss import metrics
from simloss.report.judge.results import Row
from simloss.report.judge.run import Run
from simloss.report.tables.markdown import escaped

from .over_sources import shared


def shared_seeds(run: Run) -> str:
    """Markdown: a line per treatment, its means; with fewer seeds as `shown` says."""
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
        cells = [shown(row, base, rule, name) for name, rule in columns]
        seeds = len(shared(row, base, results.rules[0], main)[0])
        lines.append([escaped(row.label), str(seeds), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(row: Row, base: Row, rule: str, name: str) -> str:
    """A mean; of a row with fewer seeds than the baseline "7.05 → 6.56", the baseline's first."""
    metric, (ours, theirs) = metrics.find(name), shared(row, base, rule, name)
    if not ours:
        return "–"
    mean = metric.format(fmean(ours))
    is_whole = len(ours) == len(base.by_seed("test", rule, name))
    return mean if is_whole else f"{metric.format(fmean(theirs))} → {mean}"
