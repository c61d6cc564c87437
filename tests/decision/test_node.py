"""decide_node against the definition written as loops."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import simloss
from simloss import Tree

TREES = [
    Tree.from_paths(["bird/robin", "bird/crow", "fish/sea/cod", "fish/sea/eel", "rock"]),
    Tree.from_paths(["a/b/c/one", "a/b/two", "a/three", "four", "d/five"]),
    Tree.from_superclasses(list("vwxyz"), list("AABBB")),
]


def loop_costs(p, tree, price):
    """The definition: climb from the node to the truth, plus the price of starting high."""
    costs = []
    for node in range(len(tree.parents)):
        total = 0.0
        for k, share in enumerate(p):
            line = (k, *tree.ancestors(k))
            common = node
            while common not in line:
                common = tree.parents[common]
            wrong = tree.heights[common] - tree.heights[node]
            total += share * (wrong + price * tree.heights[node])
        costs.append(total)
    return costs


@pytest.mark.parametrize("tree", TREES, ids=["birds", "uneven", "superclasses"])
@given(
    weights=st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any),
    price=st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]),
)
def test_equals_the_definition(tree, weights, price):
    p = np.array(weights) / sum(weights)
    node = simloss.decide_node(p, tree, price=price)
    costs = loop_costs(p, tree, price)
    assert costs[node] == pytest.approx(min(costs), abs=1e-9)
    # The less specific of equals: no ancestor costs the same.
    assert all(costs[above] > costs[node] + 1e-12 for above in tree.ancestors(node))


def test_stops_where_deeper_does_not_pay():
    tree = TREES[2]
    p = torch.tensor([[0.9, 0.1, 0, 0, 0], [0.4, 0.6, 0, 0, 0], [0.2, 0.2, 0.2, 0.2, 0.2]])
    names = [tree.names[node] for node in simloss.decide_node(p, tree, price=0.3)]
    assert names == ["v", "A", "root"]


def test_the_price_moves_it_from_the_root_to_the_classes():
    tree = TREES[0]
    p = torch.tensor([0.35, 0.25, 0.2, 0.15, 0.05])
    depths = [tree.depths[simloss.decide_node(p, tree, price=x)] for x in (0, 0.45, 0.9, 1)]
    assert depths == sorted(depths)
    assert depths[0] == 0
    assert simloss.decide_node(p, tree, price=1) == simloss.decide(p, tree)


def test_a_certain_class_is_answered_at_any_price():
    p = torch.eye(5)
    assert simloss.decide_node(p, TREES[1], price=0.01).tolist() == [0, 1, 2, 3, 4]


def test_half_precision_does_not_hide_a_difference():
    tree = Tree.from_paths(["a/b/c/d/e/one", "a/b/c/d/e/two", "a/three"])
    p = torch.tensor([0.99, 0.01, 0], dtype=torch.float16)
    costs = loop_costs(p.tolist(), tree, 0.02)
    assert costs[0] < 0.6 * min(costs[1:])
    assert simloss.decide_node(p, tree, price=0.02) == 0


def test_shapes_and_kinds():
    p = torch.full((2, 3, 5), 0.2)
    assert simloss.decide_node(p, TREES[0]).shape == (2, 3)
    assert isinstance(simloss.decide_node(p.numpy(), TREES[0]), np.ndarray)
    assert simloss.decide_node(p[0, 0], TREES[0]).shape == ()


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match=r"`tree` must be a simloss.Tree, but got Tensor"):
        simloss.decide_node([0.5, 0.5], torch.zeros(2, 2))
    with pytest.raises(ValueError, match="`tree` must have as many classes as `probabilities`"):
        simloss.decide_node([0.5, 0.5], TREES[0])
    with pytest.raises(ValueError, match=r"`price` must be in \[0, 1\], but got 2"):
        simloss.decide_node([0.2] * 5, TREES[0], price=2)


def line_of(tree, node):
    """The node and its ancestors."""
    return {node, *tree.ancestors(node)}


def overlap(tree, answer, truth, root_counts):
    """F1 of two sets of nodes, with the root in both or in neither."""
    a, y = (
        line_of(tree, node) - ({tree.root} if not root_counts else set())
        for node in (answer, truth)
    )
    return 2 * len(a & y) / (len(a) + len(y)) if a or y else 1.0


@pytest.mark.parametrize("tree", TREES, ids=["birds", "uneven", "superclasses"])
@pytest.mark.parametrize(("measure", "root_counts"), [("f1", False), ("wu-palmer", True)])
@given(weights=st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any))
def test_no_other_node_or_class_overlaps_more(tree, measure, root_counts, weights):
    p = np.array(weights) / sum(weights)
    expected = [
        sum(share * overlap(tree, node, k, root_counts) for k, share in enumerate(p))
        for node in range(len(tree.parents))
    ]
    node = simloss.decide_node(p, tree, measure=measure)
    assert expected[node] == pytest.approx(max(expected), abs=1e-12)
    assert all(expected[above] < expected[node] - 1e-13 for above in tree.ancestors(node))
    leaf = simloss.decide_node(p, tree, measure=measure, leaves=True)
    best = max(expected[:5])
    assert leaf == next(c for c in range(5) if expected[c] > best - 1e-12)


@pytest.mark.parametrize("tree", TREES, ids=["birds", "uneven", "superclasses"])
@given(weights=st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any))
def test_the_leaf_of_lowest_height_is_that_of_decide(tree, weights):
    p = np.array(weights) / sum(weights)
    heights = tree.cost().double().numpy()
    leaf = simloss.decide_node(p, tree, price=1, leaves=True)
    assert leaf == simloss.decide(p, tree)
    assert (p @ heights)[leaf] == pytest.approx((p @ heights).min(), abs=1e-12)


def test_random_trees_of_any_shape():
    random = np.random.default_rng(0)
    for _ in range(30):
        depth = random.integers(1, 6, 12)
        paths = [
            "/".join([*(f"n{random.integers(0, 3)}" for _ in range(d)), f"c{i}"])
            for i, d in enumerate(depth)
        ]
        tree = Tree.from_paths(paths)
        p = random.dirichlet(np.full(12, 0.5))
        for measure, root_counts in (("f1", False), ("wu-palmer", True)):
            expected = [
                sum(p[k] * overlap(tree, node, k, root_counts) for k in range(12))
                for node in range(len(tree.parents))
            ]
            node = simloss.decide_node(p, tree, measure=measure)
            assert expected[node] == pytest.approx(max(expected), abs=1e-12)


def test_a_tree_of_one_class_has_one_answer():
    tree = Tree.from_parents({"only": None})
    for measure in ("height", "f1", "wu-palmer"):
        assert simloss.decide_node([1.0], tree, measure=measure) == 0


def test_a_wrong_measure_is_refused():
    with pytest.raises(ValueError, match="`measure` must be one of 'height', 'f1', 'wu-palmer'"):
        simloss.decide_node([0.2] * 5, TREES[0], measure="path")
    with pytest.raises(
        ValueError, match="`price` must be used with the measure 'height', but got 'f1'"
    ):
        simloss.decide_node([0.2] * 5, TREES[0], measure="f1", price=0.5)
