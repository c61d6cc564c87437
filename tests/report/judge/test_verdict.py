import json
from dataclasses import replace

import pytest

from report import made_up
from simloss import data
from simloss.experiment.plan.treatment import Treatment
from simloss.report import verdict
from simloss.report.judge.wording import _UNITS
from simloss.report.tables.markdown import markdown_of


def similarity_helps_by(gain, rule_gain=0.7):
    """Every similarity lowers each number by `gain`, the median by `rule_gain`."""

    def mean_of(arm, rule, metric):
        helped = 0 if made_up.without_similarity(arm) else gain
        return 4.0 - helped - (rule_gain if rule == "median" else 0)

    return mean_of


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
    assert {each.comparisons for each in made} == {7}  # 3 families x 2 rules, argmax for median
    assert len(found.findings) == 8


def test_soft_targets_can_win():
    def mean_of(arm, rule, metric):
        return {"soft-target": 3.0, "proper": 3.5}.get(arm.loss, 4.0)

    config = made_up.config()
    found = verdict(made_up.records(config, mean_of), config)
    assert found.recommendation.row.family == "soft targets"


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


@pytest.mark.parametrize("losses", [(), ("simloss",)])
def test_one_model_is_compared_with_nothing(losses):
    """`simloss report MODEL`: no change, no run that was won, nothing to use instead."""
    config = made_up.config(losses=losses, seeds=1, values=(0.5,))
    only = replace(config, treatments=config.treatments[-1:])
    found = verdict(made_up.records(only, similarity_helps_by(0.5)), only)
    label = only.treatments[0].label
    assert found.sentence.startswith(f"One model, {label}: the mean error is ")
    assert found.recommendation is None
    assert found.advice == []
    assert found.notes == ()
    assert "change" not in found.table
    assert "better in" not in found.table
    assert "→" not in found.table
    text = markdown_of(found)
    assert "**" not in text  # bold is the best of several
    assert "Means over runs" not in text


def test_one_split_for_all_seeds_is_said():
    config = made_up.config()
    made = made_up.records(config, made_up.same_everywhere)
    fixed = replace(config, split=replace(config.split, new_for_each_seed=False))
    assert any("share one split" in note for note in verdict(made, fixed).notes)
    assert not any("share one split" in note for note in verdict(made, config).notes)


@pytest.mark.parametrize("table", [data.abalone, data.diamonds])
def test_units_are_those_of_the_data(table):
    assert _UNITS[table().name] == table().notes["unit"]


def test_a_winner_without_similarity_is_named():
    config = made_up.config(losses=("simloss",), values=(0.5,))
    config = replace(config, treatments=(*config.treatments, Treatment("corn")))

    def truth(arm, rule, metric):
        return 1.6 - {"simloss": 0.2, "corn": 0.6}.get(arm.loss, 0.0)

    found = verdict(made_up.records(config, truth, noise=0.01), config)
    assert found.recommendation.row.label == "CORN"
    assert "CORN" in found.sentence


def test_a_planted_effect_is_found_and_said_in_order():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.5)), config)
    assert found.helps
    assert found.can_tell
    first = found.sentence.split(". ")[0]
    assert first.startswith("Answer by the median: mean error ")
    assert "rings (better in all 10 runs)" in found.sentence
    assert "Training with similarity lowers that to about 2." in found.sentence
    assert "%, between −" in found.sentence
    assert "; better in all 10 runs): " in found.sentence
    assert found.recommendation.rule == "median"
    assert found.recommendation.row.uses_similarity


def test_no_effect_is_said_and_cross_entropy_wins():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.0)), config)
    assert not found.helps
    assert "Training with similarity makes no clear difference: " in found.sentence
    assert str(found.recommendation) == "cross entropy, answered by the median"


def test_a_harmful_similarity_is_said_to_do_harm():
    config = made_up.config(rules=("argmax",))
    found = verdict(made_up.records(config, similarity_helps_by(-1.0)), config)
    assert "Training with similarity does harm: " in found.sentence
    assert str(found.recommendation) == "cross entropy, answered by the most probable class"


def test_a_decision_that_does_nothing_is_not_praised():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.5, rule_gain=0.001)), config)
    assert found.judgement.decision is None or ", which may be luck)" in found.sentence


def test_a_gain_that_is_too_small_is_not_recommended():
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax",))
    made = made_up.records(config, similarity_helps_by(0.02), noise=0.001)
    small, enough = (verdict(made, config, worthwhile=share) for share in (0.01, 0.001))
    assert "Training with similarity gains less than 1 %: SimLoss" in small.sentence
    assert small.recommendation.row.is_baseline
    assert not small.helps
    assert enough.recommendation.row.uses_similarity


@pytest.mark.parametrize("seeds", [1, 2, 4])
def test_few_runs_recommend_the_baseline_and_say_how_many_it_takes(seeds):
    config = made_up.config(seeds=seeds)
    found = verdict(made_up.records(config, similarity_helps_by(0.5)), config)
    assert not found.can_tell
    assert not found.helps
    assert f"{seeds} run{'s' * (seeds > 1)} cannot tell whether training with" in found.sentence
    assert " 5 might: " in found.sentence
    assert found.recommendation.row.is_baseline


def test_more_runs_are_asked_for_where_they_would_tell():
    config = made_up.config(seeds=6, losses=("simloss",), values=(0.5,), rules=("argmax",))
    found = verdict(made_up.records(config, similarity_helps_by(0.1), noise=0.06, seed=3), config)
    asked = found.judgement.similarity
    assert not asked.is_yes
    wanted = asked.runs_wanted
    expected = f"About {wanted} runs would tell." if wanted else "More runs would not tell;"
    assert expected in found.sentence


def test_ruinous_values_in_the_grid_change_nothing():
    """The advice must not depend on how foolish the grid is."""
    plain = made_up.config(values=(0.3, 0.5))
    foolish = made_up.config(values=(0.3, 0.5, 0.95, 0.99))

    def mean_of(arm, rule, metric):
        ruin = 3.0 if arm.value in (0.95, 0.99) else 0.0
        gain = {"soft-target": 0.3, "proper": 0.2}.get(arm.loss, 0.0)
        return 4.0 - gain + ruin - 0.7 * (rule == "median")

    made = made_up.records(foolish, mean_of)
    sane = [each for each in made if each["treatment"].get("value") not in (0.95, 0.99)]
    one, other = verdict(sane, plain), verdict(made, foolish)
    assert one.sentence == other.sentence
    assert str(one.recommendation) == str(other.recommendation)
    assert one.as_dict() == {**other.as_dict(), "notes": list(one.notes)}


def with_constant(records, value):
    """Cross entropy's cells, with what the best constant answer reaches."""
    for record in records:
        if record["treatment"]["loss"] == "cross-entropy":
            about = {"answer": "4", "validation": value, "test": value + record["seed"] / 100}
            record["constant"] = {"mae": about}
    return records


def test_nets_that_learned_nothing_are_not_recommended():
    config = made_up.config()
    made = with_constant(made_up.records(config, similarity_helps_by(0.3), luck=0.0), 3.0)
    found = verdict(made, config)
    assert found.judgement.learned_nothing
    said = "Cross entropy learned nothing that shows in the mean error: it is "
    assert found.sentence.startswith(said)
    assert (
        "if the answer is always 4. So no loss is recommended. Better than that" in found.sentence
    )
    assert found.recommendation is None
    assert found.advice == []
    assert found.as_dict()["learned_nothing"]
    learned = verdict(with_constant(made, 6.0), config)
    assert not learned.judgement.learned_nothing
    assert learned.recommendation is not None


def test_right_answers_are_told_of_where_mistakes_seem_no_smaller():
    config = made_up.config(losses=("simloss",), values=(0.5,))
    made = with_constant(made_up.records(config, similarity_helps_by(0.3)), 3.0)
    for record in made:
        for part in ("validation", "test"):
            record["metrics"][part]["argmax"]["accuracy"] = 0.4
        if "constant" in record:
            record["constant"]["accuracy"] = {"answer": "4", "validation": 0.3, "test": 0.3}
    found = verdict(made, config)
    assert found.judgement.learned_nothing
    assert "Yet it gives more right answers than that one in every run" in found.sentence
    made[0]["constant"]["accuracy"]["test"] = 0.5
    assert "Yet" not in verdict(made, config).sentence


def test_of_nothing_learned_only_what_beats_the_constant_is_named():
    config = made_up.config(losses=("soft-target",), values=(0.5,))
    made = made_up.records(config, similarity_helps_by(0.3), luck=0.0)
    best = "if it is no luck, is 2.96 with soft targets, r = 0.5, answered by the median."
    assert verdict(with_constant(made, 3.0), config).sentence.endswith(best)
    assert verdict(with_constant(made, 2.0), config).sentence.endswith("no loss is recommended.")


def test_a_winner_that_is_no_net_is_named_first_and_similarity_still_answered():
    config = made_up.config(losses=("simloss",), values=(0.5,))
    made = made_up.records(config, similarity_helps_by(0.5), noise=0.02)
    for seed in config.seeds:
        numbers = {"nearest": {"mae": 2.0 + seed / 100, "accuracy": 0.5}}
        words = {"loss": "boosted-regression", "label": "boosted regression"}
        words |= {"family": "boosted regression", "parameter": None}
        both = {"validation": numbers, "test": numbers}
        head = {"cell": f"boosted-{seed}", "status": "done", "seed": seed, "treatment": words}
        made.append({**head, "metrics": both})
    found = verdict(made, config)
    assert found.sentence.startswith("The best here is boosted regression: mean error about ")
    assert "Training with similarity lowers that to about " in found.sentence
    assert str(found.recommendation) == "boosted regression, answered by the nearest class"
    advice = replace(found, command="simloss train --from run").advice
    assert advice[-1] == (
        "To train it on 80 % of the data, to answer by the median: simloss train --from run"
    )
    assert found.helps
    assert {table.rule for table in found.tables} == {"argmax", "median", "nearest"}
    [own] = [table for table in found.tables if table.rule == "nearest"]
    assert list(own.groups) == ["boosted regression"]
    assert found.as_dict()["other"]["candidate"]["label"] == "boosted regression"


def with_trees(made, config, value):
    for seed in config.seeds:
        numbers = {"median": {"mae": value + (seed % 3 - 1) / 2, "accuracy": 0.5}}
        words = {"loss": "boosting", "label": "boosted trees", "family": "boosted trees"}
        words |= {"parameter": None}
        head = {"cell": f"trees-{seed}", "status": "done", "seed": seed, "treatment": words}
        made.append({**head, "metrics": {"validation": numbers, "test": numbers}})
    return made


@pytest.mark.parametrize(
    ("seeds", "value", "said"),
    [
        (10, 3.2, " Perhaps better: boosted trees (−"),
        (3, 3.2, " 3 runs cannot tell whether this is better: boosted trees (−"),
        (10, 4.0, ""),
    ],
)
def test_others_that_lead_are_named_though_they_cannot_be_told_apart(seeds, value, said):
    config = made_up.config(losses=("simloss",), values=(0.5,), seeds=seeds)
    made = made_up.records(config, similarity_helps_by(0.0), luck=0.1)
    found = verdict(with_trees(made, config, value), config)
    assert found.recommendation is not None
    assert not found.judgement.other.is_yes
    assert "boosted trees" in found.sentence if said else "boosted trees" not in found.sentence
    assert said in found.sentence


def test_a_decision_that_test_data_do_not_confirm_is_called_so():
    config = made_up.config(losses=("simloss",), values=(0.5,))
    made = made_up.records(config, made_up.same_everywhere, noise=0.1, luck=0.1)
    for record in made:
        record["metrics"]["validation"]["median"]["mae"] -= 1
        record["metrics"]["test"]["median"]["mae"] += 0.5
    said = verdict(made, config).sentence
    assert said.startswith("Validation data choose the median; on test data that is no better: ")
    assert " (better in 0 of 10 runs)." in said


def test_nets_that_were_stopped_too_early_are_no_evidence():
    config = made_up.config(losses=("simloss",), values=(0.5,))
    config = replace(config, training=replace(config.training, epochs=2))
    made = made_up.records(config, similarity_helps_by(0.5))
    said = " Most nets were still getting better when 2 epochs stopped them"
    for kept, is_said in ((2, True), (1, False)):
        for record in made:
            record["best_epoch"] = {"argmax": 1, "median": kept}
        assert (said in verdict(made, config).sentence) == is_said


def test_a_decision_that_changes_nothing_says_so():
    config = made_up.config(losses=("simloss",), values=(0.5,))
    made = made_up.records(config, made_up.same_everywhere, noise=0.0, luck=0.1)
    for record in made:
        record["metrics"]["validation"]["median"]["mae"] -= 0.01  # so that the median is chosen
    said = verdict(made, config).sentence
    assert said.startswith("Answer by the median: mean error 4.")
    assert " rings, as before. " in said


def test_what_is_claimed_is_one_gain_and_not_two():
    """The percentage is of the value that is claimed, which is less than what was seen."""
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax",))
    found = verdict(made_up.records(config, similarity_helps_by(1.0, 0), noise=0.2), config)
    assert found.helps
    asked = found.judgement.similarity
    before, claimed = asked.comparison.baseline, asked.expected
    assert f"{100 * (claimed / before - 1):.0f} %".replace("-", "−") in found.sentence
    assert asked.gain > 1 - claimed / before + 0.005


def test_what_is_as_good_is_listed_simplest_first():
    def mean_of(arm, rule, metric):
        return 4.0 if arm.loss == "cross-entropy" else 3.0

    config = made_up.config(losses=("blended", "proper", "soft-target"), values=(0.5,))
    found = verdict(made_up.records(config, mean_of), config)
    losses = [each.row.treatment["loss"] for each in found.judgement.as_good]
    order = ["soft-target", "proper", "blended"]
    assert losses == [name for name in order if name in losses]
    assert len(losses) == 2
    assert "Not told apart from it: " in found.sentence


def test_accuracy_is_raised_in_points():
    def mean_of(arm, rule, metric):
        return 0.43 + (0.02 if arm.loss == "proper" else 0)

    config = made_up.config(
        metrics=("superclass_accuracy", "accuracy", "failed_superclass_accuracy"),
        rules=("argmax", "tree"),
        similarity="tree",
        source="cifar100",
    )
    found = verdict(made_up.records(config, mean_of, noise=0.001, luck=0.01), config)
    assert "Training with similarity raises that to about 4" in found.sentence
    assert " points, between +" in found.sentence
    assert "mean_height" in found.results.columns  # FSA never stands alone


def test_the_terminal_table_has_every_finding_and_marks_the_recommended():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.5)), config)
    head, *lines = found.table.splitlines()
    assert head.split()[:6] == ["test", "decision", "MAE", "change", "better", "in"]
    assert len(lines) == len(found.findings)
    [marked] = [line for line in lines if line.startswith("→")]
    assert found.recommendation.row.label in marked
    assert " 10/10 " in marked


def test_the_unit_is_that_of_the_folder_where_it_has_one():
    config = made_up.config()
    made = made_up.records(config, similarity_helps_by(0.5))
    assert " grades (" in verdict(made, config, unit="grades").sentence
    squared = replace(config, metrics=("mse",))
    numbers = made_up.records(squared, similarity_helps_by(0.5))
    assert "grades" not in verdict(numbers, squared, unit="grades").sentence


def test_the_judgement_as_json_is_the_judgement():
    config = made_up.config()
    found = verdict(made_up.records(config, similarity_helps_by(0.5)), config)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["sentence"] == found.sentence
    assert plain["similarity_helps"] is True
    assert plain["recommendation"]["label"] == found.recommendation.row.label
    assert plain["similarity"]["runs_won"] == 10
    low, high = plain["similarity"]["interval"]
    assert low < plain["similarity"]["difference"] < high < 0


def test_each_value_failing_on_another_seed_still_gives_a_verdict():
    config = made_up.config(seeds=3, losses=("simloss",), rules=("argmax",))
    made = made_up.records(config, made_up.same_everywhere)
    missing = {(0.3, 0), (0.5, 1), (0.8, 2)}
    kept = [
        made_up.failed(r) if (r["treatment"].get("value"), r["seed"]) in missing else r
        for r in made
    ]
    assert "2 runs cannot tell" in verdict(kept, config).sentence
