"""The verdict in one sentence that a layman understands."""

import math
from typing import TYPE_CHECKING

from .findings import Finding, score
from .results import Results, Row
from .words import answered_by, change, listed, noun, numbers, p_text, runs, unit

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
    if not rivals:
        return _alone(results, results.baseline)
    text = _similarity(results, rivals, can_tell)
    text += _decisions(results, found, can_tell)
    text += _best(results, rivals, recommendation, can_tell)
    if not can_tell:
        count = max(each.comparison.runs for each in rivals if each.comparison)
        return f"A tendency only, from {runs(count)}: {text}."
    return text[0].upper() + text[1:] + "."


def _similarity(results: Results, rivals: list[Finding], can_tell: bool) -> str:
    """The first clause: similarity against cross entropy under the same decision."""
    with_similarity = [each for each in rivals if each.row.uses_similarity]
    name = "similarity" if with_similarity else "another loss"
    pool = with_similarity or rivals
    for rule in results.rules:
        under = [each for each in pool if each.rule == rule]
        helping = [each for each in under if each.is_better]
        if helping or (under and not can_tell):
            best = max(helping or under, key=lambda each: score(results, each.row, rule))
            return _moves(results, name, best, can_tell)
    under = [each for each in pool if each.rule == results.rules[0]] or pool
    best = max(under, key=lambda each: score(results, each.row, each.rule))
    return f"{name} does not help here: {_no_difference(results, best)}"


def _moves(results: Results, name: str, finding: Finding, can_tell: bool) -> str:
    """The clause "similarity (SimLoss) lowers the mean error from 7.39 to 7.01 years (...)"."""
    comparison = finding.comparison
    assert comparison is not None
    before, after = numbers(results.metric, comparison.baseline, comparison.treatment)
    facts = [change(results.metric, comparison.baseline, comparison.treatment)]
    if can_tell:
        facts += [p_text(comparison.adjusted_p_value), runs(comparison.runs)]
    where = "" if finding.rule == results.rules[0] else _under(finding.rule)
    verb = _verb(comparison.difference)
    unit_text = _unit(results)
    return (
        f"{name} ({finding.row.label}) {verb} {noun(results.metric)} from {before} to {after}"
        f"{unit_text} ({', '.join(facts)}){where}"
    )


def _no_difference(results: Results, finding: Finding) -> str:
    comparison = finding.comparison
    assert comparison is not None
    before, after = numbers(results.metric, comparison.baseline, comparison.treatment)
    clear = "significantly worse" if finding.is_worse else "no clear difference"
    facts = f"{p_text(comparison.adjusted_p_value)}, {runs(comparison.runs)}"
    return (
        f"{noun(results.metric)} is {after}{_unit(results)} with it ({finding.row.label}) and "
        f"{before} without, {clear} ({facts})"
    )


def _decisions(results: Results, found: list[Finding], can_tell: bool) -> str:
    """What another decision does to cross entropy's own answers."""
    text = ""
    for each in found:
        if not (each.row.is_baseline and each.comparison):
            continue
        after = numbers(results.metric, each.comparison.baseline, each.comparison.treatment)[1]
        instead = f"; answering by {answered_by(each.rule)} instead"
        if each.is_better or each.is_worse or not can_tell:
            text += f"{instead} {_verb(each.comparison.difference)} cross entropy's own to {after}"
        else:
            text += f"{instead} makes no clear difference to cross entropy's own ({after})"
    return text


def _best(
    results: Results, rivals: list[Finding], best: "Recommendation | None", can_tell: bool
) -> str:
    """The last clause, where the best overall has not been named yet."""
    if best is None or best.rule == results.rules[0]:
        return ""
    if best.row.is_baseline:
        return ", the best here"
    if can_tell and not any(each.is_better for each in rivals if each.rule == results.rules[0]):
        return ""  # then the first clause was about the other decision already
    (value,) = numbers(results.metric, best.row.mean("test", best.rule, results.metric.name))
    if best.row.uses_similarity:
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


def _verb(difference: float) -> str:
    return "lowers" if difference < 0 else "raises" if difference > 0 else "does not change"


def _under(rule: str) -> str:
    return f" where the answer is {answered_by(rule)}"


def _unit(results: Results) -> str:
    text = unit(results.metric, results)
    return f" {text}" if text else ""


def _in_unit(results: Results) -> str:
    text = unit(results.metric, results)
    return f" (in {text})" if text else ""
