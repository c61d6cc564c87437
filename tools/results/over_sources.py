"""One setting for all data: what each gains over cross entropy by the median, source by source."""

import json
from collections.abc import Sequence
from statistics import fmean, median

from simloss.report.judge.results import Row
from simloss.report.judge.run import Run
from simloss.report.tables.markdown import escaped
from simloss.statistics import paired_comparison

_RULE, _METRIC = "median", "mae"
Changes = dict[str, float]  # source -> the error above cross entropy's, as a share of it

# Where cross entropy makes hardly any errors, three times as many must not decide for all others.
_MOST = 0.25

# Column -> labels of the one treatment it stands for; older records have another name for some.
REGISTERED = {
    "A": ("blended proper SimLoss, r = 0.95 + smooth",),
    "B": ("cross entropy + smooth",),
    "C": ("blended proper SimLoss, r = 0.95", "proper SimLoss r = 0.95 blended, share = 0.1"),
}
RIVALS = {
    "soft targets": [f"soft targets, r = {r}" for r in (0.3, 0.5)],
    "squared EMD": [f"squared EMD, share = {share:g}" for share in (0, 0.1, 0.25, 0.5, 0.75)],
    "DLDL-v2": [f"DLDL-v2, width = {width:g}" for width in (0.5, 1, 2)],
}
_ALSO = {"SimLoss blended": ("SimLoss r = 0.9 blended, share = 0.1",)}


def over_sources(runs: Sequence[Run]) -> str:
    """Markdown: the change in percent for each source and setting, and two tests over the sources.

    Of a rival, beside each value of its parameter, the one that is best on average on all other
    sources. Runs on the same data, as on shares of its training part, are one source.
    """
    known = {name: _changes(runs, labels) for name, labels in {**REGISTERED, **_ALSO}.items()}
    chosen = {}
    for name, labels in RIVALS.items():
        each = {label: _changes(runs, (label,)) for label in labels}
        known |= {label: found for label, found in each.items() if found}
        chosen[f"{name}, chosen"] = _left_out(list(each.values()))
    known = {name: found for name, found in {**known, **chosen}.items() if found}
    sources = [name for name in _sources(runs) if all(name in each for each in known.values())]
    table = [["source", *map(escaped, known)], ["---", *["---:"] * len(known)]]
    table += [
        [escaped(source), *(_percent(each[source]) for each in known.values())]
        for source in sources
    ]
    summary = {
        "middle": lambda found: _percent(median(found)),
        "mean": lambda found: _percent(fmean(found)),
        "worst": lambda found: _percent(max(found)),
        "lower than cross entropy in": lambda found: str(sum(value < 0 for value in found)),
        "p against cross entropy": lambda found: _p([0.0] * len(found), found),
    }
    for name, of in summary.items():
        line = [of([each[source] for source in sources]) for each in known.values()]
        table.append([f"**{name}**", *line])
    return f"{_table(table)}\n\n{_against(known, chosen, sources)}"


def _against(known: dict[str, Changes], chosen: dict[str, Changes], sources: list[str]) -> str:
    """Each registered setting against the rivals whose parameter other sources have chosen."""
    lines = [
        ["setting", "against", "lower in", "mean difference", "p"],
        ["---", "---", *["---:"] * 3],
    ]
    for name in REGISTERED:
        for rival, theirs in chosen.items():
            if name not in known or not theirs:
                continue
            ours, others = ([each[s] for s in sources] for each in (known[name], theirs))
            lower = sum(a < b for a, b in zip(ours, others, strict=True))
            gap = fmean(ours) - fmean(others)
            count = f"{lower} of {len(sources)}"
            lines.append([name, rival, count, f"{_percent(gap)} points", _p(others, ours)])
    return _table(lines)


def _sources(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs on the same data, under the shortest of their names."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        data = run.config.data
        found.setdefault(json.dumps([data.source, data.path, data.options]), []).append(run)
    return {min((run.config.name for run in some), key=len): some for some in found.values()}


def _changes(runs: Sequence[Run], labels: Sequence[str]) -> Changes:
    found = {}
    for name, some in _sources(runs).items():
        each = [_change(run, labels) for run in some]
        known = [value for value in each if value is not None]
        if len(known) == len(each):
            found[name] = fmean(known)
    return found


def _change(run: Run, labels: Sequence[str]) -> float | None:
    base = run.results.baseline
    row = next((row for row in run.results.done if row.label in labels), None)
    if base is None or row is None:
        return None
    ours, theirs = shared(row, base, _RULE, _METRIC)
    return fmean(ours) / fmean(theirs) - 1 if ours else None


def shared(row: Row, base: Row, rule: str, metric: str) -> tuple[list[float], list[float]]:
    """The raw test values of two treatments for the seeds that both have."""
    ours, theirs = (each.by_seed("test", rule, metric) for each in (row, base))
    seeds = sorted(ours.keys() & theirs.keys())
    return [ours[seed] for seed in seeds], [theirs[seed] for seed in seeds]


def _left_out(values: list[Changes]) -> Changes:
    """For each source, the change with the value that is best on average on all the others."""
    sources = set.intersection(*(set(each) for each in values)) if values else set()
    found = {}
    for source in sources:
        others = sources - {source}
        if others:
            best = min(values, key=lambda each: fmean(min(_MOST, each[o]) for o in others))
            found[source] = best[source]
    return found


def _p(baseline: list[float], treatment: list[float]) -> str:
    # Shifted by 1, so that the sizes that rounding is judged by are those of the errors.
    first, second = ([1 + value for value in each] for each in (baseline, treatment))
    found = paired_comparison(first, second, higher_is_better=False, interval=False)
    return f"{found.p_value:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")


def _table(lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
