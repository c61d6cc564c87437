"""Every fast form against the plain loops, then ties, shapes, kinds and abstention."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import simloss
from simloss.similarity import Tree, identity, matrix, order

TREE = Tree.from_paths(["bird/robin", "bird/crow", "fish/sea/cod", "fish/sea/eel", "rock"])


@st.composite
def weights(draw, min_classes=1, max_classes=7):
    """Whole numbers with a power of two as their sum: as probabilities, exact in any float."""
    count = draw(st.integers(min_classes, max_classes))
    cuts = sorted(draw(st.lists(st.integers(0, 64), min_size=count - 1, max_size=count - 1)))
    return [b - a for a, b in zip([0, *cuts], [*cuts, 64], strict=True)]


def loop_costs(weights, cost):
    """Expected costs by the definition, in exact numbers."""
    classes = range(len(weights))
    return [sum(Fraction(weights[k], 64) * Fraction(cost(k, c)) for k in classes) for c in classes]


def loop_best(costs):
    return min(range(len(costs)), key=lambda c: costs[c])


NAMED = {
    "zero-one": lambda k, c: k != c,
    "absolute": lambda k, c: abs(k - c),
    "squared": lambda k, c: (k - c) ** 2,
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@given(weights())
def test_named_costs_equal_the_argmin_of_the_definition(name, dtype, weights):
    costs = loop_costs(weights, NAMED[name])
    p = torch.tensor(weights, dtype=dtype) / 64
    assert simloss.decide(p, name) == loop_best(costs)
    torch.testing.assert_close(
        simloss.expected_cost(p, cost=name), torch.tensor([float(c) for c in costs], dtype=dtype)
    )


@pytest.mark.parametrize("name", ["absolute", "squared"])
@given(weights(), st.data())
def test_positions_equal_the_argmin_of_the_definition(name, weights, data):
    whole = st.integers(-8, 8)
    x = data.draw(st.lists(whole, min_size=len(weights), max_size=len(weights)))
    power = 1 if name == "absolute" else 2
    costs = loop_costs(weights, lambda k, c: abs(x[k] - x[c]) ** power)
    p = torch.tensor(weights, dtype=torch.float64) / 64
    # Of equal costs the lowest position, and there the first class.
    best = min(range(len(x)), key=lambda c: (costs[c], x[c], c))
    assert simloss.decide(p, name, positions=x) == best
    every = simloss.expected_cost(p, cost=name, positions=x)
    np.testing.assert_allclose(every, [float(c) for c in costs], atol=1e-12)
    each = [simloss.expected_cost(p, c, name, positions=x) for c in range(len(x))]
    np.testing.assert_allclose(each, every, atol=1e-12)


@given(weights(), st.data())
def test_matrix_equals_the_argmin_of_the_definition(weights, data):
    count = len(weights)
    entry = st.integers(-4, 4)
    row = st.lists(entry, min_size=count, max_size=count)
    cost = data.draw(st.lists(row, min_size=count, max_size=count))
    is_similarity = all(cost[i][i] == 1 and {*cost[i]} <= {0, 1} for i in range(count))
    assume(count == 1 or not is_similarity)
    costs = loop_costs(weights, lambda k, c: cost[k][c])
    p = torch.tensor(weights, dtype=torch.float64) / 64
    assert simloss.decide(p, cost) == loop_best(costs)
    assert simloss.decide(p, np.array(cost)) == loop_best(costs)
    each = [simloss.expected_cost(p, c, cost) for c in range(count)]
    np.testing.assert_allclose(each, [float(c) for c in costs], atol=1e-12)


@given(weights(5, 5))
def test_tree_equals_its_cost_matrix(weights):
    p = torch.tensor(weights, dtype=torch.float64) / 64
    assert simloss.decide(p, TREE) == simloss.decide(p, TREE.cost())
    for decision in (None, 3):
        torch.testing.assert_close(
            simloss.expected_cost(p, decision, TREE),
            simloss.expected_cost(p, decision, TREE.cost()),
        )


@given(weights(4, 4))
def test_similarity_costs_one_minus_s(weights):
    p = torch.tensor(weights, dtype=torch.float64) / 64
    lopsided = matrix([[1, 0.5, 0, 0], [0.25, 1, 0, 1], [0.5, 0, 1, 0], [0, 0, 0.75, 1]])
    for similarity in (order(4, r=0.5), lopsided):
        cost = 1 - similarity.to_dense(torch.float64)
        assert simloss.decide(p, similarity) == simloss.decide(p, cost)
        for decision in (None, 2):
            torch.testing.assert_close(
                simloss.expected_cost(p, decision, similarity),
                simloss.expected_cost(p, decision, cost),
            )
    assert simloss.decide(p, identity(4)) == simloss.decide(p)


@pytest.mark.parametrize(
    "names", [("argmax", "zero-one"), ("median", "absolute"), ("mean", "squared")]
)
def test_words_and_costs_mean_the_same(names):
    p = torch.rand(20, 6, generator=torch.Generator().manual_seed(1)).softmax(-1)
    first, second = (simloss.decide(p, name) for name in names)
    assert torch.equal(first, second)


def test_the_named_costs_really_differ():
    p = torch.tensor([0.4, 0.0, 0.3, 0.3])
    assert [simloss.decide(p, name).item() for name in NAMED] == [0, 2, 1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_median_at_one_half_is_not_moved_by_rounding(dtype):
    p = torch.tensor([0.1, 0.2, 0.2, 0.3, 0.2], dtype=torch.float64).to(dtype)
    assert simloss.decide(p, "median") == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_mean_at_one_half_rounds_down_in_spite_of_rounding(dtype):
    p = torch.tensor([0.1, 0.4, 0.4, 0.1], dtype=torch.float64).to(dtype)  # mean 1.5
    assert simloss.decide(p, "mean") == 1


def test_a_matrix_and_its_fast_form_agree_at_ties():
    p = torch.tensor([[0.1, 0.2, 0.2, 0.3, 0.2], [0.3, 0.2, 0.1, 0.2, 0.2]])
    classes = torch.arange(5)
    cost = (classes[:, None] - classes).abs()
    assert torch.equal(simloss.decide(p, cost), simloss.decide(p, "absolute"))


def test_argmax_is_torchs_to_the_last_bit():
    a = torch.nextafter(torch.tensor(0.5, dtype=torch.float64), torch.tensor(1.0).double())
    p = torch.stack([1 - a, a])
    assert simloss.decide(p) == p.argmax() == 1


@pytest.mark.parametrize("cost", ["argmax", "median", "mean"])
def test_a_hundred_thousand_classes_need_no_square(cost):
    count = 100_000
    p = torch.zeros(3, count)
    p[:, 70_000] = 0.5
    p[:, 99_999] = 0.3
    p[:, 10] = 0.2
    wanted = {"argmax": 70_000, "median": 70_000, "mean": 65_002}[cost]  # mean 65001.7
    assert simloss.decide(p, cost).tolist() == [wanted] * 3
    assert simloss.expected_cost(p.double(), cost=cost).argmin(-1).tolist() == [wanted] * 3


def test_a_large_similarity_is_taken_some_classes_at_a_time():
    count = 3000  # more entries than one piece holds
    p = torch.zeros(1, count)
    p[0, 100], p[0, 2900] = 0.4, 0.6
    assert simloss.decide(p, order(count, r=0.5)).item() == 2900


def test_many_examples_are_taken_some_at_a_time(monkeypatch):
    p = torch.rand(50, 7, generator=torch.Generator().manual_seed(0)).softmax(-1)
    at_once = simloss.decide(p, "median"), simloss.expected_cost(p, cost="mean")
    monkeypatch.setattr("simloss.decision.answer._BLOCK_ENTRIES", 21)
    assert torch.equal(simloss.decide(p, "median"), at_once[0])
    assert torch.equal(simloss.expected_cost(p, cost="mean"), at_once[1])


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (2, 1, 3, 4)])
def test_shapes_and_kinds(shape):
    p = torch.rand(shape, generator=torch.Generator().manual_seed(0)).softmax(-1)
    answer = simloss.decide(p, "median")
    assert answer.shape == shape[:-1]
    assert answer.dtype == torch.int64
    assert simloss.decide(p, "median", top_k=2).shape == (*shape[:-1], 2)
    assert simloss.expected_cost(p).shape == shape
    assert simloss.expected_cost(p, answer).shape == shape[:-1]
    array = simloss.decide(p.numpy(), "median")
    assert not isinstance(array, torch.Tensor)
    np.testing.assert_array_equal(array, answer.numpy())


def test_arrays_torch_would_warn_of():
    p = np.array([[0.2, 0.8], [0.7, 0.3]])
    p.setflags(write=False)
    assert simloss.decide(p).tolist() == [1, 0]
    assert simloss.decide(p[::-1]).tolist() == [0, 1]
    assert simloss.decide(p[:, ::-1]).tolist() == [0, 1]


def test_every_argument_may_be_an_array_torch_would_warn_of():
    p, x, cost, decision = np.array([0.2, 0.8]), np.array([3.0, 1.0]), 1 - np.eye(2), np.array(1)
    for array in (p, x, cost, decision):
        array.setflags(write=False)
    assert simloss.decide(p, "mean", positions=x) == 1
    assert simloss.expected_cost(p, decision, cost) == pytest.approx(0.2)


def test_a_table_is_an_array():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"low": [0.2, 0.6], "high": [0.8, 0.4]})
    assert simloss.decide(table).tolist() == [1, 0]


def test_probabilities_may_carry_gradients():
    p = torch.tensor([0.2, 0.8], requires_grad=True)
    assert not simloss.expected_cost(p, simloss.decide(p)).requires_grad


@given(weights(3, 6), st.integers(1, 3))
def test_top_k_is_sorted_by_expected_cost_and_starts_with_the_decision(weights, k):
    p = torch.tensor(weights, dtype=torch.float64) / 64
    for cost in (*NAMED, order(len(weights), r=0.5)):
        ranking = simloss.decide(p, cost, top_k=k)
        costs = simloss.expected_cost(p, cost=cost)
        assert ranking[0] == simloss.decide(p, cost)
        assert len(set(ranking.tolist())) == k
        torch.testing.assert_close(costs[ranking], costs.sort().values[:k])


def test_top_k_of_the_zero_one_cost_is_torchs():
    p = torch.rand(30, 9, generator=torch.Generator().manual_seed(0)).softmax(-1)
    assert torch.equal(simloss.decide(p, top_k=5), p.topk(5).indices)


def test_abstains_above_the_threshold_only():
    p = torch.tensor([[0.7, 0.3], [0.6, 0.4], [0.5, 0.5]])
    assert simloss.decide(p, abstain=0.4).tolist() == [0, 0, -1]
    assert simloss.decide(p, abstain=0.3).tolist() == [0, -1, -1]
    assert simloss.decide(p, abstain=0.3, top_k=2).tolist() == [[0, 1], [-1, -1], [-1, -1]]
    costs = simloss.expected_cost(p, simloss.decide(p, abstain=0.4))
    assert costs.isnan().tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([2.0, 1.0],), {}, r"must sum to 1 .* sum of 3; .*softmax"),
        (([-0.5, 1.5],), {}, r"at least 0, but got -0.5; .*softmax"),
        (([float("nan"), 1.0],), {}, r"at least 0, but got NaN"),
        ((torch.zeros(0, 3),), {}, r"at least one example, but got shape \(0, 3\)"),
        ((torch.tensor(1.0),), {}, r"shape \(..., C\)"),
        (([0.5, 0.5], "cheap"), {}, r"`cost` must be one of 'zero-one', .*'cheap'"),
        (([0.5, 0.5], [[0, 1, 2]]), {}, r"`cost` must be square"),
        (([0.5, 0.5], torch.zeros(3, 3)), {}, r"`cost` must have as many classes .* 3 .* 2"),
        (([0.5, 0.5], [[0, float("inf")], [1, 0]]), {}, r"`cost` must be finite, but got inf"),
        (([0.5, 0.5], [[1, 0.3], [0, 1]]), {}, r"looks like a similarity; pass simloss.sim.*1 - S"),
        (([0.5, 0.5], order(2, r=0.5).to_dense()), {}, r"`cost` must be a cost, lowest for"),
        (([0.5, 0.5], order(3, r=0.5)), {}, r"`cost` must have as many classes"),
        (([0.5, 0.5], order(2, r=0.5).normalized()), {}, r"kind 'similarity'.*'probability'"),
        (([0.5, 0.5], TREE), {}, r"`cost` must have as many classes"),
        (([0.5, 0.5],), {"abstain": float("nan")}, r"`abstain` must be a number .* got NaN"),
        (([0.5, 0.5],), {"top_k": 3}, r"`top_k` must be at most the number of classes, 2"),
        (([0.5, 0.5],), {"top_k": 0}, r"`top_k` must be at least 1"),
        (([0.5, 0.5],), {"positions": [1, 2]}, r"`positions` must be used with"),
        (([0.5, 0.5], TREE), {"positions": [1, 2]}, r"`positions` must be used with"),
        (([0.5, 0.5], "median"), {"positions": [1, 2, 3]}, r"`positions` must have shape \(2,\)"),
        (([0.5, 0.5], "mean"), {"positions": [1, np.nan]}, r"`positions` must be finite"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        simloss.decide(*arguments, **options)


def test_bad_types_are_refused():
    with pytest.raises(TypeError, match="`abstain` must be a number"):
        simloss.decide([0.5, 0.5], abstain="often")
    with pytest.raises(TypeError, match="`probabilities` must be a tensor, an array"):
        simloss.decide("a half")
    with pytest.raises(TypeError, match="`decision` must be class indices"):
        simloss.expected_cost([0.5, 0.5], 0.5)
    with pytest.raises(TypeError, match="`decision` must be class indices, but got str"):
        simloss.expected_cost([0.5, 0.5], "a")


def test_bad_decisions_are_refused():
    with pytest.raises(ValueError, match=r"`decision` must be in \[0, 2\), but got 2"):
        simloss.expected_cost([0.5, 0.5], 2)
    with pytest.raises(ValueError, match=r"`decision` must have shape \(\)"):
        simloss.expected_cost([0.5, 0.5], [0, 1])


def test_half_precision_softmax_is_accepted():
    logits = torch.randn(8, 1000, generator=torch.Generator().manual_seed(0))
    p = logits.softmax(-1).bfloat16()
    assert torch.equal(simloss.decide(p), p.argmax(-1))


class TestWhatRoundingMayDecide:
    """Ties are those of this example's costs, not of the largest in the table."""

    def test_a_huge_cost_of_an_impossible_class_hides_no_difference(self):
        costs = [[0, 1, 5], [1, 0, 5], [1e6, 1e6, 0]]
        assert simloss.decide(torch.tensor([0.4, 0.6, 0.0]), costs) == 1

    def test_nor_does_a_far_position(self):
        p = torch.tensor([0.1, 0.9, 0.0])
        assert simloss.decide(p, "mean", positions=[0, 10, 2e7]) == 1

    def test_half_precision_has_a_median(self):
        p = torch.tensor([0.48, 0.52]).bfloat16()
        assert simloss.decide(p, "median") == simloss.decide(p, "argmax") == 1

    def test_gains_count_by_their_size(self):
        p = torch.tensor([0.1, 0.2, 0.7])
        costs = torch.tensor([[-7.0, 0.0, 0.0], [0.0, -3.5, 0.0], [0.0, 0.0, -1.0]])
        assert simloss.decide(p, costs) == 0  # 0.7 each but for rounding: the first

    def test_equal_costs_keep_the_order_of_classes_in_a_ranking(self):
        p = torch.tensor([2 / 7, 3 / 7, 0, 2 / 7])
        costs = [[0, 2, 2, 0], [1, 0, 0, 3], [3, 1, 0, 3], [3, 3, 2, 0]]
        assert simloss.decide(p, costs, top_k=4).tolist() == [2, 0, 3, 1]


def test_a_similarity_and_its_cost_are_taken_where_the_plain_matrix_is_refused():
    p = torch.tensor([0.1, 0.7, 0.2])
    S = order(3, r=0.5).to_dense()
    assert simloss.decide(p, matrix(S)) == simloss.decide(p, 1 - S) == 1
    assert simloss.decide(p, 2 * S - 1) == 0  # a gain for being wrong is a cost like any other
