import pytest
import torch
from hypothesis import given

import simloss
from metrics.strategies import answers_and_truth
from simloss import Tree, metrics
from simloss.similarity import order

COST = [[0, 1, 2, 3, 4], [9, 0, 1, 2, 3], [9, 9, 0, 1, 2], [5, 5, 5, 0, 1], [7, 7, 7, 7, 0]]
TREE = Tree.from_paths(["a/b/c/one", "a/b/two", "a/three", "four", "d/five"])


def loop(answers, truth, of_pair):
    total = 0.0
    for a, y in zip(answers, truth, strict=True):
        total += of_pair(y, a)
    return total / len(truth)


@given(answers_and_truth())
def test_mean_cost_of_a_matrix_reads_the_row_of_the_truth(pair):
    wanted = loop(*pair, lambda y, a: COST[y][a])
    assert metrics.mean_cost(*pair, COST) == pytest.approx(wanted)
    assert metrics.mean_cost(*pair, torch.tensor(COST)) == pytest.approx(wanted)


@given(answers_and_truth())
def test_every_cost_a_decision_takes(pair):
    S = order(5, r=0.5).to_dense(torch.float64)
    for cost, of_pair in (
        ("zero-one", lambda y, a: y != a),
        ("median", lambda y, a: abs(y - a)),
        ("squared", lambda y, a: (y - a) ** 2),
        (order(5, r=0.5), lambda y, a: 1 - S[y][a].item()),
        (TREE, lambda y, a: TREE.cost()[y][a].item()),
    ):
        assert metrics.mean_cost(*pair, cost) == pytest.approx(loop(*pair, of_pair))


@given(answers_and_truth())
def test_mean_cost_is_the_expected_cost_under_the_empirical_distribution(pair):
    """What decide minimises is what mean_cost measures."""
    truth = pair[1]
    p = torch.bincount(torch.tensor(truth), minlength=5).double() / len(truth)
    for cost in (COST, TREE, order(5, r=0.3), "absolute"):
        best = simloss.decide(p, cost).item()
        paid = metrics.mean_cost([best] * len(truth), truth, cost)
        assert paid == pytest.approx(simloss.expected_cost(p, best, cost).item())
        others = [metrics.mean_cost([c] * len(truth), truth, cost) for c in range(5)]
        assert paid == pytest.approx(min(others))


@given(answers_and_truth())
def test_mean_similarity(pair):
    lopsided = torch.rand(5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    lopsided.fill_diagonal_(1)
    wanted = loop(*pair, lambda y, a: lopsided[y][a].item())
    assert metrics.mean_similarity(*pair, lopsided) == pytest.approx(wanted)
    powers = loop(*pair, lambda y, a: 0.5 ** abs(y - a))
    assert metrics.mean_similarity(*pair, order(5, r=0.5)) == pytest.approx(powers)


def test_many_classes_and_examples_are_taken_some_at_a_time(monkeypatch):
    truth = torch.arange(50)
    answers = truth.roll(1)
    at_once = metrics.mean_similarity(answers, truth, order(50, r=0.9))
    monkeypatch.setattr("simloss.metrics.costs._CHUNK_ENTRIES", 100)
    assert metrics.mean_similarity(answers, truth, order(50, r=0.9)) == pytest.approx(at_once)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="`cost` must be one of 'zero-one'"):
        metrics.mean_cost([0], [0], "cheap")
    with pytest.raises(ValueError, match="`cost` must be square"):
        metrics.mean_cost([0], [0], [[0, 1], [1, 0], [1, 1]])
    with pytest.raises(ValueError, match=r"`truth` must be in \[0, 5\), but got 5"):
        metrics.mean_cost([0], [5], COST)
    with pytest.raises(ValueError, match=r"`answers` must be in \[0, 3\), but got 3"):
        metrics.mean_similarity([3], [0], order(3, r=0.5))
    with pytest.raises(ValueError, match=r"looks like a similarity; pass simloss\.similarity"):
        metrics.mean_cost([0], [0], order(3, r=0.5).to_dense())
    with pytest.raises(ValueError, match="`cost` must be of kind 'similarity'"):
        metrics.mean_cost([0], [0], order(3, r=0.5).normalized())
