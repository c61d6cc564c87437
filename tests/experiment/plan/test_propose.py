import pytest
import torch

from simloss import similarity
from simloss.data import Dataset, abalone
from simloss.experiment.plan import propose
from simloss.experiment.plan.propose import proposal, proposed, with_metric, with_rule
from simloss.experiment.plan.similarities import positions_of, similarity_of, tree_of
from simloss.similarity import properness
from simloss.similarity.properness import Verdict


def of(*names, kind="names", superclasses=None):
    labels = torch.arange(len(names))
    return Dataset(
        "d", torch.zeros(len(names), 1), labels, names, superclasses, notes={"class_order": kind}
    )


@pytest.mark.parametrize(
    ("dataset", "kind"),
    [
        (of("1", "2", "3", kind="numbers"), "order"),
        (of("10", "20", "30", kind="numbers"), "order"),
        (of("1", "2", "5", kind="numbers"), "values"),
        (of("0–2", "2–9", kind="numbers"), "order"),
        (of("2024-01-01", "2024-01-02", "2024-03-01", kind="dates"), "values"),
        (of("low", "high", kind="words"), "order"),
        (of("raw", "ripe", kind="given"), "order"),
        (of("raw", "ripe", kind="column"), "order"),
        (of("cat", "dog", "maple_tree"), "words-angle"),
        (of("robin", "cod", superclasses=("bird", "fish")), "tree"),
        (of("X17", "K9q", "zzqx"), None),
        (of("a", "b"), None),
        (abalone(), "order"),
    ],
)
def test_what_the_classes_suggest(dataset, kind):
    found = proposed(dataset)
    assert (found and found[0]) == kind
    if kind is None:
        with pytest.raises(ValueError, match="--similarity order, words, hf:NAME-OR-FOLDER"):
            proposal(dataset)
    else:
        made = proposal(dataset)
        assert made.rules[0] == "argmax"
        for value in made.values:
            similarity_of(made.similarity, value, dataset)


def test_what_follows():
    ordered = proposal(of("1", "2", "3", kind="numbers"))
    assert (ordered.metrics[0], ordered.rules, ordered.cost) == ("mae", ("argmax", "median"), None)
    assert proposal(of("10", "20", "30", kind="numbers")).cost == "values"  # errors in its unit
    words = proposal(of("cat", "dog"))
    assert (words.metrics[0], words.rules[1], words.cost) == (
        "mean_similarity",
        "similarity",
        "words-angle",
    )
    assert words.reason == "the class names are words"
    tree = proposal(of("robin", "cod", superclasses=("bird", "fish")))
    assert (tree.metrics[0], tree.rules) == ("mean_height", ("argmax", "tree"))


def test_it_says_what_is_given_up():
    asked = proposal(of("cat", "dog"), "words").reason
    assert asked == (
        "you asked for it, though it mostly makes the proper losses improper "
        "(words-angle keeps them proper)"
    )
    assert (
        "order keeps them proper" in proposal(of("1", "2", "3", kind="numbers"), "gaussian").reason
    )
    assert proposal(of("1", "2", "3", kind="numbers"), "order").reason == "you asked for it"


def test_it_says_where_the_angles_are_not_proved_to_keep_the_loss_proper(monkeypatch):
    monkeypatch.setattr(properness, "decide", lambda *_: Verdict(None, "too many"))
    reason = proposal(of("raven", "crow", "magpie")).reason
    assert "not proved proper at t = 0.25" in reason
    monkeypatch.setattr(propose, "_TESTED_UP_TO", 2)
    propose._about_angles.cache_clear()
    assert proposal(of("raven", "crow", "magpie")).reason == "the class names are words"
    propose._about_angles.cache_clear()


def test_a_stray_word_among_numbers_is_named():
    with pytest.raises(ValueError, match=r"class names \(numbers, but for 'n/a'\) do not tell it"):
        proposal(of("1", "2", "3", "n/a"))
    with pytest.raises(ValueError, match=r"class names \('a', 'b', 'c', \.\.\.\) do not tell it"):
        proposal(of("a", "b", "c", "4"))
    with pytest.raises(
        ValueError, match=r"class names \('a1', 'b2', 'c3', \.\.\.\) do not tell it"
    ):
        proposal(of("a1", "b2", "c3"))


def test_an_order_nobody_told():
    with pytest.raises(ValueError, match="needs an order, which the class names do not tell"):
        proposal(of("ant", "bee", "cat"), "order")


def test_another_metric_or_decision():
    dataset = of("1", "2", "3", kind="numbers")
    made = proposal(dataset)
    assert with_metric(dataset, made, "quadratic_kappa").metrics[:2] == ("quadratic_kappa", "mae")
    assert with_metric(dataset, made, "accuracy").metrics == ("accuracy",)
    with pytest.raises(ValueError, match="`metric` 'superclass_accuracy' needs tree"):
        with_metric(dataset, made, "sa")
    assert with_rule(dataset, made, "mean").rules == ("argmax", "mean")
    assert with_rule(dataset, made, "argmax").rules == ("argmax",)
    with pytest.raises(ValueError, match="`decision` must be one of 'argmax', 'mean', 'median'"):
        with_rule(dataset, made, "tree")


def test_values_by_a_plain_loop():
    dataset = of("1", "2", "3", "7", kind="numbers")
    at = [1, 2, 3, 7]
    s = similarity_of("values", 0.5, dataset).to_dense()
    for i in range(4):
        for j in range(4):
            assert s[i, j].item() == pytest.approx(0.5 ** abs(at[i] - at[j]))  # the usual gap is 1
    assert positions_of(dataset).tolist() == at
    with pytest.raises(ValueError, match="'values' needs classes that are numbers or dates"):
        positions_of(of("cat", "dog"))


def test_deep_trees():
    tree = tree_of(of("robin", "crow", "cod", superclasses=("a/bird", "a/bird", "a/fish")))
    assert tree.cost().tolist() == [[0, 1, 2], [1, 0, 2], [2, 2, 0]]


def test_a_saved_similarity_in_another_order(tmp_path):
    path = tmp_path / "s.csv"
    similarity.order(3, 0.5, names=["low", "middle", "high"]).save(path)
    found = similarity_of(str(path), None, of("high", "low", "middle"))
    assert found.names == ("high", "low", "middle")
    assert found.to_dense().tolist() == [[1, 0.25, 0.5], [0.25, 1, 0.5], [0.5, 0.5, 1]]
    with pytest.raises(ValueError, match=r"must name the names in .*, but 'hi' is not one"):
        similarity_of(str(path), None, of("hi", "low", "middle"))


def test_who_said_the_order():
    """An ordered column of a parquet file is not something the user has typed."""
    assert proposed(of("raw", "ripe", kind="given")) == ("order", "you gave their order")
    assert proposed(of("raw", "ripe", kind="column")) == ("order", "their column says their order")
