import math
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score, mean_absolute_error, mean_squared_error

from metrics.strategies import answers_and_truth, probabilities_and_truth
from simloss import metrics

POSITIONS = [1.0, 2.5, -3.0, 10.0, 10.0]


def pairs(answers, truth):
    return list(zip(answers, truth, strict=True))


@given(answers_and_truth())
def test_mae_and_mse(pair):
    answers, truth = pair
    absolute = sum(abs(a - y) for a, y in pairs(*pair)) / len(truth)
    squared = sum((a - y) ** 2 for a, y in pairs(*pair)) / len(truth)
    assert metrics.mae(answers, truth) == pytest.approx(absolute)
    assert metrics.mse(answers, truth) == pytest.approx(squared)
    assert metrics.mae(answers, truth) == pytest.approx(mean_absolute_error(truth, answers))
    assert metrics.mse(answers, truth) == pytest.approx(mean_squared_error(truth, answers))


@given(answers_and_truth())
def test_positions_give_the_unit(pair):
    answers, truth = pair
    off = [abs(POSITIONS[a] - POSITIONS[y]) for a, y in pairs(*pair)]
    assert metrics.mae(answers, truth, positions=POSITIONS) == pytest.approx(np.mean(off))
    assert metrics.mse(answers, truth, positions=POSITIONS) == pytest.approx(
        np.mean(np.square(off))
    )
    by_class = [np.mean([o for o, y in zip(off, truth, strict=True) if y == k]) for k in set(truth)]
    macro = metrics.macro_mae(answers, truth, positions=POSITIONS)
    assert macro == pytest.approx(np.mean(by_class))


@given(answers_and_truth())
def test_macro_mae_counts_the_classes_that_occur(pair):
    answers, truth = pair
    errors = []
    for k in set(truth):
        own = [abs(a - y) for a, y in pairs(*pair) if y == k]
        errors.append(sum(own) / len(own))
    assert metrics.macro_mae(answers, truth) == pytest.approx(sum(errors) / len(errors))
    assert metrics.macro_mae(answers, truth, num_classes=7) == pytest.approx(np.mean(errors))


@given(answers_and_truth(), st.integers(1, 4))
def test_within_k(pair, k):
    answers, truth = pair
    near = sum(abs(a - y) <= k for a, y in pairs(*pair)) / len(truth)
    assert metrics.within_k_accuracy(answers, truth, k=k) == near


@given(answers_and_truth())
def test_quadratic_kappa_is_the_definition_and_scikit_learns(pair):
    answers, truth = pair
    seen = sum((a - y) ** 2 for a, y in pairs(*pair))
    by_chance = sum((a - y) ** 2 for a in answers for y in truth) / len(truth)
    wanted = 1 - seen / by_chance if by_chance else 1.0
    assert metrics.quadratic_kappa(answers, truth) == pytest.approx(wanted)
    if by_chance:
        theirs = cohen_kappa_score(truth, answers, weights="quadratic", labels=range(5))
        assert metrics.quadratic_kappa(answers, truth) == pytest.approx(theirs)


def test_quadratic_kappa_of_many_classes_keeps_its_digits():
    generator = torch.Generator().manual_seed(0)
    truth = torch.randint(99_900, 100_000, (500,), generator=generator)
    answers = (truth + torch.randint(-5, 6, (500,), generator=generator)).clamp(max=99_999)
    near_zero = metrics.quadratic_kappa(answers - 99_000, truth - 99_000)
    assert metrics.quadratic_kappa(answers, truth) == pytest.approx(near_zero, abs=1e-6)


@given(answers_and_truth())
def test_kendall_is_scipys_wherever_it_is_defined(pair):
    answers, truth = pair
    value = metrics.kendall_tau(answers, truth)
    if answers == truth:
        assert value == 1
    elif len(set(answers)) == 1 or len(set(truth)) == 1:
        assert value == 0
    else:
        assert value == pytest.approx(kendalltau(answers, truth).statistic)


@given(answers_and_truth().filter(lambda pair: len(set(pair[0])) > 1 and len(set(pair[1])) > 1))
def test_kendall_is_the_definition(pair):
    answers, truth = pair
    n = len(truth)
    same = tied_answers = tied_truth = 0
    for i in range(n):
        for j in range(i):
            same += np.sign((answers[i] - answers[j]) * (truth[i] - truth[j]))
            tied_answers += answers[i] == answers[j]
            tied_truth += truth[i] == truth[j]
    total = n * (n - 1) / 2
    wanted = same / math.sqrt((total - tied_answers) * (total - tied_truth))
    assert metrics.kendall_tau(answers, truth) == pytest.approx(wanted, abs=1e-12)


@given(probabilities_and_truth())
def test_ranked_probability_score(pair):
    p, truth = pair
    total = 0.0
    for row, y in zip(p, truth, strict=True):
        for c in range(len(row)):
            total += (sum(row[: c + 1]) - (y <= c)) ** 2
    assert metrics.ranked_probability_score(p, truth) == pytest.approx(total / len(truth))


@given(answers_and_truth())
def test_ranked_probability_score_of_certain_answers_is_the_absolute_error(pair):
    answers, truth = pair
    certain = np.eye(5)[answers]
    assert metrics.ranked_probability_score(certain, truth) == metrics.mae(answers, truth)


def test_no_error_at_all_is_the_best_value():
    for truth in ([3], [2, 2, 2], [0, 1, 4]):
        assert metrics.quadratic_kappa(truth, truth) == 1
        assert metrics.kendall_tau(truth, truth) == 1
        assert metrics.macro_mae(truth, truth) == metrics.mae(truth, truth) == 0


def test_one_class_only():
    assert metrics.quadratic_kappa([1, 1], [3, 3]) == 0
    assert metrics.kendall_tau([1, 2], [3, 3]) == 0
    assert metrics.kendall_tau([3, 3], [1, 2]) == 0
    assert metrics.macro_mae([1, 2], [3, 3]) == 1.5


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"`answers` must be in \[0, 2\), but got 2"):
        metrics.mae([2], [0], positions=[1, 2])
    with pytest.raises(ValueError, match=r"`positions` must be finite"):
        metrics.mae([1], [0], positions=[1, float("nan")])
    for function in (metrics.mae, metrics.mse, metrics.macro_mae):
        for positions in ([[1, 2], [3, 4]], 5, []):
            with pytest.raises(ValueError, match=r"`positions` must have shape \(C\)"):
                function([1], [0], positions=positions)
    with pytest.raises(TypeError, match="`num_classes` must be a whole number, but got '3'"):
        metrics.macro_mae([1], [0], num_classes="3")
    with pytest.raises(ValueError, match="`k` must be at least 1"):
        metrics.within_k_accuracy([1], [0], k=0)


def test_a_missing_scipy_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs scipy.*pip install 'simloss\[cli\]'"):
        metrics.kendall_tau([0, 1], [1, 0])
