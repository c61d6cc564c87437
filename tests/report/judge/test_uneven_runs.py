"""Treatments that have other runs than cross entropy: failed, under way, or added later."""

import pytest

from report import made_up
from simloss.report import verdict

HARD = (8, 9)


def truth(arm, rule, metric):
    """SimLoss is clearly better, soft targets are cross entropy."""
    if metric != "mae":
        return 0.5
    error = 1.6 if arm.loss != "simloss" else 1.4
    return error - 0.15 * (rule == "median")


@pytest.fixture
def run():
    """Ten seeds, of which two are hard."""
    config = made_up.config(losses=("simloss", "soft-target"), values=(0.5,))
    records = made_up.records(config, truth, noise=0.01, luck=0.0)
    for record in (each for each in records if each["seed"] in HARD):
        for part in record["metrics"].values():
            for values in part.values():
                values["mae"] += 3.0
    return config, records


def without(records, loss, seeds):
    return [r for r in records if r["treatment"]["loss"] != loss or r["seed"] not in seeds]


def test_failing_on_hard_seeds_is_no_merit(run):
    config, records = run
    whole, uneven = (
        verdict(each, config) for each in (records, without(records, "soft-target", HARD))
    )
    assert str(uneven.recommendation) == "SimLoss, r = 0.5, answered by the median"
    assert uneven.sentence == whole.sentence
    for mine, other in zip(
        uneven.table.splitlines()[1:], whole.table.splitlines()[1:], strict=True
    ):
        if "soft targets" not in mine:
            assert mine == other
    [soft] = [row for row in uneven.results.rows if "soft" in row.label]
    [base] = [row for row in uneven.results.rows if row.is_baseline]
    assert soft.mean("test", "argmax", "mae") == pytest.approx(
        base.mean("test", "argmax", "mae"), abs=0.02
    )
    assert "soft targets, r = 0.5 has other runs than cross entropy" in " ".join(uneven.notes)


def test_no_common_seed_is_said(run):
    config, records = run
    apart = without(records, "cross-entropy", range(5, 10))
    for loss in ("simloss", "soft-target"):
        apart = without(apart, loss, range(5))
    assert verdict(apart, config).sentence.startswith("No other treatment has a run in common")


@pytest.mark.parametrize("others", [0, 3])
def test_cross_entropy_is_not_recommended_over_what_it_was_not_compared_with(others):
    """A run under way: cross entropy's runs come first, or none is in common yet."""
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax",))
    records = made_up.records(config, truth)
    kept = without(without(records, "cross-entropy", range(5, 10)), "simloss", range(10 - others))
    found = verdict(kept, config)
    assert found.recommendation is None
    assert found.advice == []
    assert "→" not in found.table


def test_runs_outside_the_configuration_hide_no_missing_ones(run):
    config, records = run
    other = made_up.config(losses=("proper",), values=(0.5,))
    more = made_up.records(other, truth)
    found = verdict([*without(records, "simloss", HARD), *more], config)
    assert "2 of 30 runs are not there yet." in found.notes


def test_few_shared_runs_are_not_called_no_difference(run):
    config, records = run
    few = without(without(records, "simloss", range(1, 10)), "soft-target", range(1, 10))
    found = verdict(few, config)
    assert not found.can_tell
    assert "1 run cannot tell whether training with similarity helps" in found.sentence
