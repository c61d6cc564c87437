"""A text that LightGBM is given leads every input to a leaf; whatever else is refused."""

import lightgbm
import numpy as np
import pytest

from simloss.experiment.rivals.tree_text import checked_text

FEATURES = 4


@pytest.fixture(scope="module")
def examples():
    generator = np.random.default_rng(0)
    x = generator.standard_normal((300, FEATURES))
    return x, np.digitize(x[:, 0] + x[:, 1], [-0.7, 0.7])


def text_of(examples, **settings):
    data = lightgbm.Dataset(*examples)
    settings = {"num_leaves": 5, "verbose": -1, "num_threads": 1, **settings}
    return lightgbm.train(settings, data, 4).model_to_string()


@pytest.fixture(scope="module")
def classifier(examples):
    return text_of(examples, objective="multiclass", num_class=3)


def test_the_same_trees_come_out(examples, classifier):
    plain = checked_text(classifier.encode(), FEATURES, 3)
    assert "parameters" not in plain
    assert len(plain) < len(classifier)
    first, second = (
        lightgbm.Booster(model_str=text).predict(examples[0], raw_score=True)
        for text in (classifier, plain)
    )
    np.testing.assert_array_equal(first, second)


def test_a_regression_and_a_tree_of_one_leaf(examples):
    text = text_of(examples, objective="l1", min_data_in_leaf=300)
    plain = checked_text(text.encode(), FEATURES, 1)
    assert lightgbm.Booster(model_str=plain).predict(examples[0][:2]).tolist() == [1.0, 1.0]


def line(text, name):
    start = text.index(f"\n{name}=") + 1
    return text[start : text.index("\n", start)]


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("split_feature", "0 9 1 2", "tree 0 leads nowhere"),
        ("split_feature", "0 -1 1 2", "tree 0 leads nowhere"),
        ("left_child", "0 -2 -1 -3", "tree 0 leads nowhere"),  # its own child: no end
        ("left_child", "4 -2 -1 -3", "tree 0 leads nowhere"),
        ("right_child", "-9 -2 -1 -3", "tree 0 leads nowhere"),
        ("decision_type", "1 2 2 2", "tree 0 leads nowhere"),
        ("threshold", "nan 0 0 0", "tree 0 leads nowhere"),
        ("threshold", "0 0 0", "tree 0 leads nowhere"),
        ("leaf_value", "1 2 inf 3 4", "tree 0 leads nowhere"),
        ("leaf_value", "1 2 three 4 5", "tree 0 cannot be read"),
        ("leaf_value", "", "tree 0 leads nowhere"),
    ],
)
def test_a_tree_that_leads_nowhere(classifier, name, value, match):
    damaged = classifier.replace(line(classifier, name), f"{name}={value}", 1)
    with pytest.raises(ValueError, match=match):
        checked_text(damaged.encode(), FEATURES, 3)


def test_what_is_cut_off_or_another_model(classifier):
    with pytest.raises(ValueError, match="not the text of such a model"):
        checked_text(classifier[: len(classifier) // 2].encode(), FEATURES, 3)
    with pytest.raises(ValueError, match="not the text of such a model"):
        checked_text(classifier.encode(), FEATURES, 2)
    with pytest.raises(ValueError, match="not the text of such a model"):
        checked_text(b"tree", FEATURES, 3)
    without_one = classifier.replace("Tree=1\n", "Leaf=1\n")
    with pytest.raises(ValueError, match="some of its trees are missing"):
        checked_text(without_one.encode(), FEATURES, 3)
    with pytest.raises(ValueError, match="codec can.t decode"):
        checked_text(bytes(range(128, 255)), FEATURES, 3)
    with pytest.raises(ValueError, match="leads nowhere"):
        checked_text(classifier.encode(), 1, 3)
