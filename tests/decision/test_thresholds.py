"""fit_thresholds against every way to cut the examples, and what it promises of held-out ones."""

import itertools

import numpy as np
import pytest
import torch

import simloss
from simloss import metrics

METRICS = {
    "quadratic_kappa": {},
    "accuracy": {},
    "balanced_accuracy": {},
    "mae": {},
    "mse": {},
    "macro_mae": {},
    "within_1_accuracy": {},
    "mean_cost": {"cost": np.array([[0, 2, 9, 9], [1, 0, 3, 9], [4, 1, 0, 5], [1, 7, 1, 0.0]])},
}


def examples(count, classes, seed):
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(classes), count)
    return p, random.integers(0, classes, count)


def best_by_brute_force(p, truth, metric, classes, **context):
    """The best value of all rising answers, by the metric itself."""
    order = np.argsort(p @ np.arange(classes), kind="stable")
    found = metrics.find(metric)
    values = [
        found(np.searchsorted(cuts, np.arange(len(p)), side="right"), truth[order], **context)
        for cuts in itertools.combinations_with_replacement(range(len(p) + 1), classes - 1)
    ]
    return max(values) if found.higher_is_better else min(values)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(8))
def test_no_other_cuts_are_better(metric, seed):
    p, truth = examples(9, 4, seed)
    context = METRICS[metric]
    found = simloss.fit_thresholds(p, truth, metric, **context)
    wanted = best_by_brute_force(p, truth, metric, 4, **context)
    assert found.fitted == pytest.approx(wanted, abs=1e-12)
    answers = simloss.decide(p, "mean", thresholds=found)
    assert metrics.find(metric)(answers, truth, **context) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_rounding_and_its_value_are_those_of_the_mean(metric):
    p, truth = examples(200, 4, 0)
    found = simloss.fit_thresholds(p, truth, metric, **METRICS[metric])
    rounded = metrics.find(metric)(simloss.decide(p, "mean"), truth, **METRICS[metric])
    assert found.rounded == pytest.approx(rounded, abs=1e-12)
    sign = 1 if metrics.find(metric).higher_is_better else -1
    assert found.higher_is_better == (sign == 1)
    assert sign * (found.fitted - found.rounded) >= -1e-12
    assert found.gain == sign * (found.held_out - found.rounded)


@pytest.mark.parametrize("metric", ["mae", "mse", "macro_mae"])
def test_positions_are_those_of_the_metric(metric):
    p, truth = examples(40, 4, 3)
    x = [5.0, -1.0, 30.0, 2.0]  # in no order, and unevenly spaced
    found = simloss.fit_thresholds(p, truth, metric, positions=x)
    answers = simloss.decide(p, "mean", positions=x, thresholds=found)
    value = metrics.find(metric)(answers, truth, positions=x)
    assert found.fitted == pytest.approx(value)
    plain = metrics.find(metric)(simloss.decide(p, "mean", positions=x), truth, positions=x)
    assert found.rounded == pytest.approx(plain)
    assert value <= plain


def test_held_out_is_fitted_without_the_example():
    p, truth = examples(12, 3, 5)
    found = simloss.fit_thresholds(p, truth, folds=12)
    answers = []
    for n in range(12):
        others = np.delete(np.arange(12), n)
        cuts = simloss.fit_thresholds(p[others], truth[others])
        answers.append(int(simloss.decide(p[n], "mean", thresholds=cuts)))
    assert found.held_out == pytest.approx(metrics.quadratic_kappa(answers, truth))


def test_noise_gains_nothing_on_held_out_examples():
    """The value on the fitted examples is above chance, the honest one is not."""
    found = [simloss.fit_thresholds(*examples(60, 5, seed)) for seed in range(30)]
    assert np.mean([each.fitted for each in found]) > 0.15
    assert np.mean([each.held_out for each in found]) < 0.03


def test_what_is_hidden_in_the_scale_is_found():
    """Probabilities pulled to the middle: rounding never answers the ends, thresholds do."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 5, 2000)
    p = 0.75 / 5 + 0.25 * np.eye(5)[np.clip(truth + random.integers(-1, 2, 2000), 0, 4)]
    found = simloss.fit_thresholds(p, truth)
    assert found.gain > 0.1
    assert set(simloss.decide(p, "mean").tolist()) < set(range(5))
    assert set(simloss.decide(p, "mean", thresholds=found).tolist()) == set(range(5))


def test_many_examples_share_cuts(monkeypatch):
    p, truth = examples(5000, 6, 1)
    exact = simloss.fit_thresholds(p, truth)
    monkeypatch.setattr("simloss.decision.thresholds._MOST_CUTS", 300)
    rough = simloss.fit_thresholds(p, truth)
    assert exact.fitted - 0.005 < rough.fitted <= exact.fitted
    answers = simloss.decide(p, "mean", thresholds=rough)
    assert metrics.quadratic_kappa(answers, truth) == pytest.approx(rough.fitted)


def test_one_class_alone_is_answered_and_equal_examples_stay_together():
    p = np.tile([[0.2, 0.3, 0.5]], (6, 1))
    found = simloss.fit_thresholds(p, [1] * 6)
    assert found.fitted == found.held_out == 1.0 - 0.0
    assert simloss.decide(p, "mean", thresholds=found).tolist() == [1] * 6
    split = simloss.fit_thresholds(p, [0, 0, 0, 2, 2, 2], "accuracy")
    assert split.fitted == 0.5


def test_scores_that_only_rounding_tells_apart_are_answered_alike():
    """Equal examples, the sums of which differ in the last bit."""
    p = np.tile([[0.2, 0.3, 0.5]], (60, 1)) * (1 + 1e-16 * np.arange(60)[:, None] % 3e-16)
    p[::2, 1] += 1e-16
    truth = np.arange(60) % 2 * 2
    found = simloss.fit_thresholds(p, truth, "accuracy")
    assert found.fitted == 0.5
    assert len(set(simloss.decide(p, "mean", thresholds=found).tolist())) == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_the_answers_are_those_it_was_fitted_with_in_any_precision(dtype):
    p, truth = examples(300, 7, 2)
    p = torch.tensor(p).to(dtype)
    found = simloss.fit_thresholds(p, truth)
    answers = simloss.decide(p, "mean", thresholds=found)
    assert metrics.quadratic_kappa(answers, truth) == pytest.approx(found.fitted)


def test_any_shape():
    p, truth = examples(24, 3, 0)
    flat = simloss.fit_thresholds(p, truth)
    assert simloss.fit_thresholds(p.reshape(4, 6, 3), truth.reshape(4, 6)) == flat


P, Y = [[0.5, 0.5], [0.4, 0.6]], [0, 1]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[2.0, 1.0]], [0]), {}, r"`probabilities` must sum to 1"),
        ((P, [0, 2]), {}, r"`truth` must be in \[0, 2\), but got 2"),
        ((P, [0]), {}, r"`truth` must have shape \(2,\)"),
        ((P, Y, "kendall_tau"), {}, r"`metric` must be one that thresholds .* 'kendall_tau'; they"),
        ((P, Y, "quadratic_kapa"), {}, r"did you mean 'quadratic_kappa'\?"),
        ((P, Y), {"positions": [1, 2]}, r"`positions` must be used with .* mae, mse, macro_mae"),
        ((P, Y, "mae"), {"positions": [1, 2, 3]}, r"`positions` must have shape \(2,\)"),
        ((P, Y), {"cost": [[0, 1], [1, 0]]}, r"`cost` must be used with the metric 'mean_cost'"),
        ((P, Y, "mean_cost"), {}, r"`cost` must be used with the metric 'mean_cost'"),
        ((P, Y), {"folds": 3}, r"`folds` must be from 2 to the number of examples, 2, but got 3"),
        ((P, Y), {"folds": 1}, r"`folds` must be from 2"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        simloss.fit_thresholds(*arguments, **{"folds": 2} | options)


@pytest.mark.parametrize(
    ("cost", "thresholds", "message"),
    [
        ("zero-one", [0.5], r"`thresholds` must be used with the cost 'mean'"),
        ("median", [0.5], r"`thresholds` must be used with the cost 'mean'"),
        ([[0, 1], [1, 0]], [0.5], r"`thresholds` must be used with the cost 'mean'"),
        ("mean", [0.5, 0.6], r"`thresholds` must be 1 numbers, one between .* the 2 classes"),
        ("mean", [float("nan")], r"`thresholds` must be in rising order, but got \[nan\]"),
    ],
)
def test_thresholds_that_make_no_sense_are_refused(cost, thresholds, message):
    with pytest.raises(ValueError, match=message):
        simloss.decide(P, cost, thresholds=thresholds)


def test_falling_thresholds_are_refused():
    with pytest.raises(
        ValueError, match=r"`thresholds` must be in rising order, but got \[1.5, 0.5\]"
    ):
        simloss.decide([0.5, 0.25, 0.25], "mean", thresholds=[1.5, 0.5])
    assert simloss.decide([0.5, 0.25, 0.25], "mean", thresholds=[-float("inf"), 0.7]) == 2
