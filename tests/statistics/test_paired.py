"""One comparison: Wilcoxon's p by brute force, ties, zeros, the interval, the mark."""

import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from simloss.statistics import paired_comparison
from simloss.statistics.signed_rank import p_value


def loop_ranks(sizes):
    """Mean ranks from 1, by counting."""
    return [
        sum(other < size for other in sizes) + (sum(other == size for other in sizes) + 1) / 2
        for size in sizes
    ]


def loop_p(differences):
    """The share of sign patterns whose signed-rank sum is at least as far from 0."""
    differing = [d for d in differences if d]
    ranks = loop_ranks([abs(d) for d in differing])
    seen = sum(r if d > 0 else -r for r, d in zip(ranks, differing, strict=True))
    patterns = list(itertools.product((1, -1), repeat=len(differing)))
    extreme = 0
    for signs in patterns:
        extreme += abs(sum(s * r for s, r in zip(signs, ranks, strict=True))) >= abs(seen)
    return extreme / len(patterns)


def loop_effect(differences):
    differing = [d for d in differences if d]
    ranks = loop_ranks([abs(d) for d in differing])
    up = sum(r for r, d in zip(ranks, differing, strict=True) if d > 0)
    down = sum(r for r, d in zip(ranks, differing, strict=True) if d < 0)
    return (up - down) / (up + down) if differing else 0.0


# Small whole numbers: ties and zeros abound.
changes = st.lists(st.integers(-4, 4), min_size=1, max_size=8)


@given(changes)
def test_p_and_effect_are_those_of_the_definition(change):
    zeros = [0.0] * len(change)
    found = paired_comparison(zeros, change, higher_is_better=True)
    assert found.p_value == pytest.approx(loop_p(change))
    assert found.effect_size == pytest.approx(loop_effect(change))
    assert found.difference == pytest.approx(np.mean(change))


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12, unique_by=abs))
def test_p_is_scipys_exact_one_where_nothing_is_tied(change):
    change = np.round(change, 6)
    change = change[np.unique(np.abs(change), return_index=True)[1]]
    change = change[change != 0]
    if len(change):
        found = paired_comparison(np.zeros(len(change)), change, higher_is_better=True)
        assert found.p_value == pytest.approx(wilcoxon(change, method="exact").pvalue)


@given(changes)
def test_the_direction_turns_the_effect_and_nothing_else(change):
    zeros = [0.0] * len(change)
    up = paired_comparison(zeros, change, higher_is_better=True)
    down = paired_comparison(zeros, change, higher_is_better=False)
    assert up.effect_size == -down.effect_size
    assert (up.p_value, up.difference) == (down.p_value, down.difference)
    assert up.interval == pytest.approx(down.interval, nan_ok=True)


def test_more_runs_than_patterns_can_be_tried():
    change = np.array([1, -1, 2, 2, -3, 4] * 5)  # 30 runs, tied
    rough = wilcoxon(change, method="asymptotic").pvalue
    assert p_value(change) == pytest.approx(rough, abs=0.02)
    assert p_value(change) == p_value(change)


def test_rounding_makes_no_difference_and_hides_no_tie():
    baseline = np.array([0.1, 0.2, 0.3, 0.4, 0.7, 0.8])
    found = paired_comparison(baseline, baseline + 0.1, higher_is_better=True)
    assert found.p_value == 2 / 2**6
    assert len(set(baseline + 0.1 - baseline)) > 1  # rounding did differ
    same = paired_comparison([0.3] * 3, [0.1 + 0.2] * 3, higher_is_better=True)
    assert (same.p_value, same.difference, same.effect_size) == (1.0, 0.0, 0.0)
    assert same.interval == (0.0, 0.0)


def test_marks():
    worse, better = [1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]
    assert paired_comparison(worse, better, higher_is_better=True).mark == "+"
    assert paired_comparison(better, worse, higher_is_better=True).mark == "-"
    assert paired_comparison(worse, better, higher_is_better=False).mark == "-"
    assert paired_comparison(worse[:5], better[:5], higher_is_better=True).mark == ""
    assert paired_comparison(worse, worse, higher_is_better=True).mark == ""


def test_no_mark_where_mean_and_ranks_disagree():
    change = [1, 2, 3, 4, 5, 6, 7, 8, -900]
    found = paired_comparison([0] * 9, change, higher_is_better=True)
    assert found.difference < 0 < found.effect_size
    ten = paired_comparison([0] * 12, [*range(1, 12), -900], higher_is_better=True)
    assert ten.is_significant
    assert ten.mark == ""


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    random = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        change = random.normal(1.0, 1.0, size=20)
        low, high = paired_comparison(np.zeros(20), change, higher_is_better=True).interval
        hits += low <= 1.0 <= high
    assert 0.88 <= hits / 200 <= 0.98


@given(changes)
def test_the_interval_is_finite_around_the_mean_from_two_runs_on(change):
    found = paired_comparison([5.0] * len(change), np.array(change) + 5, higher_is_better=True)
    if len(change) == 1:
        assert np.isnan(found.interval).all()
    else:
        low, high = found.interval
        assert min(change) - 1e-9 <= low <= high <= max(change) + 1e-9


def test_without_the_interval_all_else_is_the_same():
    pair = np.random.default_rng(0).normal(size=(2, 10))
    drawn = paired_comparison(*pair, higher_is_better=True)
    quick = paired_comparison(*pair, higher_is_better=True, interval=False)
    assert np.isnan(quick.interval).all()
    assert replace(quick, interval=drawn.interval) == drawn


def test_equal_runs_give_equal_results():
    random = np.random.default_rng(0)
    pair = random.normal(size=(2, 10))
    assert paired_comparison(*pair, higher_is_better=True) == paired_comparison(
        *pair, higher_is_better=True
    )


@pytest.mark.parametrize(
    ("baseline", "treatment", "error", "message"),
    [
        ([1, 2], [1], ValueError, "`treatment` must have the same runs as `baseline`, .* 1 and 2"),
        ([], [], ValueError, "`baseline` must be one number per run, at least one"),
        ([[1]], [1], ValueError, r"`baseline` must be one number per run.*\(1, 1\)"),
        ([1], [float("nan")], ValueError, "`treatment` must be finite, but got nan; leave out"),
        (["a"], [1], TypeError, "`baseline` must be one number per run"),
    ],
)
def test_bad_input_is_refused(baseline, treatment, error, message):
    with pytest.raises(error, match=message):
        paired_comparison(baseline, treatment, higher_is_better=True)


def test_a_missing_scipy_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs scipy.*pip install 'simloss\[cli\]'"):
        paired_comparison([1, 2], [2, 3], higher_is_better=True)


def test_a_remembered_p_is_that_of_its_own_ranks():
    """The same sizes with another sum, and the same sum with other ties, in turn."""
    for _ in range(2):
        assert p_value(np.array([1.0, 2, 3, 4, 5, 6])) == loop_p([1, 2, 3, 4, 5, 6])
        assert p_value(np.array([-1.0, 2, 3, 4, 5, 6])) == loop_p([-1, 2, 3, 4, 5, 6])
        assert p_value(np.array([1.0, 1, 3, 4, 5, 6])) == loop_p([1, 1, 3, 4, 5, 6])
        assert p_value(np.array([6.0, 5, 4, 3, 2, 1])) == loop_p([6, 5, 4, 3, 2, 1])


def test_a_tensor_that_carries_gradients_is_its_values():
    import torch

    values = torch.tensor([7.4, 7.3, 7.5], dtype=torch.float64, requires_grad=True)
    found = paired_comparison(values, [7.0, 7.1, 7.2], higher_is_better=False)
    assert found == paired_comparison([7.4, 7.3, 7.5], [7.0, 7.1, 7.2], higher_is_better=False)
