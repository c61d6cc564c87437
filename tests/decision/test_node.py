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
