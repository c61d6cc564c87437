"""A run in one table: a line per family or treatment, all decisions side by side."""

import math

from simloss import metrics
from simloss.metrics import Metric
from simloss.report.judge.candidates import FEWEST_RUNS, Candidate, compared
from simloss.report.judge.findings import Finding
from simloss.report.judge.results import Results, Row, spread
from simloss.report.judge.verdict import Verdict
from simloss.report.tables.markdown import escaped
from simloss.statistics import Comparison, corrected

from .paper import in_the_paper, is_in_the_paper

Chosen = dict[str, Finding]  # rule -> the family's treatment under it

_SCALED = "nll_calibrated"


def results_table(verdict: Verdict, *, every: bool = False) -> str:
    """Markdown: a line per family, cross entropy first; test values, chosen on validation.

    With `every`, a line per treatment. The metric that counts has its standard deviation over runs
    and a mark, corrected for all comparisons of the table. Metrics of probabilities appear once,
    for the weights kept for argmax, and the log-likelihood again after temperature scaling.
    """
    results = verdict.results
    columns = [metrics.find(name) for name in results.columns_main_first]
    with_paper = is_in_the_paper(results.config)
    lines = [_head(results, columns, with_paper)]
    lines.append(["---"] + ["---:"] * (len(lines[0]) - 1))
    shown = _treatments(verdict) if every else _families(verdict)
    lines += [_line(verdict, chosen, columns, with_paper) for chosen in shown]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _families(verdict: Verdict) -> list[Chosen]:
    found: dict[str, Chosen] = {}
    for each in verdict.findings:
        found.setdefault(each.row.family, {})[each.rule] = each
    return list(found.values())


def _treatments(verdict: Verdict) -> list[Chosen]:
    """Every one; those that validation did not choose are not compared, so they have no mark."""
    results = verdict.results
    judged = {(each.row.label, each.rule): each.comparison for each in verdict.findings}
    return [
        {rule: Finding(row, rule, judged.get((row.label, rule))) for rule in results.rules}
        for row in results.done
    ]


def _head(results: Results, columns: list[Metric], with_paper: bool) -> list[str]:
    head = ["loss", "parameter", "runs"]
    for metric in columns:
        rules = results.rules[:1] if _is_of_probabilities(metric) else results.rules
        head += [metric.label if len(rules) == 1 else f"{metric.label}, {rule}" for rule in rules]
    head += ["NLL, scaled"] if _has_scaled(results) else []
    return [*head, "the paper's, argmax"] if with_paper else head


def _line(verdict: Verdict, chosen: Chosen, columns: list[Metric], with_paper: bool) -> list[str]:
    results = verdict.results
    rows = {rule: finding.row for rule, finding in chosen.items()}
    first = next(iter(rows.values()))
    cells = [escaped(first.family), _parameters(rows), _runs(rows)]
    for metric in columns:
        rules = results.rules[:1] if _is_of_probabilities(metric) else results.rules
        cells += [_value(verdict, chosen.get(rule), metric) for rule in rules]
    if _has_scaled(results):
        cells += [_shown(metrics.find("nll"), first.mean("test", results.rules[0], _SCALED))]
    return [*cells, _papers(results, first, columns)] if with_paper else cells


def _has_scaled(results: Results) -> bool:
    return any(row.by_seed("test", results.rules[0], _SCALED) for row in results.rows)


def _is_of_probabilities(metric: Metric) -> bool:
    return metric.needs == {"probabilities"}


def _parameters(rows: dict[str, Row]) -> str:
    """As in "r = 0.8", or "r = 0.8 / 0.5" where decisions chose differently."""
    values = [row.value for row in rows.values()]
    if all(value is None for value in values):
        return "–"
    shown = dict.fromkeys(values) if len(set(values)) == 1 else values
    symbol = next(iter(rows.values())).symbol
    return f"{symbol} = {' / '.join(f'{value:g}' for value in shown if value is not None)}"


def _runs(rows: dict[str, Row]) -> str:
    counts = [len(row.cells) for row in rows.values()]
    return str(counts[0]) if len(set(counts)) == 1 else " / ".join(map(str, counts))


def _value(verdict: Verdict, finding: Finding | None, metric: Metric) -> str:
    if finding is None:
        return "–"
    results, best = verdict.results, verdict.recommendation
    by_seed = list(finding.row.by_seed("test", finding.rule, metric.name).values())
    mean = finding.row.mean("test", finding.rule, metric.name)
    text = _shown(metric, mean)
    if metric.name != results.metric.name:
        return text
    if len(by_seed) > 1:
        text += f" ± {_spread(metric, by_seed, mean)}"
    is_best = best is not None and (best.row.label, best.rule) == (finding.row.label, finding.rule)
    return _mark(verdict, finding) + (f"**{text}**" if is_best else text)


def _mark(verdict: Verdict, finding: Finding) -> str:
    """Against cross entropy under the same decision, corrected for all families and rules."""
    found = _comparisons(verdict).get((finding.row, finding.rule))
    if found is None or found.runs < FEWEST_RUNS or not found.mark:
        return ""
    return f"({found.mark.replace('-', '−')}) "


def _comparisons(verdict: Verdict) -> dict[tuple[Row, str], Comparison]:
    """Of what validation chose; the verdict itself has one question and no need for them."""
    results = verdict.results
    made = {
        (each.row, each.rule): compared(
            results, Candidate(results.baseline, each.rule), Candidate(each.row, each.rule)
        )
        for each in verdict.findings
        if results.baseline is not None and not each.row.is_baseline
    }
    return corrected({key: found for key, found in made.items() if found is not None})


def _spread(metric: Metric, values: list[float], mean: float) -> str:
    found = spread(values)
    return metric.format(found) if metric.percent else f"{found:.{_digits(mean)}f}"


def _shown(metric: Metric, value: float) -> str:
    """As elsewhere, but errors below 1 with a digit more: tables of few classes have only such."""
    if math.isnan(value):
        return "–"
    is_small = not metric.percent and value < 1
    return f"{value:.{_digits(value)}f}" if is_small else metric.format(value)


def _digits(value: float) -> int:
    return 3 if value < 1 else 2 if value < 100 else 1


def _papers(results: Results, row: Row, columns: list[Metric]) -> str:
    known = in_the_paper(results.config, row)
    shown = [f"{m.label} {m.format(known[m.name])}" for m in columns if m.name in known]
    return ", ".join(shown) or "–"
