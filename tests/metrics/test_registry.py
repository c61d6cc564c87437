"""The registry: complete, right about directions, and FSA never alone."""

import pickle

import pytest
import torch

from simloss import Tree, metrics
from simloss.similarity import order

TREE = Tree.from_superclasses(list("vwxyz"), ["flower", "flower", "fish", "fish", "fish"])
GENERATOR = torch.Generator().manual_seed(0)
PROBABILITIES = torch.randn(40, 5, generator=GENERATOR).softmax(-1)
TRUTH = torch.randint(5, (40,), generator=GENERATOR)
CONTEXT = {"cost": "absolute", "tree": TREE, "similarity": order(5, r=0.5)}


def everything(answers, probabilities):
    return metrics.evaluate(answers, TRUTH, probabilities=probabilities, ordered=True, **CONTEXT)


def test_all_metrics_of_the_field_are_there():
    assert set(metrics.METRICS) == {
        "accuracy", "top_5_accuracy", "balanced_accuracy", "mae", "mse", "macro_mae",
        "within_1_accuracy", "quadratic_kappa", "kendall_tau", "ranked_probability_score",
        "superclass_accuracy", "failed_superclass_accuracy", "mean_height", "severity",
        "hierarchical_f1", "wu_palmer", "node_accuracy",
        "mean_cost", "mean_similarity", "nll", "brier", "calibration_error",
    }  # fmt: skip


@pytest.mark.parametrize("metric", metrics.METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_says_what_it_is(metric):
    assert metric.label
    assert metric.formula
    assert metric.needs <= {"order", "tree", "cost", "similarity", "probabilities"}
    assert all(companion in metrics.METRICS for companion in metric.companions)
    assert metrics.find(metric.name) == pickle.loads(pickle.dumps(metric)) == metric


@pytest.mark.parametrize("metric", metrics.METRICS.values(), ids=lambda metric: metric.name)
def test_the_direction_is_right(metric):
    """Full certainty in the truth is better than the reverse of it, by every metric."""
    truth = torch.tensor([0, 0, 1, 2, 3, 4])
    probabilities = 0.9 * torch.eye(5) + 0.02
    right, wrong = probabilities[truth], probabilities[4 - truth]
    good = metric(truth, truth, probabilities=right, **CONTEXT)
    bad = metric(4 - truth, truth, probabilities=wrong, **CONTEXT)
    if metric.name == "top_5_accuracy":
        assert good == bad == 1  # five classes
    else:
        assert (good > bad) == metric.higher_is_better
        assert good != bad


def test_the_uniform_call_is_the_plain_function():
    answers = PROBABILITIES.argmax(-1)
    values = everything(answers, PROBABILITIES)
    assert list(values) == list(metrics.columns(values))
    assert values["mae"] == metrics.mae(answers, TRUTH)
    assert values["within_1_accuracy"] == metrics.within_k_accuracy(answers, TRUTH, k=1)
    assert values["top_5_accuracy"] == metrics.top_k_accuracy(PROBABILITIES, TRUTH, k=5)
    assert values["nll"] == metrics.nll(PROBABILITIES, TRUTH)
    assert values["severity"] == metrics.severity(answers, TRUTH, TREE)
    assert values["mean_cost"] == values["mae"]
    assert set(values) == set(metrics.METRICS)


def test_families_take_any_number():
    assert metrics.find("top_2_accuracy").options == {"k": 2}
    assert metrics.find("within_3_accuracy").label == "Within 3"
    answers = PROBABILITIES.argmax(-1)
    found = metrics.evaluate(answers, TRUTH, ["within_2_accuracy"])
    assert found == {"within_2_accuracy": metrics.within_k_accuracy(answers, TRUTH, k=2)}
    copy = pickle.loads(pickle.dumps(metrics.find("top_2_accuracy")))
    value = copy(answers, TRUTH, probabilities=PROBABILITIES)
    assert value == metrics.top_k_accuracy(PROBABILITIES, TRUTH, k=2)


@pytest.mark.parametrize(
    ("short", "name"),
    [("sa", "superclass_accuracy"), ("FSA", "failed_superclass_accuracy"), ("MAE", "mae"),
     ("ece", "calibration_error"), ("rps", "ranked_probability_score")],
)  # fmt: skip
def test_short_names(short, name):
    assert metrics.find(short).name == name


@pytest.mark.parametrize("name", ["failed_superclass_accuracy", "severity"])
def test_numbers_about_the_errors_never_stand_alone(name):
    shown = metrics.columns([name], probabilities=False)
    assert shown == ["accuracy", "mean_height", name]
    answers = PROBABILITIES.argmax(-1)
    assert list(metrics.evaluate(answers, TRUTH, [name], tree=TREE)) == shown


@pytest.mark.parametrize(
    "metric",
    [m for m in metrics.METRICS.values() if m.needs & {"order", "tree", "cost", "similarity"}],
    ids=lambda metric: metric.name,
)
def test_nll_and_calibration_stand_beside_every_cost(metric):
    assert metrics.columns([metric.name])[-2:] == ["nll", "calibration_error"]


def test_columns_keep_the_order_and_repeat_nothing():
    shown = metrics.columns(["mae", "accuracy", "fsa", "mae", "nll"])
    assert shown == [
        "mae", "accuracy", "mean_height", "failed_superclass_accuracy", "nll", "calibration_error"
    ]  # fmt: skip
    assert metrics.columns(["accuracy"]) == ["accuracy"]


def test_positions_reach_the_metrics_that_use_them():
    answers = PROBABILITIES.argmax(-1)
    x = [0, 10, 20, 30, 40]
    values = metrics.evaluate(answers, TRUTH, ["mae", "accuracy"], positions=x)
    assert values["mae"] == pytest.approx(10 * metrics.mae(answers, TRUTH))


def test_what_is_possible_depends_on_what_is_given():
    answers = PROBABILITIES.argmax(-1)
    assert list(metrics.evaluate(answers, TRUTH)) == ["accuracy", "balanced_accuracy"]
    assert "mae" in metrics.evaluate(answers, TRUTH, ordered=True)
    by_place = metrics.evaluate(answers, TRUTH, positions=[0, 10, 20, 30, 40])
    assert by_place["mae"] == pytest.approx(10 * metrics.mae(answers, TRUTH))
    assert "mean_cost" not in metrics.evaluate(answers, TRUTH, tree=TREE)


def test_bad_names_and_missing_needs_are_refused():
    with pytest.raises(ValueError, match=r"known metric, but got 'acuracy' \(did you mean 'acc"):
        metrics.find("acuracy")
    with pytest.raises(
        ValueError, match=r"'qwk' \(did you mean 'quadratic_kappa'\?\); they are acc"
    ):
        metrics.find("qwk")
    for name in ("top_0_accuracy", "within_0_accuracy"):
        with pytest.raises(ValueError, match="`k` must be at least 1, but got 0"):
            metrics.find(name)
    with pytest.raises(ValueError, match="`tree` must be given for the metric 'superclass_acc"):
        metrics.evaluate([0], [0], ["sa"])
    with pytest.raises(ValueError, match="`probabilities` must be given for the metric 'nll'"):
        metrics.find("nll")([0], [0])


def test_nothing_given_is_ignored():
    answers = PROBABILITIES.argmax(-1)
    with pytest.raises(ValueError, match="part of the metric's name, 'top_5_accuracy', but"):
        metrics.find("top_5_accuracy")(answers, TRUTH, probabilities=PROBABILITIES, k=1)
    with pytest.raises(TypeError, match=r"it is not \(did you mean 'positions'\?\)"):
        metrics.find("mae")(answers, TRUTH, position=[0, 1, 2, 3, 4])


def test_one_name_will_do():
    answers = PROBABILITIES.argmax(-1)
    assert metrics.columns("mae") == metrics.columns(["mae"])
    assert metrics.evaluate(answers, TRUTH, "mae") == metrics.evaluate(answers, TRUTH, ["mae"])


def test_values_are_shown_as_people_read_them():
    assert metrics.find("accuracy").format(1 / 3) == "33.33 %"
    assert metrics.find("mse").format(131.654) == "131.7"
    assert metrics.find("mae").format(float("nan")) == "–"


def test_public_functions_are_documented_and_return_numbers():
    for name in metrics.__all__:
        assert getattr(metrics, name).__doc__
    assert isinstance(metrics.mae([1], [0]), float)
