"""Answers of several classes against their definitions, thresholds against brute force, and the
promise in simulated repetitions (a thousand and more: `python -m torture.promise`)."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torture import promise

import simloss
from simloss import metrics

TREE = promise.TREE
CLASSES = promise.CLASSES


def examples(count, seed):
    return promise.drawn(count, torch.Generator().manual_seed(seed))


def test_nodes_climb_from_the_most_probable_class():
    p, _ = examples(200, 0)
    for threshold in (0.0, 0.3, 0.6, 0.9, 0.99, 1.0):
        for row, node in zip(p, simloss.decide_node(p, TREE, threshold=threshold), strict=True):
            at = int(row.argmax())
            while at != TREE.root:
                below = [k for k in range(CLASSES) if at in (k, *TREE.ancestors(k))]
                if sum(float(row[k]) for k in below) > threshold:
                    break
                at = TREE.parents[at]
            assert node == at


def test_intervals_are_those_of_the_quantiles():
    p, _ = examples(200, 1)
    for threshold in (0.0, 0.2, 0.5, 0.8, 0.999, 1.0):
        found = simloss.decide_interval(p, threshold=threshold)
        for row, (first, last) in zip(p.tolist(), found.tolist(), strict=True):
            sums = np.cumsum(row) / sum(row)
            assert first == next(c for c in range(CLASSES) if sums[c] >= (1 - threshold) / 2)
            over = (c for c in range(CLASSES) if sums[c] > (1 + threshold) / 2)
            assert last == next(over, CLASSES - 1)
            assert 0 <= first <= last


def test_an_interval_at_zero_is_the_median_and_at_one_is_everything():
    p, _ = examples(100, 2)
    first, last = simloss.decide_interval(p, threshold=0).T
    assert torch.equal(first, simloss.decide(p, "median"))
    assert torch.equal(first, last)
    assert (simloss.decide_interval(p, threshold=1) == torch.tensor([0, CLASSES - 1])).all()
    assert simloss.decide_set(p, threshold=1).all()
    assert torch.equal(simloss.decide_set(p, threshold=0).long().argmax(-1), p.argmax(-1))
    assert (simloss.decide_node(p, TREE, threshold=1) == TREE.root).all()
    assert torch.equal(simloss.decide_node(p, TREE, threshold=0), p.argmax(-1))


def test_sets_hold_what_is_probable_enough():
    p, _ = examples(200, 3)
    for threshold in (0.0, 0.5, 0.9, 0.99):
        inside = simloss.decide_set(p, threshold=threshold)
        wanted = p / p.sum(-1, keepdim=True) >= 1 - threshold
        wanted[torch.arange(200), p.argmax(-1)] = True
        assert torch.equal(inside, wanted)


@pytest.mark.parametrize("kind", ["node", "interval", "set"])
def test_answers_only_grow_with_the_threshold(kind):
    p, truth = examples(100, 4)
    lost = [promise.losses(kind, p, truth, t / 50) for t in range(51)]
    assert all((after <= before).all() for before, after in pairwise(lost))
    assert (lost[-1] == 0).all()


@pytest.mark.parametrize("kind", ["node", "interval", "set"])
@pytest.mark.parametrize("promised", [0.7, 0.9, {"at_most": 0.2}, {"at_most": 0.7}], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_no_lower_threshold_would_do(kind, promised, seed):
    """The rule, by looking at every place where an answer changes."""
    p, truth = examples(40, seed)
    by_level = not isinstance(promised, dict)
    options = {"level": promised} if by_level else dict(promised)
    allowed = 1 - promised if by_level else options["at_most"]
    worst = 1 if by_level else {"node": TREE.heights[-1], "interval": 5, "set": 5}[kind]
    if kind == "set" and not by_level:
        options["cost"] = "absolute"
    found = simloss.promise_threshold(p, truth, TREE if kind == "node" else kind, **options)

    def is_kept(threshold):
        lost = promise.losses(kind, p, truth, threshold)
        total = float((lost > 0).sum() if by_level else lost.sum())
        return (total + worst) / 41 <= allowed + 1e-12

    assert is_kept(found)
    assert 0 <= found < 1
    if found > 0:
        assert not is_kept(found - 1e-9)


@pytest.mark.parametrize("kind", ["node", "interval", "set"])
@pytest.mark.parametrize("level", promise.LEVELS)
def test_the_promise_is_kept_and_not_by_answering_too_much(kind, level):
    found = promise.simulate(kind, level=level, repetitions=250)
    assert level - 3 * found.error <= found.mean <= level + 0.01 + 3 * found.error


@pytest.mark.parametrize("kind", ["node", "interval", "set"])
@pytest.mark.parametrize("risk", promise.RISKS)
def test_the_risk_is_no_more_than_promised(kind, risk):
    found = promise.simulate(kind, at_most=risk, repetitions=250)
    assert found.mean <= risk + 3 * found.error
    assert found.mean > 0.3 * risk


def test_the_probabilities_alone_would_not_keep_it():
    """The model is too sure of itself: what it calls 90 % is not."""
    p, truth = examples(4000, 5)
    first, last = simloss.decide_interval(p, threshold=0.9).T
    assert ((first <= truth) & (truth <= last)).double().mean() < 0.85


def test_too_few_examples_allow_no_promise_but_everything():
    p, truth = examples(9, 0)
    assert simloss.promise_threshold(p[:8], truth[:8], "set", level=0.9) == 1
    assert simloss.promise_threshold(p, truth, "set", level=0.9) < 1  # nine of nine
    assert simloss.promise_threshold(p, truth, "interval", at_most=0.4) == 1


def test_a_matrix_of_costs_and_one_that_has_gains():
    p, truth = examples(200, 6)
    cost = torch.rand(CLASSES, CLASSES, generator=torch.Generator().manual_seed(0)) - 0.5
    found = simloss.promise_threshold(p, truth, "set", at_most=0.1, cost=cost)
    away = cost[truth] - cost[truth].amin(-1, keepdim=True)
    inside = simloss.decide_set(p, threshold=found)
    lost = torch.where(inside, away, 9.0).amin(-1)
    worst = float((cost.amax(1) - cost.amin(1)).max())
    assert (float(lost.sum()) + worst) / 201 <= 0.1 + 1e-9


def test_shapes_and_kinds():
    p = promise.drawn(12, torch.Generator().manual_seed(0))[0].reshape(3, 4, CLASSES)
    assert simloss.decide_interval(p, threshold=0.5).shape == (3, 4, 2)
    assert simloss.decide_set(p, threshold=0.5).shape == (3, 4, CLASSES)
    assert isinstance(simloss.decide_set(p.numpy(), threshold=0.5), np.ndarray)
    assert simloss.decide_interval(p[0, 0].numpy(), threshold=0.5).shape == (2,)
    truth = np.zeros((3, 4), dtype=int)
    flat = simloss.promise_threshold(p.reshape(12, -1), truth.reshape(-1), TREE, level=0.5)
    assert simloss.promise_threshold(p, truth, TREE, level=0.5) == flat


def test_a_single_class_is_always_right():
    assert simloss.promise_threshold([[1.0]] * 20, [0] * 20, "set", level=0.9) == 0
    assert simloss.promise_threshold([[1.0]] * 20, [0] * 20, "interval", level=0.9) == 0


P = [[0.5, 0.25, 0.25]] * 20


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((P, [0] * 20, "set"), {}, r"one of `level` and `at_most` must be given, but got neither"),
        ((P, [0] * 20, "set"), {"level": 0.9, "at_most": 1}, r"but got both"),
        ((P, [0] * 20, "set"), {"level": 1.0}, r"`level` must be in \(0, 1\), but got 1.0"),
        ((P, [0] * 20, "set"), {"at_most": 0}, r"`at_most` must be a finite number above 0"),
        ((P, [3] * 20, "set"), {"level": 0.9}, r"`truth` must be in \[0, 3\), but got 3"),
        ((P, [0] * 19, "set"), {"level": 0.9}, r"`truth` must have shape \(20,\)"),
        ((P, [0] * 20, "range"), {"level": 0.9}, r"`answer` must be one of 'interval', 'set'"),
        ((P, [0] * 20, TREE), {"level": 0.9}, r"`tree` must have as many classes"),
        ((P, [0] * 20, "set"), {"level": 0.9, "cost": "absolute"}, r"`cost` must be used with"),
        (
            (P, [0] * 20, "interval"),
            {"at_most": 1, "cost": "absolute"},
            r"`cost` must be used with",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        simloss.promise_threshold(*arguments, **options)


def test_thresholds_and_kinds_that_make_no_sense_are_refused():
    with pytest.raises(TypeError, match="`answer` must be a simloss.Tree, 'interval' or 'set'"):
        simloss.promise_threshold(P, [0] * 20, 3, level=0.9)
    for function in (simloss.decide_interval, simloss.decide_set):
        with pytest.raises(ValueError, match=r"`threshold` must be in \[0, 1\], but got 1.5"):
            function(P, threshold=1.5)
    for options in ({"price": 0.5}, {"measure": "f1"}, {"leaves": True}):
        with pytest.raises(ValueError, match="`threshold` must be used alone"):
            simloss.decide_node([1 / 6] * 6, TREE, threshold=0.5, **options)


class TestCurves:
    def test_abstaining_by_the_definition(self):
        p, truth = examples(300, 7)
        curve = metrics.abstention_curve(p, truth, "absolute", points=20)
        assert len(curve.risk) == 20
        assert curve.coverage[0] == 1
        for threshold, coverage, risk in zip(
            curve.threshold, curve.coverage, curve.risk, strict=True
        ):
            answers = simloss.decide(p, "absolute", abstain=threshold)
            given = answers >= 0
            assert float(given.double().mean()) == pytest.approx(coverage)
            assert metrics.mae(answers[given], truth[given]) == pytest.approx(risk)

    def test_positions_and_other_costs(self):
        p, truth = examples(50, 8)
        x = [0.0, 1, 2, 10, 20, 30]
        for cost, value in (("mean", metrics.mse), ("median", metrics.mae)):
            curve = metrics.abstention_curve(p, truth, cost, positions=x)
            answers = simloss.decide(p, cost, positions=x)
            assert curve.risk[0] == pytest.approx(value(answers, truth, positions=x))
        curve = metrics.abstention_curve(p, truth, TREE)
        assert curve.risk[0] == metrics.mean_height(simloss.decide(p, TREE), truth, TREE)

    def test_equal_examples_are_answered_together(self):
        curve = metrics.abstention_curve([[0.6, 0.4]] * 4, [0, 0, 1, 1])
        assert (curve.coverage, curve.risk) == ([1.0], [0.5])

    def test_nodes_by_the_definition(self):
        p, truth = examples(200, 9)
        curve = metrics.node_curve(p, truth, TREE, points=15)
        leaves = [
            sum(node in (k, *TREE.ancestors(k)) for k in range(CLASSES))
            for node in range(len(TREE.parents))
        ]
        for threshold, coverage, risk in zip(
            curve.threshold, curve.coverage, curve.risk, strict=True
        ):
            nodes = simloss.decide_node(p, TREE, threshold=threshold)
            assert 1 - metrics.node_accuracy(nodes, truth, TREE) == pytest.approx(risk)
            specific = [1 - np.log(leaves[v]) / np.log(CLASSES) for v in nodes.tolist()]
            assert np.mean(specific) == pytest.approx(coverage)
        assert curve.coverage == sorted(curve.coverage, reverse=True)
        assert curve.risk[-1] < curve.risk[0]
