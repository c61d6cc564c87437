import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss import Tree
from simloss.similarity import identity, tree

PATHS = ["animal/bird/robin", "animal/bird/crow", "animal/cod", "plant/rose"]


@st.composite
def trees(draw):
    size = draw(st.integers(2, 20))
    return Tree.from_parents({f"n{i}": f"n{draw(st.integers(0, i - 1))}" for i in range(1, size)})


def distance_by_loops(a, b, T, measure):
    if a == b:
        return 0.0
    lines = [[node, *T.ancestors(node)] for node in (a, b)]
    common = next(node for node in lines[0] if node in lines[1])
    if measure == "height":
        return T.heights[common]
    up = lines[0].index(common) + lines[1].index(common)
    if measure == "path":
        return up
    nodes_above = len(T.ancestors(common)) + 1
    return -math.log(2 * nodes_above / (up + 2 * nodes_above))


@given(trees(), st.sampled_from(["height", "path", "wu-palmer"]), st.floats(0.1, 10))
def test_formula(T, measure, temperature):
    S = tree(T, temperature, measure=measure)
    dense = S.to_dense(torch.float64)
    assert S.names == T.class_names
    assert torch.allclose(dense, dense.T)
    for a in T.leaves:
        for b in T.leaves:
            expected = math.exp(-distance_by_loops(a, b, T, measure) / temperature)
            assert dense[a, b].item() == pytest.approx(expected, rel=1e-9)


@given(trees(), st.sampled_from(["height", "path", "wu-palmer"]))
def test_monotone_in_the_temperature_and_the_identity_at_zero(T, measure):
    cold, warm = (tree(T, t, measure=measure).to_dense(torch.float64) for t in (0.5, 2))
    assert bool((warm >= cold).all())
    assert tree(T, 1e-4, measure=measure).rows([0]).sum() == 1
    if T.num_classes > 1:
        S = tree(T, 1e-4, measure=measure)
        assert torch.equal(S.to_dense(), identity(T.num_classes).to_dense())


@given(trees(), st.data())
def test_follows_a_permutation_of_the_classes(T, data):
    place = data.draw(st.permutations(range(T.num_classes)))
    dense = tree(T).to_dense(torch.float64)
    assert torch.equal(tree(T.restricted(place)).to_dense(torch.float64), dense[place][:, place])


def test_height_is_the_trees_own_cost():
    T = Tree.from_paths(PATHS)
    assert torch.allclose(tree(T, 2).cost() * 2, T.cost())


def test_a_nested_dict_and_paths_are_taken_as_they_are():
    T = Tree.from_paths(["bird/robin", "bird/crow", "fish/cod"])
    for written in (
        {"bird": ["robin", "crow"], "fish": ["cod"]},
        {"bird": ["robin", "crow"], "fish": "cod"},
        ["bird/robin", "bird/crow", "fish/cod"],
        [("bird", "robin"), ("bird", "crow"), ("fish", "cod")],
    ):
        S = tree(written, 0.7)
        assert S.names == T.class_names
        assert torch.equal(S.to_dense(), tree(T, 0.7).to_dense())


def test_bad_input():
    with pytest.raises(
        TypeError, match=r"must be a simloss.Tree, a nested dict or a list of paths"
    ):
        tree("taxonomy.csv")
    with pytest.raises(
        ValueError, match=r"names to names, which could be read either way; pass Tre"
    ):
        tree({"robin": "bird", "cod": "fish"})
    with pytest.raises(ValueError, match="`measure` must be one of 'height', 'path', 'wu-palmer'"):
        tree(Tree.from_paths(PATHS), measure="hight")
    with pytest.raises(ValueError, match="`temperature` must be a finite number above 0"):
        tree(Tree.from_paths(PATHS), 0)
