from dataclasses import replace

import numpy as np
import pytest

from report import made_up
from simloss import data
from simloss.experiment.plan.treatment import Treatment
from simloss.report import verdict
from simloss.report.judge.wording import _UNITS


def similarity_helps_by(gain, rule_gain=0.7):
    """Every similarity lowers each number by `gain`, the median by `rule_gain`."""

    def mean_of(arm, rule, metric):
        helped = 0 if made_up.without_similarity(arm) else gain
        return 4.0 - helped - (rule_gain if rule == "median" else 0)

    return mean_of


def test_a_planted_effect_is_found_and_said():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.5)), config)
    assert found.helps
    assert found.can_tell
    assert found.sentence.startswith("Similarity (")
    assert "lowers the mean error from" in found.sentence
    assert "rings (−" in found.sentence
    assert "10 runs); answering by the median instead lowers cross entropy's own to" in (
        found.sentence
    )
    assert "; both together reach" in found.sentence
    assert found.recommendation.rule == "median"
    assert found.recommendation.row.uses_similarity


def test_no_effect_is_said_and_cross_entropy_wins():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.0)), config)
    assert not found.helps
    assert found.sentence.startswith("Similarity does not help here: the mean error is")
    assert "no clear difference (p = " in found.sentence
    assert found.sentence.endswith(", which we would use.")  # by luck others are lower on test
    assert found.recommendation.row.is_baseline
    assert found.recommendation.rule == "median"
    assert str(found.recommendation) == "cross entropy, answered by the median"


def test_a_harmful_similarity_is_called_worse():
    config = made_up.config(rules=("argmax",))
    found = verdict(made_up.records(config, similarity_helps_by(-1.0)), config)
    assert "Similarity does not help here" in found.sentence
    assert "significantly worse (p = " in found.sentence
    assert str(found.recommendation) == "cross entropy, answered by the most probable class"


def test_a_decision_that_does_nothing_is_not_praised():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.5, rule_gain=0.0)), config)
    assert "by the median instead makes no clear difference to cross entropy's own (" in (
        found.sentence
    )


def test_help_under_one_decision_only():
    def mean_of(arm, rule, metric):
        helped = rule == "median" and not made_up.without_similarity(arm)
        return 3.0 if helped else 4.0

    config = made_up.config()
    found = verdict(made_up.records(config, mean_of), config)
    assert found.helps
    assert "10 runs) where the answer is the median; answering by the median" in found.sentence
    assert "both together" not in found.sentence  # the first clause has said it


def test_another_loss_with_another_decision_is_named():
    def mean_of(arm, rule, metric):
        helped = 0.5 * (not made_up.without_similarity(arm)) + (1.0 if arm.options else 0)
        return 4.0 - helped - (0.3 if rule == "median" else 0)

    config = made_up.with_options(made_up.config(losses=("proper",)), label_smoothing=0.1)
    found = verdict(made_up.records(config, mean_of), config)
    assert "; cross entropy, label smoothing 0.1, answered by the median, reaches 2.7" in (
        found.sentence
    )


def test_accuracy_is_raised_in_points():
    def mean_of(arm, rule, metric):
        return 0.43 + (0.02 if arm.loss == "proper" else 0)

    config = made_up.config(
        metrics=("superclass_accuracy", "accuracy", "failed_superclass_accuracy"),
        rules=("argmax", "tree"),
        similarity="tree",
        source="cifar100",
    )
    found = verdict(made_up.records(config, mean_of, noise=0.002, luck=0.01), config)
    assert "Similarity (proper SimLoss (tree), t = " in found.sentence
    assert "raises superclass accuracy from 4" in found.sentence
    assert " points, p = 0.0" in found.sentence
    assert "answering by the lowest expected tree cost instead makes no clear" in found.sentence
    assert "mean_height" in found.results.columns  # FSA never stands alone


@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_few_runs_show_a_tendency_only(seeds):
    config = made_up.config(seeds=seeds)
    found = verdict(made_up.records(config, similarity_helps_by(0.5)), config)
    assert not found.can_tell
    assert found.sentence.startswith(f"A tendency only, from {seeds} run")
    assert "p =" not in found.sentence
    assert any("no difference can be called significant" in note for note in found.notes)
    assert found.advice[0].startswith("We would use, by tendency: ")


def test_of_200_null_runs_at_most_16_are_called_significant():
    config = made_up.config(values=(0.1, 0.3, 0.5, 0.7, 0.9), rules=("argmax",))
    called = sum(
        verdict(made_up.records(config, made_up.same_everywhere, seed=i), config).helps
        for i in range(200)
    )
    assert called <= 16


def test_the_parameter_is_chosen_on_validation_only():
    config = made_up.config(losses=("simloss",), rules=("argmax",))
    made = made_up.records(config, made_up.same_everywhere, noise=0.01)
    for record in made:
        if record["treatment"].get("value") == 0.5:  # best on validation, worst on test
            record["metrics"]["validation"]["argmax"]["mae"] -= 1
            record["metrics"]["test"]["argmax"]["mae"] += 1
    found = verdict(made, config)
    assert found.findings[1].row.label == "SimLoss, r = 0.5"
    assert not found.helps


def test_holm_covers_families_rules_and_decisions():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.5)), config)
    made = [each.comparison for each in found.findings if each.comparison]
    assert {each.comparisons for each in made} == {7}  # 3 families x 2 rules, median for argmax
    assert len(found.findings) == 8


def test_soft_targets_can_win():
    def mean_of(arm, rule, metric):
        return {"soft-target": 3.0, "proper": 3.5}.get(arm.loss, 4.0)

    config = made_up.config()
    found = verdict(made_up.records(config, mean_of), config)
    assert found.recommendation.row.family == "soft targets"


def test_a_loss_without_similarity_takes_part_but_is_not_called_similarity():
    def mean_of(arm, rule, metric):
        return 3.0 if arm.options else 4.0

    config = made_up.with_options(made_up.config(rules=("argmax",)), label_smoothing=0.1)
    found = verdict(made_up.records(config, mean_of), config)
    assert not found.helps
    assert "does not help here" in found.sentence
    assert found.recommendation.row.label == "cross entropy, label smoothing 0.1"


def test_failed_cells_are_left_out_and_counted():
    config = made_up.config()
    made = made_up.records(config, similarity_helps_by(0.5))
    broken = [made_up.failed(r) if r["treatment"].get("value") == 0.8 else r for r in made]
    found = verdict(broken, config)
    assert "30 runs failed and are left out." in found.notes
    assert all(each.row.value != 0.8 for each in found.findings)
    assert found.helps


def test_a_treatment_does_not_win_by_failing_on_hard_seeds():
    config = made_up.config(losses=("simloss",), rules=("argmax",))
    made = made_up.records(config, made_up.same_everywhere, noise=0.01, luck=1.0)
    easy = sorted(made, key=lambda r: r["metrics"]["validation"]["argmax"]["mae"])[0]["seed"]
    kept = [
        record
        if record["treatment"].get("value") != 0.5 or record["seed"] == easy
        else made_up.failed(record)
        for record in made
    ]
    assert verdict(kept, config).findings[1].row.value != 0.5


def test_each_value_failing_on_another_seed_still_gives_a_verdict():
    config = made_up.config(seeds=3, losses=("simloss",), rules=("argmax",))
    made = made_up.records(config, made_up.same_everywhere)
    missing = {(0.3, 0), (0.5, 1), (0.8, 2)}
    kept = [
        made_up.failed(r) if (r["treatment"].get("value"), r["seed"]) in missing else r
        for r in made
    ]
    assert verdict(kept, config).sentence.startswith("A tendency only, from 2 runs")


def test_nothing_finished_cross_entropy_missing_or_alone():
    config = made_up.config()
    made = made_up.records(config, made_up.same_everywhere)
    nothing = verdict([made_up.failed(record) for record in made], config)
    assert nothing.sentence == "No run has finished, so there is nothing to say."
    assert nothing.recommendation is None
    assert nothing.table.count("\n") == 0
    assert verdict([], config).notes == ("100 of 100 runs are not there yet.",)
    missing = verdict([r for r in made if r["treatment"].get("value")], config)
    assert missing.sentence.startswith("Cross entropy has not finished a run")
    alone = made_up.config(losses=())
    found = verdict(made_up.records(alone, similarity_helps_by(0)), alone)
    assert found.sentence.startswith("Only cross entropy was run: the mean error is ")
    assert "answered by the most probable class and " in found.sentence


def test_one_split_for_all_seeds_is_said():
    config = made_up.config()
    made = made_up.records(config, made_up.same_everywhere)
    fixed = replace(config, split=replace(config.split, new_for_each_seed=False))
    assert any("share one split" in note for note in verdict(made, fixed).notes)
    assert not any("share one split" in note for note in verdict(made, config).notes)


def test_the_terminal_table_has_every_finding_and_marks_the_recommended():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.5)), config)
    lines = found.table.splitlines()
    assert lines[0].split() == ["test", "decision", "MAE", "change", "p", "Accuracy", "NLL", "ECE"]
    assert len(lines) == 1 + len(found.findings)
    marked = [line for line in lines if line.startswith("→")]
    assert len(marked) == 1
    assert found.recommendation.row.label in marked[0]
    assert "median" in marked[0]
    assert str(found).startswith(found.sentence)


def test_numbers_stand_for_what_they_are():
    """The sentence's numbers, computed again by hand."""
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax",))
    made = made_up.records(config, similarity_helps_by(0.5))

    def mean(value):
        chosen = [r for r in made if r["treatment"].get("value") == value]
        return np.mean([r["metrics"]["test"]["argmax"]["mae"] for r in chosen])

    before, after = mean(None), mean(0.5)
    expected = f"from {before:.2f} to {after:.2f} rings (−{100 * (1 - after / before):.0f} %, "
    assert expected in verdict(made, config).sentence


def test_the_unit_is_that_of_the_folder_where_it_has_one():
    config = made_up.config(seeds=1)
    made = made_up.records(config, similarity_helps_by(0.5))
    assert " grades (−" in verdict(made, config, unit="grades").sentence
    squared = replace(config, metrics=("mse",))
    numbers = made_up.records(squared, similarity_helps_by(0.5))
    assert "grades" not in verdict(numbers, squared, unit="grades").sentence


@pytest.mark.parametrize("table", [data.abalone, data.diamonds])
def test_units_are_those_of_the_data(table):
    assert _UNITS[table().name] == table().notes["unit"]


def test_few_runs_do_not_recommend_what_test_data_speaks_against():
    """Best on validation, worse on test: too few runs to tell, so cross entropy it is."""
    config = made_up.config(seeds=3, losses=("proper",), values=(0.5,), rules=("argmax",))
    records = made_up.records(config, lambda arm, rule, name: 2.0, noise=0.001)
    for record in records:
        if record["treatment"]["loss"] == "proper":
            for part, change in (("validation", -0.5), ("test", 0.5)):
                record["metrics"][part]["argmax"]["mae"] += change
    assert verdict(records, config).recommendation.row.is_baseline
    for record in records:
        if record["treatment"]["loss"] == "proper":
            record["metrics"]["test"]["argmax"]["mae"] -= 1
    assert not verdict(records, config).recommendation.row.is_baseline


def test_a_decision_that_is_worse_on_test_is_not_recommended_from_few_runs():
    config = made_up.config(losses=("proper",), seeds=1)
    records = made_up.records(config, lambda arm, rule, metric: 3.0, noise=0, luck=0)
    for record in records:
        record["metrics"]["validation"]["median"]["mae"] = 2.0
        record["metrics"]["test"]["median"]["mae"] = 4.0
    best = verdict(records, config).recommendation
    assert best.row.is_baseline
    assert best.rule == "argmax"


def test_the_best_decision_is_praised_at_its_own_place():
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax", "median", "mean"))

    def truth(arm, rule, metric):
        return {"argmax": 1.6, "median": 1.4, "mean": 1.5}[rule] + 0.3 * (arm.loss == "simloss")

    found = verdict(made_up.records(config, truth, noise=0.01), config)
    assert "the median instead lowers cross entropy's own to 1.4" in found.sentence
    praised = found.sentence.split(", the best here")[0]
    assert "median" in praised
    assert "mean instead" not in praised


def test_a_tendency_is_about_what_we_would_use():
    config = made_up.config(seeds=2, losses=("simloss", "proper"), values=(0.5,))
    records = made_up.records(config, lambda arm, rule, metric: 1.6, noise=0.0)
    for record in records:
        shift = {"simloss": (-0.2, 0.3), "proper": (-0.1, -0.4)}.get(record["treatment"]["loss"])
        for part, by in zip(("validation", "test"), shift or (0, 0), strict=True):
            record["metrics"][part]["argmax"]["mae"] += by
    found = verdict(records, config)
    assert found.recommendation.row.label == "proper SimLoss, r = 0.5"
    assert "similarity (proper SimLoss, r = 0.5) lowers" in found.sentence


def test_what_does_not_move_is_left_where_it_is():
    config = made_up.config(seeds=2, losses=("simloss",), values=(0.5,))
    found = verdict(made_up.records(config, lambda *_: 1.5, noise=0.0, luck=0.0), config)
    assert "leaves the mean error at 1.50" in found.sentence
    assert "leaves cross entropy's own at 1.50" in found.sentence


def test_small_numbers_that_move_are_not_left_where_they_are():
    """Classes may be thousandths apart, and the mean error is then in their unit."""
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax",))

    def truth(arm, rule, metric):
        return 1.6e-5 - 0.5e-5 * (arm.loss == "simloss")

    found = verdict(made_up.records(config, truth, noise=0.0, luck=0.0), config)
    assert "lowers the mean error from 1.6e-05 to 1.1e-05 rings (−31 %, p" in found.sentence


def test_of_several_decisions_the_best_is_named():
    """ "Both together" after two of them would be said of the last."""
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax", "median", "mean"))

    def truth(arm, rule, metric):
        return {"argmax": 1.6, "median": 1.2, "mean": 1.4}[rule] - 0.2 * (arm.loss == "simloss")

    found = verdict(made_up.records(config, truth, noise=0.01), config)
    assert found.recommendation.rule == "median"
    assert "; SimLoss, r = 0.5, answered by the median, reaches 1.0" in found.sentence


def test_a_small_p_is_not_called_no_clear_difference():
    """Better in all runs but one, and ruinous there: no mark, but p is small."""
    config = made_up.config(seeds=14, losses=("simloss",), values=(0.5,), rules=("argmax",))
    records = made_up.records(config, similarity_helps_by(0.5), noise=0.01)
    for record in records:
        if record["treatment"]["loss"] == "simloss" and record["seed"] == 3:
            record["metrics"]["test"]["argmax"]["mae"] += 40
    found = verdict(records, config)
    assert not found.helps
    assert "without, better in most runs but not on average (p = 0.0" in found.sentence


def test_a_winner_without_similarity_is_named():
    config = made_up.config(losses=("simloss",), values=(0.5,))
    config = replace(config, treatments=(*config.treatments, Treatment("corn")))

    def truth(arm, rule, metric):
        return 1.6 - {"simloss": 0.2, "corn": 0.6}.get(arm.loss, 0.0)

    found = verdict(made_up.records(config, truth, noise=0.01), config)
    assert found.recommendation.row.label == "CORN"
    assert "CORN" in found.sentence
