"""Answers and truths anywhere in a tree, against sets of ancestors."""

import itertools

import pytest
import torch

from simloss import Tree, decide_node, metrics

TREES = {
    "uneven": Tree.from_paths(["a/b/c/one", "a/b/two", "a/three", "four", "d/five"]),
    "two levels": Tree.from_superclasses(
        list("vwxyz"), ["flower", "flower", "fish", "fish", "fish"]
    ),
}
every_tree = pytest.mark.parametrize("tree", TREES.values(), ids=TREES)


def line_of(tree, node):
    return [node, *tree.ancestors(node)]


def all_pairs(tree):
    return itertools.product(range(len(tree.parents)), repeat=2)


def judged(tree, answer, truth):
    """An answer below the truth cannot be told from it."""
    return truth if truth in line_of(tree, answer) else answer


@every_tree
def test_heights_of_any_two_nodes(tree):
    for answer, truth in all_pairs(tree):
        above = line_of(tree, judged(tree, answer, truth))
        common = next(node for node in line_of(tree, truth) if node in above)
        wanted = tree.heights[common] - tree.heights[truth]
        assert metrics.mean_height([answer], [truth], tree) == wanted
        assert metrics.mean_cost([answer], [truth], tree) == wanted
        assert metrics.severity([answer], [truth], tree) == wanted


@every_tree
def test_overlap_of_any_two_nodes(tree):
    for answer, truth in all_pairs(tree):
        a = {*line_of(tree, judged(tree, answer, truth))}
        y = {*line_of(tree, truth)}
        wanted = 2 * len(a & y) / (len(a) + len(y))
        assert metrics.wu_palmer([answer], [truth], tree) == pytest.approx(wanted)
        a, y = a - {tree.root}, y - {tree.root}
        wanted = 2 * len(a & y) / (len(a) + len(y)) if a | y else 1
        assert metrics.hierarchical_f1([answer], [truth], tree) == pytest.approx(wanted)


@every_tree
def test_node_accuracy_asks_whether_one_is_above_the_other(tree):
    for answer, truth in all_pairs(tree):
        agree = answer in line_of(tree, truth) or truth in line_of(tree, answer)
        assert metrics.node_accuracy([answer], [truth], tree) == agree
        if max(answer, truth) < tree.num_classes:
            assert metrics.node_accuracy([answer], [truth], tree) == (answer == truth)


@every_tree
def test_superclasses_of_any_two_nodes(tree):
    for level in range(tree.heights[tree.root] + 1):
        for answer, truth in all_pairs(tree):
            a, y = (
                line_of(tree, node)[max(0, tree.depths[node] - level)]
                for node in (judged(tree, answer, truth), truth)
            )
            found = metrics.superclass_accuracy([answer], [truth], tree, level=level)
            assert found == (a == y)


def test_wu_palmer_is_the_similarity_of_that_name():
    from simloss.similarity import tree as similarity_of

    tree = TREES["uneven"]
    S = similarity_of(tree, measure="wu-palmer").to_dense(torch.float64)
    for answer, truth in itertools.product(range(5), repeat=2):
        assert metrics.wu_palmer([answer], [truth], tree) == pytest.approx(float(S[truth, answer]))


def test_the_answers_for_a_metric_are_the_best_by_it():
    """On many examples drawn from the probabilities, nothing beats the rule made for the metric."""
    tree = TREES["uneven"]
    generator = torch.Generator().manual_seed(0)
    p = torch.randn(60_000, 5, generator=generator, dtype=torch.float64).mul(1.5).softmax(-1)
    truth = torch.multinomial(p, 1, generator=generator).squeeze(1)
    rules = {
        "hierarchical_f1": {"measure": "f1"},
        "wu_palmer": {"measure": "wu-palmer"},
        "mean_height": {"price": 1.0},
    }
    answers = {name: decide_node(p, tree, **options) for name, options in rules.items()}
    answers["argmax"] = p.argmax(-1)
    for name in rules:
        metric = metrics.find(name)
        sign = 1 if metric.higher_is_better else -1
        values = {rule: sign * metric(nodes, truth, tree=tree) for rule, nodes in answers.items()}
        assert values[name] > max(values.values()) - 0.001, name
        assert values[name] > values["argmax"] + 0.001, name


def test_classes_of_a_list_of_superclasses_have_no_other_nodes():
    with pytest.raises(ValueError, match=r"`answers` must be in \[0, 3\), but got 3"):
        metrics.node_accuracy([3], [0], ["x", "x", "y"])
    assert metrics.hierarchical_f1([1], [0], ["x", "x", "y"]) == 0.5


def test_node_accuracy_never_stands_alone():
    assert metrics.columns("node_accuracy", probabilities=False) == [
        "hierarchical_f1",
        "node_accuracy",
    ]
