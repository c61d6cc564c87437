import pytest
import torch
from hypothesis import given

from metrics.strategies import answers_and_truth
from simloss import Tree, metrics

UNEVEN = Tree.from_paths(["a/b/c/one", "a/b/two", "a/three", "four", "d/five"])
FLAT = ["flower", "flower", "fish", "fish", "fish"]
TREES = {
    "uneven": UNEVEN,
    "two levels": Tree.from_superclasses(list("vwxyz"), FLAT),
    "names": FLAT,
    "numbers": torch.tensor([7, 7, 3, 3, 3]),
}


def as_tree(tree):
    return tree if isinstance(tree, Tree) else TREES["two levels"]


every_tree = pytest.mark.parametrize("tree", TREES.values(), ids=TREES)


def pairs(answers, truth):
    return list(zip(answers, truth, strict=True))


@every_tree
@given(pair=answers_and_truth())
def test_superclass_accuracy_and_that_of_the_failures(tree, pair):
    above = as_tree(tree).superclass(1).tolist()
    same = [above[a] == above[y] for a, y in pairs(*pair)]
    failed = [s for s, (a, y) in zip(same, pairs(*pair), strict=True) if a != y]
    assert metrics.superclass_accuracy(*pair, tree) == pytest.approx(sum(same) / len(same))
    wanted = sum(failed) / len(failed) if failed else 1.0
    assert metrics.failed_superclass_accuracy(*pair, tree) == pytest.approx(wanted)
    assert metrics.superclass_accuracy(*pair, tree) >= metrics.accuracy(*pair)


@every_tree
@given(pair=answers_and_truth())
def test_heights_are_those_of_the_cost_matrix(tree, pair):
    cost = as_tree(tree).cost().tolist()
    heights = [cost[y][a] for a, y in pairs(*pair)]
    of_errors = [h for h, (a, y) in zip(heights, pairs(*pair), strict=True) if a != y]
    assert metrics.mean_height(*pair, tree) == pytest.approx(sum(heights) / len(heights))
    wanted = sum(of_errors) / len(of_errors) if of_errors else 0.0
    assert metrics.severity(*pair, tree) == pytest.approx(wanted)


def test_no_error_at_all_is_the_best_value():
    truth = [0, 3, 4]
    assert metrics.failed_superclass_accuracy(truth, truth, FLAT) == 1
    assert metrics.severity(truth, truth, FLAT) == 0
    assert metrics.mean_height(truth, truth, FLAT) == 0


def test_one_superclass_only():
    assert metrics.superclass_accuracy([0, 1], [1, 1], ["x", "x"]) == 1
    assert metrics.failed_superclass_accuracy([0, 1], [1, 1], ["x", "x"]) == 1
    assert metrics.severity([0, 1], [1, 1], ["x", "x"]) == 1


def test_the_level_chooses_the_superclasses():
    answers, truth = [0, 0], [1, 2]
    accuracies = [metrics.superclass_accuracy(answers, truth, UNEVEN, level=n) for n in range(5)]
    assert accuracies == [1, 1, 0.5, 0, 0]
    failed = metrics.failed_superclass_accuracy(answers, truth, UNEVEN, level=2)
    assert failed == 0.5


def test_fsa_can_rise_while_everything_gets_worse():
    """Why it never stands alone: here a right answer became a nearly right one."""
    truth = [0, 2]
    before, after = [0, 0], [1, 0]
    fsa = metrics.failed_superclass_accuracy
    assert fsa(after, truth, FLAT) > fsa(before, truth, FLAT)
    assert metrics.mean_height(after, truth, FLAT) > metrics.mean_height(before, truth, FLAT)
    assert metrics.severity(after, truth, FLAT) < metrics.severity(before, truth, FLAT)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"`truth` must be in \[0, 10\), but got 10"):
        metrics.mean_height([0], [10], UNEVEN)
    with pytest.raises(ValueError, match=r"`answers` must be in \[0, 2\), but got 3"):
        metrics.superclass_accuracy([3], [0], ["x", "y"])
    for function in (metrics.superclass_accuracy, metrics.severity):
        with pytest.raises(TypeError, match=r"`tree` must be a simloss\.Tree or the superclass"):
            function([0], [0], "flower")
        for nested in ([["plant", "rose"], ["plant", "fern"]], torch.tensor([[0], [0]])):
            with pytest.raises(TypeError, match=r"\(C\), one name or number each, but got \["):
                function([0], [1], nested)
    for function in (metrics.superclass_accuracy, metrics.failed_superclass_accuracy):
        with pytest.raises(ValueError, match="`level` must be 1 for a list of superclasses"):
            function([0], [0], ["x", "y"], level=2)
    with pytest.raises(ValueError, match=r"`level` must be in \[0, 5\)"):
        metrics.superclass_accuracy([3], [0], UNEVEN, level=7)
