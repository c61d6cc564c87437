"""The verdict in the order a user needs it: the decision, the similarity, what is as good."""

import math

from ...statistics import Comparison, Relabelling
from .candidates import FEWEST_RUNS, Candidate
from .judgement import Judgement, Question
from .results import Results, Row
from .wording import answered_by, between, change, listed, noun, numbers, runs, unit

# Names of what is as good that are spelt out.
_MOST_NAMES = 3


def sentence(results: Results, found: Judgement) -> str:
    """What the decision alone gains, what similarity adds to it, and what else is as good."""
    if not results.done:
        return "No run has finished, so there is nothing to say."
    if len(results.rows) == 1:
        return _alone(results, results.done[0])
    if found.baseline is None:
        return "Cross entropy has not finished a run, so there is nothing to compare with."
    if found.similarity is None and found.other is None:
        if len(results.done) > 1:
            return "No other treatment has a run in common with cross entropy."
        return _alone(results, found.baseline.row)
    if found.learned_nothing:
        return _nothing(results, found)
    parts = [_decision(results, found), _similarity(results, found), _as_good(found)]
    parts.append(_unfinished(results, found.baseline.row))
    if found.other is not None and not found.other.is_yes:
        parts.append(_ahead(results, found.other))
    elif found.other is not None:  # the winner first, with what is as good
        decided = f"With cross entropy, {parts[0][0].lower()}{parts[0][1:]}"
        parts = [_other(results, found.other), parts[2], decided, parts[1], parts[3]]
    return " ".join(part for part in parts if part)


def _unfinished(results: Results, row: Row) -> str:
    """Where most nets were still getting better when they were stopped."""
    limit, best = results.config.training.epochs, list(row.best_epochs.values())
    if sum(epoch >= limit for epoch in best) * 2 <= len(best):
        return ""
    return (
        f"Most nets were still getting better when {limit} epochs stopped them, so this is about "
        f"which learns faster: give more --epochs."
    )


def _nothing(results: Results, found: Judgement) -> str:
    assert found.learned is not None
    constant, own = numbers(results.metric, found.learned.baseline, found.learned.treatment)
    return (
        f"Cross entropy learned nothing that shows in {noun(results.metric)}: it is {own}"
        f"{_unit(results)}, and {constant} if the answer is always {found.constant}. "
        f"So no loss is recommended.{_maybe(results, found)}{_yet(results, found)}"
    )


def is_often_right(results: Results, found: Judgement) -> bool:
    """Whether cross entropy has more right answers in every run than always giving one."""
    assert found.baseline is not None
    row = found.baseline.row
    own, one = row.by_seed("test", results.rules[0], "accuracy"), row.constants.get("accuracy", {})
    both = own.keys() & one.keys()
    return bool(both) and all(own[seed] > one[seed] for seed in both)


def _yet(results: Results, found: Judgement) -> str:
    if not is_often_right(results, found):
        return ""
    return (
        " Yet it gives more right answers than that one in every run: what its mistakes cost may "
        "be set wrongly, as by a wrong order of the classes."
    )


def _maybe(results: Results, found: Judgement) -> str:
    """What beats always giving one answer where cross entropy does not; it is not tested."""
    assert found.learned is not None
    metric, constant = results.metric, found.learned.baseline
    sign = 1 if metric.higher_is_better else -1
    asked = [each.candidate for each in (found.similarity, found.other) if each is not None]
    best = max(asked, key=lambda each: sign * each.value(results))
    bar, value = numbers(metric, constant, best.value(results))
    if bar == value or found.learned.is_better or sign * (best.value(results) - constant) <= 0:
        return ""
    return f" Better than that, if it is no luck, is {value} with {best}."


def _decision(results: Results, found: Judgement) -> str:
    """What cross entropy's best decision alone does."""
    assert found.baseline is not None
    rule = answered_by(found.baseline.rule)
    question = found.decision
    if question is None:
        value = numbers(results.metric, found.baseline.value(results))[0]
        return f"Answer by {rule}: {_noun(results)} {value}{_unit(results)}."
    before, after = _numbers(results, question.comparison)
    if before == after:
        return f"Answer by {rule}: {_noun(results)} {after}{_unit(results)}, as before."
    how, moved = _wins(question.comparison), f"{before} to {after}{_unit(results)}"
    if not question.comparison.is_better:
        return (
            f"Validation data choose {rule}; on test data that is no better: {_noun(results)} "
            f"{moved} ({how})."
        )
    doubt = "" if question.is_clear or not question.has_runs else ", which may be luck"
    return f"Answer by {rule}: {_noun(results)} {moved} ({how}{doubt})."


def _similarity(results: Results, found: Judgement) -> str:
    """What training with similarity adds, and whether it can be told."""
    question = found.similarity
    if question is None:
        return ""
    assert found.baseline is not None
    comparison, name = question.comparison, _named(question.candidate, found.baseline)
    if question.is_yes:
        verb = "raises" if comparison.difference > 0 else "lowers"
        value, facts = _claimed(results, question)
        return f"Training with similarity {verb} that to about {value} ({facts}): {name}."
    facts = _facts(results, comparison)
    if not question.has_runs:
        return (
            f"{runs(comparison.runs)} cannot tell whether training with similarity helps; "
            f"{max(FEWEST_RUNS, question.runs_wanted or 0)} might: {name} ({facts})."
        )
    if question.is_clear:
        least = f"{100 * question.worthwhile:g} %"
        return f"Training with similarity gains less than {least}: {name} ({facts})."
    if comparison.mark == "-":
        return f"Training with similarity does harm: {name} ({facts})."
    return f"Training with similarity makes no clear difference: {name} ({facts}).{_more(question)}"


def _more(question: Question) -> str:
    """What would tell, where there may be something worth having."""
    if question.gain < question.worthwhile:
        return ""
    if question.runs_wanted is None or question.runs_wanted <= question.comparison.runs:
        return " More runs would not tell; more examples might."
    return f" About {runs(question.runs_wanted)} would tell."


def _other(results: Results, question: Question) -> str:
    """A winner that is not told which classes are alike."""
    value, facts = _claimed(results, question)
    best, beaten = question.candidate.row.label, question.against.row.label
    measured = f"{_noun(results)} about {value}{_unit(results)}"
    return f"The best here is {best}: {measured} (against {beaten}: {facts})."


def _ahead(results: Results, question: Question) -> str:
    """The best of the others where it leads, but cannot be told from what we would use."""
    comparison = question.comparison
    if question.gain < question.worthwhile or 2 * comparison.wins <= comparison.runs:
        return ""
    name = _named(question.candidate, question.against)
    facts = _facts(results, comparison)
    if question.has_runs:
        return f"Perhaps better: {name} ({facts})."
    return f"{runs(comparison.runs)} cannot tell whether this is better: {name} ({facts})."


def _as_good(found: Judgement) -> str:
    if not found.as_good or found.recommendation is None:
        return ""
    names = [_named(each, found.recommendation) for each in found.as_good]
    more = len(names) - _MOST_NAMES
    shown = names[:_MOST_NAMES] + ([f"and {more} more"] if more > 0 else [])
    return f"Not told apart from it: {'; '.join(shown)}."


def _named(each: Candidate, beside: Candidate) -> str:
    """The treatment, and its decision where that is another one."""
    rule = "" if each.rule == beside.rule else f", answered by {answered_by(each.rule)}"
    return f"{each.row.label}{rule}"


def _claimed(results: Results, question: Question) -> tuple[str, str]:
    """The value to expect of fresh data, and the facts about it."""
    before, after = question.comparison.baseline, question.expected
    return numbers(results.metric, before, after)[1], _facts(results, question.comparison, after)


def _facts(results: Results, comparison: Comparison, after: float | None = None) -> str:
    """As in "−5 %, between −8 and −2 %; better in 9 of 10 runs", of `after` or of what was seen."""
    before = comparison.baseline
    after = before + comparison.difference if after is None else after
    text = change(results.metric, before, after)
    low, high = comparison.interval
    if not math.isnan(low) and comparison.runs >= FEWEST_RUNS:
        text += f", {between(results.metric, before, before + low, before + high)}"
    return f"{text}; {_wins(comparison)}"


def _wins(comparison: Comparison) -> str:
    if comparison.runs == 1:
        return "1 run"
    if comparison.wins == comparison.runs:
        return (
            "better in both runs"
            if comparison.runs == 2
            else f"better in all {runs(comparison.runs)}"
        )
    return f"better in {comparison.wins} of {runs(comparison.runs)}"


def _numbers(results: Results, comparison: Comparison) -> tuple[str, ...]:
    after = comparison.baseline + comparison.difference
    return numbers(results.metric, comparison.baseline, after)


def _alone(results: Results, row: Row) -> str:
    known = [(rule, row.mean("test", rule, results.metric.name)) for rule in results.rules]
    parts = [
        f"{numbers(results.metric, value)[0]} answered by {answered_by(rule)}"
        for rule, value in known
        if not math.isnan(value)
    ]
    what, measured = noun(results.metric), unit(results.metric, results)
    where = f" (in {measured})" if measured else ""
    lead = f"One model, {row.label}" if results.is_one_net else f"Only {row.label} was run"
    return f"{lead}: {what} is {listed(parts)}{where}."


def about_relabelling(found: Relabelling | None, is_ordered: bool) -> str | None:
    """Whether the claimed similarity shows in cross entropy's own mistakes."""
    if found is None or not found.can_tell:
        return None
    what, others = ("order", "orders") if is_ordered else ("similarity", "relabellings")
    share = 100 * found.p_value
    percent = f"{share:.0f} %" if share >= 10 else f"{share:.2g} %"
    mistakes, fit = "cross entropy's mistakes", f"{percent} of random {others} fit"
    facts = f"{fit} {mistakes} as well or better"
    if found.is_real:
        rest = "" if found.p_value <= found.smallest_p_value else ", if not in every detail"
        return f"The {what} shows in {mistakes}{rest}: only {fit} them as well or better."
    if found.is_real is None:
        codes = " If these are codes, answer by the most probable class." if is_ordered else ""
        return f"Whether the {what} shows is not clear: {facts}.{codes}"
    if is_ordered:
        return (
            f"These classes do not behave like an order: {facts}. If they are codes, distances "
            f"between them mean nothing, so answer by the most probable class."
        )
    return (
        f"These classes are not alike in the way that the similarity says: {facts}. So answer by "
        f"the most probable class."
    )


def _noun(results: Results) -> str:
    return noun(results.metric).removeprefix("the ")


def _unit(results: Results) -> str:
    text = unit(results.metric, results)
    return f" {text}" if text else ""
