"""The verdict in one sentence that a layman understands."""

import math
from typing import TYPE_CHECKING

from ...statistics import Comparison
from .findings import Finding, is_ahead, means, score
from .results import Results, Row
from .wording import answered_by, change, listed, noun, numbers, p_text, runs, unit

if TYPE_CHECKING:
    from .verdict import Recommendation


def sentence(
    results: Results,
    found: list[Finding],
    recommendation: "Recommendation | None",
    can_tell: bool,
) -> str:
    """Similarity at argmax, then what the decision alone does, then the best overall."""
    if not results.done:
        return "No run has finished, so there is nothing to say."
    done = [row for row in results.rows if row.cells]
    if len(results.rows) == 1:
        return _alone(results, done[0])
    if results.baseline is None:
        return "Cross entropy has not finished a run, so there is nothing to compare with."
    rivals = [each for each in found if not each.row.is_baseline and each.comparison]
    if not rivals and len(results.done) > 1:
        return "No other treatment has a run in common with cross entropy, to be compared with it."
    if not rivals:
        return _alone(results, results.baseline)
    named = _named(results, rivals, can_tell)
    text = _similarity(results, named, can_tell)
    text += _decisions(results, found, recommendation, can_tell)
    text += _best(results, named, recommendation)
    if not can_tell:
        count = named.comparison.runs if named.comparison else 0
        return f"A tendency only, from {runs(count)}: {text}."
    return text[0].upper() + text[1:] + "."


def _named(results: Results, rivals: list[Finding], can_tell: bool) -> Finding:
    """The finding that the first clause is about: one that helps, under the first rule if any."""
    pool = [each for each in rivals if each.row.uses_similarity] or rivals
    for rule in results.rules:
        under = [each for each in pool if each.rule == rule]
        helping = [each for each in under if each.is_better]
        if not can_tell:
            helping = [each for each in under if is_ahead(results, each)] or under
        if helping:
            return max(helping, key=lambda each: score(results, each.row, rule))
    under = [each for each in pool if each.rule == results.rules[0]] or pool
    most = max(each.comparison.runs for each in under if each.comparison)
    told = [each for each in under if each.comparison and each.comparison.runs == most]
    return max(told, key=lambda each: score(results, each.row, each.rule))


def _similarity(results: Results, finding: Finding, can_tell: bool) -> str:
    """The first clause: similarity against cross entropy under the same decision."""
    name = "similarity" if finding.row.uses_similarity else "another loss"
    if can_tell and not finding.is_better:
        return f"{name} does not help here: {_no_difference(results, finding)}"
    return _moves(results, name, finding, can_tell)


def _moves(results: Results, name: str, finding: Finding, can_tell: bool) -> str:
    """The clause "similarity (SimLoss) lowers the mean error from 7.39 to 7.01 years (...)"."""
    comparison = finding.comparison
    assert comparison is not None
    before, after = means(results, finding)
    facts = [change(results.metric, before, after)]
    if can_tell:
        facts += [p_text(comparison.adjusted_p_value), runs(comparison.runs)]
    where = "" if finding.rule == results.rules[0] else _under(finding.rule)
    shown = numbers(results.metric, before, after)
    moved = (
        f"leaves {noun(results.metric)} at {shown[1]}"
        if shown[0] == shown[1]
        else f"{_verb(before, after)} {noun(results.metric)} from {shown[0]} to {shown[1]}"
    )
    return f"{name} ({finding.row.label}) {moved}{_unit(results)} ({', '.join(facts)}){where}"


def _no_difference(results: Results, finding: Finding) -> str:
    comparison = finding.comparison
    assert comparison is not None
    before, after = numbers(results.metric, *means(results, finding))
    facts = f"{p_text(comparison.adjusted_p_value)}, {runs(comparison.runs)}"
    return (
        f"{noun(results.metric)} is {after}{_unit(results)} with it ({finding.row.label}) and "
        f"{before} without, {_how_clear(finding, comparison)} ({facts})"
    )


def _how_clear(finding: Finding, comparison: Comparison) -> str:
    """What p says; where it is small and there is no mark, runs and their mean disagree."""
    if finding.is_worse:
        return "significantly worse"
    if not comparison.is_significant:
        return "no clear difference"
    mostly = "better" if comparison.effect_size > 0 else "worse"
    return f"{mostly} in most runs but not on average"


def _decisions(
    results: Results, found: list[Finding], best: "Recommendation | None", can_tell: bool
) -> str:
    """What another decision does to cross entropy's own answers."""
    text = ""
    for each in found:
        if not (each.row.is_baseline and each.comparison):
            continue
        before, after = means(results, each)
        shown = numbers(results.metric, before, after)
        text += f"; answering by {answered_by(each.rule)} instead "
        if shown[0] == shown[1]:
            text += f"leaves cross entropy's own at {shown[1]}"
        elif each.is_better or each.is_worse or not can_tell:
            text += f"{_verb(before, after)} cross entropy's own to {shown[1]}"
        else:
            text += f"makes no clear difference to cross entropy's own ({shown[1]})"
        if best is not None and best.row.is_baseline and best.rule == each.rule:
            text += _how_good(results, found, each)
    return text


def _how_good(results: Results, found: list[Finding], chosen: Finding) -> str:
    """What is recommended was chosen on validation data; on test data it need not be the best."""
    pick = max if results.metric.higher_is_better else min
    values = [each.row.mean("test", each.rule, results.metric.name) for each in found]
    best = pick(value for value in values if not math.isnan(value))
    is_best = chosen.row.mean("test", chosen.rule, results.metric.name) == best
    return ", the best here" if is_best else ", which we would use"


def _best(results: Results, named: Finding, best: "Recommendation | None") -> str:
    """The last clause, where the best overall has not been named yet."""
    if best is None or best.row.is_baseline or (best.row, best.rule) == (named.row, named.rule):
        return ""
    (value,) = numbers(results.metric, best.row.mean("test", best.rule, results.metric.name))
    first, *others = results.rules
    if best.row.uses_similarity and named.rule == first and others == [best.rule]:
        return f"; both together reach {value} ({best.row.label})"
    return f"; {best.row.label}, answered by {answered_by(best.rule)}, reaches {value}"


def _alone(results: Results, row: Row) -> str:
    known = [(rule, row.mean("test", rule, results.metric.name)) for rule in results.rules]
    parts = [
        f"{numbers(results.metric, value)[0]} answered by {answered_by(rule)}"
        for rule, value in known
        if not math.isnan(value)
    ]
    what = noun(results.metric)
    return f"Only {row.label} was run: {what} is {listed(parts)}{_in_unit(results)}."


def _verb(before: float, after: float) -> str:
    return "lowers" if after < before else "raises"


def _under(rule: str) -> str:
    return f" where the answer is {answered_by(rule)}"


def _unit(results: Results) -> str:
    text = unit(results.metric, results)
    return f" {text}" if text else ""


def _in_unit(results: Results) -> str:
    text = unit(results.metric, results)
    return f" (in {text})" if text else ""
