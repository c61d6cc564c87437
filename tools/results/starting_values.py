"""What value of r to start with: what each data set asked for, and what rules would have given."""

import json
from collections.abc import Sequence
from statistics import median

from simloss.report.judge.results import Row
from simloss.report.judge.run import Run
from simloss.report.tables.markdown import escaped

from .start_rules import RULES, Case, left_out

_FAMILIES = ("SimLoss", "proper SimLoss", "soft targets")
_FEWEST_GROUPS = 3


def starting_values(runs: Sequence[Run]) -> str:
    """Markdown: the r each run asked for, rules tested on data sets left out, losses untuned."""
    # Not the rule of the records, which may be one that only a regression answers by.
    rules = list(dict.fromkeys(rule for run in runs for rule in run.config.rules))
    columns = [(family, rule) for rule in rules for family in _FAMILIES]
    known = {column: cases(runs, *column) for column in columns}
    known = {column: made for column, made in known.items() if made}
    parts = [_asked_for(runs, known)]
    judged = {
        column: made
        for column, made in known.items()
        if len({case.group for case in made}) >= _FEWEST_GROUPS
    }
    parts += [_regrets(judged)] if judged else []
    untuned = _untuned(runs, rules)
    return "\n\n".join([*parts, *([untuned] if untuned else [])])


def cases(runs: Sequence[Run], family: str, rule: str) -> list[Case]:
    """The runs in which this family was trained with several r, and cross entropy too."""
    found = []
    for run in (run for run in runs if rule in run.results.rules):
        results, metric = run.results, run.results.metric
        rows = [row for row in results.families().get(family, []) if row.value is not None]
        if len(rows) < 2 or results.baseline is None or metric.higher_is_better:
            continue
        validation, test = (
            _means(rows, part, rule, metric.name) for part in ("validation", "test")
        )
        found.append(
            Case(
                name=run.config.name,
                group=json.dumps([run.config.data.source, run.config.data.options]),
                classes=len(run.classes),
                examples=run.sizes["train"],
                nll=results.baseline.mean("validation", results.rules[0], "nll"),
                validation=validation,
                test=test,
                baseline=results.baseline.mean("test", rule, metric.name),
            )
        )
    return found


def _means(rows: list[Row], part: str, rule: str, metric: str) -> dict[float, float]:
    return {row.value: row.mean(part, rule, metric) for row in rows if row.value is not None}


def _asked_for(runs: Sequence[Run], known: dict[tuple[str, str], list[Case]]) -> str:
    head = ["data", "classes", "training examples", "NLL", *(f"{f}, {rule}" for f, rule in known)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for run in runs:
        own = [{case.name: case for case in made}.get(run.config.name) for made in known.values()]
        first = next((case for case in own if case), None)
        if first is not None:
            about = [escaped(first.name), str(first.classes), f"{first.examples:,}"]
            asked = [f"{case.tuned:g}" if case else "–" for case in own]
            lines.append([*about, f"{first.nll:.2f}", *asked])
    return _table(lines)


def _regrets(judged: dict[tuple[str, str], list[Case]]) -> str:
    head = ["start", *(f"{family}, {rule}" for family, rule in judged)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name, fit in RULES.items():
        found = [left_out(made, fit) for made in judged.values()]
        lines.append([name, *(_shown([regret for _, regret in each.values()]) for each in found)])
    for r in sorted({r for made in judged.values() for case in made for r in case.test}):
        fixed = [[c.regret(r) for c in made if r in c.test] for made in judged.values()]
        lines.append([f"r = {r:g}, whatever the data", *(_shown(each) for each in fixed)])
    plain = [
        [case.baseline / case.test[case.tuned] - 1 for case in made] for made in judged.values()
    ]
    lines.append(["no similarity: cross entropy", *(_shown(each) for each in plain)])
    return _table(lines)


def _untuned(runs: Sequence[Run], rules: list[str]) -> str:
    """What each loss gains over cross entropy with one value for all, chosen on other data."""
    families = list(dict.fromkeys(family for run in runs for family in run.results.families()))
    lines = []
    for family in families:
        made = {rule: cases(runs, family, rule) for rule in rules}
        if all(len({case.group for case in known}) >= _FEWEST_GROUPS for known in made.values()):
            gains = [gain for known in made.values() for gain in _gain(known)]
            lines.append([escaped(family), *gains])
    columns = [f"{what}, {rule}" for rule in rules for what in ("value", "error")]
    head = ["one value for all", *columns]
    return _table([head, ["---", *["---:"] * len(columns)], *lines]) if lines else ""


def _gain(known: list[Case]) -> tuple[str, str]:
    """The values that other data chose, and the error against cross entropy's in percent."""
    chosen = {name: value for name, (value, _) in left_out(known, RULES["one r for all"]).items()}
    values = " or ".join(f"{value:g}" for value in sorted(set(chosen.values())))
    changes = [case.test[chosen[case.name]] / case.baseline - 1 for case in known]
    middle, worst, best = map(_percent, (median(changes), max(changes), min(changes)))
    return values, f"{middle} ({worst}, best {best})"


def _shown(regrets: list[float]) -> str:
    """Median and worst, in percent."""
    return f"{_percent(median(regrets))} ({_percent(max(regrets))})"


def _percent(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")


def _table(lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
