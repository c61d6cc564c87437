"""Costs that differ from example to example, against loops over them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import simloss
from simloss import metrics
from simloss.similarity import order


@st.composite
def problems(draw):
    """Probabilities and costs in whole numbers, exact in float64, and whether they are of pairs."""
    count, classes = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    cuts = st.lists(st.integers(0, 64), min_size=classes - 1, max_size=classes - 1).map(sorted)
    p = np.array([np.diff([0, *draw(cuts), 64]) / 64 for _ in range(count)])
    has_pairs = draw(st.booleans())
    size = classes**2 if has_pairs else classes
    entry = st.integers(-3, 5)
    flat = [draw(st.lists(entry, min_size=size, max_size=size)) for _ in range(count)]
    shape = (count, classes, classes) if has_pairs else (count, classes)
    return p, np.array(flat, dtype=float).reshape(shape)


def loop_costs(p, cost):
    """The definition, example by example."""
    return [
        [
            sum(p[n][k] * (cost[n][k][c] if cost.ndim == 3 else cost[n][c] * (k != c)) for k in k_)
            for c in k_
        ]
        for n in range(len(p))
        for k_ in [range(p.shape[1])]
    ]


def looks_like_a_similarity(cost):
    if cost.ndim == 2 or cost.shape[-1] == 1:
        return False
    diagonal = np.diagonal(cost, axis1=1, axis2=2)
    return bool((diagonal == 1).all() and (cost >= 0).all() and (cost <= 1).all())


@given(problems())
def test_equals_the_definition(problem):
    p, cost = problem
    if cost.shape == (p.shape[1],) * 2 or looks_like_a_similarity(cost):
        return
    wanted = loop_costs(p, cost)
    best = [min(range(len(row)), key=row.__getitem__) for row in wanted]
    for given_as in (cost, torch.tensor(cost), cost.tolist(), lambda some: cost[some]):
        assert simloss.decide(p, given_as).tolist() == best
        np.testing.assert_allclose(simloss.expected_cost(p, cost=given_as), wanted, atol=1e-12)
        of_best = simloss.expected_cost(p, best, given_as)
        np.testing.assert_allclose(of_best, [row[c] for row, c in zip(wanted, best, strict=True)])


@given(problems(), st.data())
def test_the_metric_charges_each_example_its_own_cost(problem, data):
    p, cost = problem
    if cost.shape == (p.shape[1],) * 2 or looks_like_a_similarity(cost):
        return
    count, classes = p.shape
    answers, truth = (
        data.draw(st.lists(st.integers(0, classes - 1), min_size=count, max_size=count))
        for _ in range(2)
    )
    each = [
        cost[n][y][a] if cost.ndim == 3 else cost[n][a] * (a != y)
        for n, (a, y) in enumerate(zip(answers, truth, strict=True))
    ]
    for given_as in (cost, torch.tensor(cost), lambda some: cost[some]):
        assert metrics.mean_cost(answers, truth, given_as) == pytest.approx(sum(each) / count)


def test_any_shape_of_examples():
    p = torch.rand(2, 3, 4, generator=torch.Generator().manual_seed(0)).softmax(-1)
    pairs = torch.rand(2, 3, 4, 4, generator=torch.Generator().manual_seed(1))
    wrong = torch.rand(2, 3, 4, generator=torch.Generator().manual_seed(2))
    for cost in (pairs, wrong):
        answers = simloss.decide(p, cost)
        assert answers.shape == (2, 3)
        for i in range(2):
            for j in range(3):
                assert answers[i, j] == simloss.decide(p[i, j], cost[i, j])
        by_number = cost.reshape(6, *cost.shape[2:])
        assert torch.equal(answers, simloss.decide(p, lambda some, c=by_number: c[some]))
        truth = torch.zeros(2, 3, dtype=torch.long)
        total = sum(
            metrics.mean_cost(answers[i, j], truth[i, j], cost[i, j])
            for i in range(2)
            for j in range(3)
        )
        assert metrics.mean_cost(answers, truth, cost) == pytest.approx(float(total) / 6)


def test_a_function_is_asked_for_few_examples_at_a_time(monkeypatch):
    monkeypatch.setattr("simloss.decision.answer._BLOCK_ENTRIES", 60)
    p = torch.rand(20, 3, generator=torch.Generator().manual_seed(0)).softmax(-1)
    cost = torch.rand(20, 3, 3, generator=torch.Generator().manual_seed(1))
    asked = []

    def read(some):
        asked.append(some.tolist())
        return cost[some]

    assert torch.equal(simloss.decide(p, read, abstain=0.4), simloss.decide(p, cost, abstain=0.4))
    assert max(map(len, asked)) == 6  # of 9 numbers each
    assert [n for some in asked for n in some] == list(range(20))


def test_an_array_on_the_disk_is_read_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr("simloss.decision.answer._BLOCK_ENTRIES", 60)
    cost = np.random.default_rng(0).random((20, 3, 3))
    np.save(tmp_path / "cost.npy", cost)
    on_disk = np.load(tmp_path / "cost.npy", mmap_mode="r")
    p = np.random.default_rng(1).dirichlet(np.ones(3), 20)
    assert simloss.decide(p, on_disk).tolist() == simloss.decide(p, cost).tolist()


def test_top_k_and_abstaining_go_by_the_own_cost():
    p = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    wrong = np.array([[9.0, 1.0, 1.0], [1.0, 9.0, 9.0]])
    assert simloss.decide(p, wrong, top_k=3).tolist() == [[1, 2, 0], [0, 1, 2]]
    assert simloss.decide(p, wrong, abstain=0.6).tolist() == [-1, 0]


def test_a_table_of_costs():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[20.0, 5.0], [900.0, 5.0], [900.0, 5.0]], columns=["fine", "fraud"])
    p = np.array([[0.97, 0.03], [0.97, 0.03], [0.999, 0.001]])
    assert simloss.decide(p, table).tolist() == [0, 1, 0]
    assert simloss.decide(p, table[["fraud", "fine"]]).tolist() == [0, 0, 0]


P = np.full((3, 2), 0.5)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.zeros((4, 2, 2)), r"shape \(2, 2\), or \(3, 2, 2\) or \(3, 2\).* but got \(4, 2, 2\)"),
        (np.zeros((3, 3, 2)), r"for costs per example, but got \(3, 3, 2\)"),
        (np.zeros((4, 2)), r"`cost` must be square"),
        (lambda some: np.zeros((len(some), 3)), r"of 3 examples must have shape \(3, 2, 2\), or"),
        (np.array([[0, 1], [1, np.nan], [0, 0]]), r"finite, but got nan for example 1"),
        (np.ones((3, 2, 2)), r"looks like a similarity"),
    ],
)
def test_costs_that_do_not_fit_are_refused(cost, message):
    with pytest.raises(ValueError, match=message):
        simloss.decide(P, cost)


def test_the_metric_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"`truth` must be in \[0, 2\), but got 2"):
        metrics.mean_cost([0, 1, 1], [0, 2, 1], np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"but got \(4, 2, 2\)"):
        metrics.mean_cost([0, 1, 1], [0, 1, 1], np.zeros((4, 2, 2)))


def test_where_examples_are_as_many_as_classes_a_square_is_of_pairs():
    p = np.array([[0.6, 0.4], [0.6, 0.4]])
    cost = np.array([[0.0, 1.0], [9.0, 0.0]])
    assert simloss.decide(p, cost).tolist() == [1, 1]
    assert simloss.decide(p, lambda some: cost[some]).tolist() == [0, 1]
    assert simloss.decide(p, order(2, r=0.5)).tolist() == [0, 0]
