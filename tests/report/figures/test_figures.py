import math

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report import made_up
from simloss.report import verdict
from simloss.report.figures.calibration import calibration
from simloss.report.figures.confusion import confusion, costliest
from simloss.report.figures.gallery import gallery
from simloss.report.figures.parameter import against_parameter, on_one_scale, parameters
from simloss.report.figures.style import cropped, heat_map, plain, say_outside, ticks, what_matters
from simloss.report.figures.summary import summary
from simloss.report.figures.tradeoff import pareto_front, tradeoff
from simloss.report.figures.training import training
from simloss.report.figures.usage import strips
from simloss.report.judge.classes import Classes
from simloss.report.judge.intervals import intervals
from simloss.report.judge.mistake_costs import mistake_costs
from simloss.report.judge.run import Run
from simloss.report.judge.selection import best_of_each, points_of_families, values_of_families


def drawn(figure):
    """The figure as plotly checks it: every property has to exist and to be well-formed."""
    return go.Figure({"data": figure["data"], "layout": figure["layout"]})


def test_plotly_knows_every_property_of_every_figure(any_run):
    made = gallery(Run.read(any_run))
    for variants in made.plots.values():
        for figure in variants.values():
            drawn(figure)


def test_what_is_there_depends_on_what_was_run(ordered, alone, all_failed):
    every = {"summary", "tradeoff", "parameter-0", "parameter-1", "training", "confusion"}
    every |= {"calibration", "effective-0", "strips"}
    assert set(gallery(Run.read(ordered)).plots) == every
    assert set(gallery(Run.read(alone)).plots) == every - {
        "parameter-0",
        "parameter-1",
        "effective-0",
    }
    nothing = gallery(Run.read(all_failed))
    assert nothing.plots == {}
    assert nothing.outputs is None


def test_groups_of_curves(ordered):
    made = gallery(Run.read(ordered)).outputs
    labels = [group["label"] for group in made["groups"]]
    assert labels == [
        "the best of each loss",
        "SimLoss by r",
        "proper SimLoss by r",
        "soft targets by r",
    ]
    names = [[made["curves"][c["curve"]]["label"] for c in g["curves"]] for g in made["groups"]]
    assert names[1] == ["cross entropy", "SimLoss, r = 0.3", "SimLoss, r = 0.5", "SimLoss, r = 0.8"]
    assert names[0][0] == "cross entropy"
    assert len(names[0]) == 4
    for group in made["groups"]:
        assert len({curve["colour"] for curve in group["curves"]}) == len(group["curves"])


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12),
    st.booleans(),
    st.booleans(),
)
def test_the_front_holds_just_the_points_no_other_beats(points, x_up, y_up):
    def beats(a, b):
        better_x = a[0] >= b[0] if x_up else a[0] <= b[0]
        better_y = a[1] >= b[1] if y_up else a[1] <= b[1]
        return better_x and better_y and a != b

    expected = {p for p in points if not any(beats(q, p) for q in points)}
    front = pareto_front(points, x_up, y_up)
    assert set(front) == expected
    assert front == sorted(front)


def test_intervals_are_of_the_paired_difference():
    draw = np.random.default_rng(1)
    luck = draw.normal(0, 10, 10)
    baseline = {i: 5 + luck[i] for i in range(10)}
    row = {i: 4 + luck[i] + draw.normal(0, 0.01) for i in range(10)}
    ((low, high),) = intervals(baseline, [row], 1 / 3)
    mean = np.mean(list(baseline.values()))
    assert mean - 1.02 < low < high < mean - 0.98  # the luck of the seeds is gone
    ((low, high),) = intervals(None, [row], 1 / 3)
    assert high - low > 5  # and here it is not
    one, none = intervals({0: 1.0, 1: 2.0}, [{0: 1.5}, {}], 1 / 3)
    assert math.isnan(one[0])
    assert math.isnan(none[1])


def test_intervals_of_rows_that_share_different_seeds():
    baseline = {0: 1.0, 1: 2.0, 2: 3.0}
    rows = [{0: 2.0, 1: 3.0}, {1: 1.0, 2: 2.0}, {0: 1.0, 1: 2.0, 2: 3.0}]
    found = intervals(baseline, rows, 1 / 3)
    # Counted from the baseline's mean, 2, at which the figures draw it.
    assert found[0] == pytest.approx((3.0, 3.0))
    assert found[1] == pytest.approx((1.0, 1.0))
    assert found[2] == pytest.approx((2.0, 2.0))


def test_the_plot_against_the_parameter_shows_the_means(ordered):
    run = Run.read(ordered)
    assert parameters(run.verdict) == ["r"]
    figure = against_parameter(run.verdict, "r", "median", "mae")
    by_name = {line["name"]: line for line in figure["data"]}
    assert set(by_name) == {"SimLoss", "proper SimLoss", "soft targets", "cross entropy"}
    rows = {row.label: row for row in run.results.rows}
    for value, y in zip(by_name["SimLoss"]["x"], by_name["SimLoss"]["y"], strict=True):
        expected = rows[f"SimLoss, r = {value:g}"].mean("test", "median", "mae")
        assert y == pytest.approx(expected, rel=1e-4)
    assert max(by_name["SimLoss"]["marker"]["size"]) == 13  # the chosen one is large
    other = against_parameter(run.verdict, "r", "argmax", "mae")
    on_one_scale([figure, other])
    assert figure["layout"]["yaxis"]["range"] == other["layout"]["yaxis"]["range"]
    low, high = figure["layout"]["yaxis"]["range"]
    assert all(low < y < high for line in (*figure["data"], *other["data"]) for y in line["y"])


def test_summary_has_a_mark_for_each_finding(ordered):
    found = Run.read(ordered).verdict
    marks = [trace for trace in summary(found)["data"] if trace["mode"] == "markers"]
    assert sum(len(trace["x"]) for trace in marks) == len(found.findings)
    assert all(bar >= 0 for trace in marks for bar in trace["error_x"]["array"])


def test_tradeoff_takes_what_there_is_beside_the_main_metric(ordered):
    figure = tradeoff(Run.read(ordered).verdict)
    assert figure["layout"]["xaxis"]["title"]["text"] == "MAE (lower is better)"
    assert figure["layout"]["yaxis"]["title"]["text"] == "Accuracy (higher is better)"
    config = made_up.config(seeds=1, metrics=("mae",), rules=("argmax",))
    alone = verdict(made_up.records(config, made_up.same_everywhere), config)
    assert tradeoff(alone)["layout"]["yaxis"]["title"]["text"] == "NLL (lower is better)"
    for row in alone.results.rows:
        row.numbers = {key: value for key, value in row.numbers.items() if key[2] == "mae"}
    assert alone.results.columns == ["mae"]
    assert tradeoff(alone) is None


def test_few_of_many_values_are_shown_and_the_chosen_always(ordered):
    config = made_up.config(values=tuple(i / 200 for i in range(1, 190)), losses=("simloss",))
    found = verdict(made_up.records(config, made_up.same_everywhere), config)
    points = points_of_families(found.results, found.findings)["SimLoss"]
    assert len(points) == 40
    assert all(any(row is each.row for row in points) for each in found.findings[1:2])
    values = [row.value for row in points]
    assert values == sorted(values)
    assert values[0] == 1 / 200
    curves = values_of_families(found.results, found.findings, 4)["SimLoss"]
    assert len(curves) == 4


def test_of_many_families_the_best_are_shown():
    def mean_of(arm, rule, metric):
        return 1.0 if arm.options.get("label_smoothing") == 0.11 else 4.0

    config = made_up.config(seeds=2, losses=(), rules=("argmax",))
    for i in range(16):
        config = made_up.with_options(config, label_smoothing=i / 100)
    found = verdict(made_up.records(config, mean_of), config)
    shown = best_of_each(found.results, found.findings)
    assert len(shown) == 15
    assert any(row.label.endswith("smoothing 0.11") for row in shown)


def test_confusion_rows_are_percent_of_the_true_class():
    counts = np.array([[8.0, 2, 0], [0, 5, 5], [0, 0, 0]])
    three = Classes(("a", "b", "c"), None, True)
    figure = confusion(three, counts)
    assert figure["data"][0]["z"] == [[80, 20, 0], [0, 50, 50], [0, 0, 0]]
    assert figure["labels"] == ["a", "b", "c"]


def test_many_classes_are_binned_or_cut_to_the_most_confused():
    counts = np.eye(500) * 10
    ordered = confusion(Classes(tuple(str(i) for i in range(500)), None, True), counts)
    assert len(ordered["labels"]) == 50
    counts[7, 400] = counts[400, 7] = 90
    unordered = confusion(Classes(tuple(str(i) for i in range(500)), None, False), counts)
    assert len(unordered["labels"]) == 40
    assert {"7", "400"} <= set(unordered["labels"])


def test_what_is_answered_outside_the_heat_map_still_counts():
    """Class 0 is right half of the time, and its mistakes are all over the classes cut off."""
    counts = np.zeros((60, 60))
    counts[0, 0], counts[0, 1:] = 59, 1
    counts[1, 2] = counts[2, 1] = 100
    figure = confusion(Classes(tuple(str(i) for i in range(60)), None, False), counts)
    at = figure["labels"].index("0")
    assert len(figure["labels"]) == 40
    assert figure["data"][0]["z"][at][at] == 50


def test_costliest_confusions_by_hand():
    counts = np.array([[50.0, 9, 3], [1, 30, 0], [2, 0, 5]])
    classes = Classes(("a", "b", "c"), None, True)
    cost = mistake_costs(classes, made_up.config())
    found = costliest(classes, counts, cost)
    names = [(each.truth, each.answer, each.cost) for each in found]
    assert names == [("a", "b", 1), ("a", "c", 2), ("c", "a", 2), ("b", "a", 1)]
    assert found[0].share == pytest.approx(9 / (9 + 6 + 4 + 1))
    assert found[0].per_thousand == pytest.approx(90)
    assert costliest(Classes(("a",), None, True), np.array([[4.0]]), cost) == []


def test_calibration_leaves_out_nearly_empty_bins(ordered):
    results = Run.read(ordered).results
    bins = np.zeros((3, 15))
    bins[:, 3] = (100, 25, 23)
    bins[:, 9] = (9, 9, 6)
    figure = calibration(results, [(results.baseline, bins)])
    assert figure["data"][1]["x"] == [0.23]
    assert figure["data"][1]["y"] == [0.25]
    assert calibration(results, [(results.baseline, np.zeros((3, 15)))]) is None


def test_training_is_the_mean_of_the_seeds_still_training(ordered):
    results = Run.read(ordered).results

    def history(values):
        return [{"epoch": i, "validation": {"argmax": v}} for i, v in enumerate(values)]

    known = [history([4, 2]), history([2, 1, 1]), history([3, 3, 2, 2, 2])]
    figure = training(results, [(results.baseline, known)])
    assert figure["data"][0]["y"] == [3, 2, 1.5]  # as long as the middle one
    assert training(results, [(results.baseline, [])]) is None


def test_strips_count_the_classes_in_use():
    classes = Classes(("a", "b", "c"), None, True)
    config = made_up.config(losses=())
    found = verdict(made_up.records(config, made_up.same_everywhere), config)
    shares = [(found.results.baseline, np.array([0.9995, 0.0005, 0.0]))]
    figure = strips(classes, shares, np.array([0.5, 0.25, 0.25]))
    assert figure["layout"]["yaxis"]["ticktext"] == ["truth · 3", "cross entropy · 1"]
    assert figure["data"][0]["z"][0] == [50, 25, 25]


def test_names_are_cut_and_cannot_be_tags():
    assert plain("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
    assert len(plain("y" * 300)) == 32
    assert heat_map({}, ["<i>"])["labels"] == ["&lt;i&gt;"]


@pytest.mark.parametrize(("count", "step"), [(3, 1), (12, 1), (13, 2), (100, 10), (1000, 100)])
def test_ticks_are_round(count, step):
    found = ticks([str(i) for i in range(count)])
    assert found["tickvals"][1] - found["tickvals"][0] == step


def test_one_ruinous_value_does_not_flatten_a_plot():
    usual = [1.0, 1.1, 1.15, 1.2, 1.3, 1.4]
    assert what_matters(usual) == (1.0, 1.4)
    assert what_matters([*usual, 516343.5, float("nan")]) == (1.0, 1.4)
    assert what_matters([1.0, 50.0]) == (1.0, 50.0)  # too few to call one far outside
    shown = {}
    assert cropped(shown, [*usual, 516343.5]) == 1
    assert shown["range"][1] < 2
    figure = {}
    say_outside(figure, 0, "marks")
    assert figure == {}
    say_outside(figure, 1, "marks")
    assert figure["annotations"][0]["text"] == "1 mark outside"
