"""SimLossClassifier: scikit-learn's own checks, and what is ours: the class order."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import simloss
from simloss import SimLossClassifier, Tree, similarity

# Few epochs, so that scikit-learn's hundred fits take seconds.
QUICK = {"max_iter": 40, "learning_rate": 0.01, "hidden": (32,), "random_state": 0}

LOSSES = ("simloss", "proper", "soft-target", "cross-entropy")
SIZES = ["small", "medium", "large"]


def expected_failures(estimator):
    """By check, why it must fail; nothing at all for one that answers by argmax."""
    failures = {}
    if estimator.early_stopping:
        reason = "one of two equal examples may be held out, where a weight of 2 is not divided"
        failures["check_sample_weight_equivalence_on_dense_data"] = reason
    if estimator.decision != "argmax":
        reason = "it wants the most probable class answered, and the decision is another one"
        failures["check_classifiers_train"] = reason
    return failures


@parametrize_with_checks(
    [
        SimLossClassifier(**QUICK),
        SimLossClassifier(loss="simloss", r=0.8, decision="argmax", **QUICK),
        SimLossClassifier(loss="proper", decision="median", early_stopping=True, **QUICK),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:`class_order` was not given:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


TREE = Tree.from_paths(["not/small", "not/medium", "large"])


def sized(count=150, seed=0):
    """Three ordered classes, the names of which the alphabet puts in another order."""
    X = np.random.default_rng(seed).normal(size=(count, 3))
    return X, np.array(SIZES)[np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.6, 0.6])]


def ordered(**options):
    paper = {"loss": "simloss", "decision": "argmax"}
    if options.get("loss") != "cross-entropy":  # which warns of it
        paper["r"] = 0.5
    return SimLossClassifier(**{**QUICK, "class_order": SIZES, **paper, **options})


class TestClassOrder:
    def test_the_similarity_follows_it_and_the_columns_do_not(self):
        X, y = sized()
        net = ordered().fit(X, y)
        assert net.classes_.tolist() == sorted(SIZES)
        assert net.class_order_.tolist() == SIZES
        p = net.predict_proba(X)
        assert (net.classes_[p.argmax(1)] == net.predict(X)).all()
        assert net.score(X, y) > 0.85

    def test_it_matters(self):
        X, y = sized()
        right = ordered(r=0.9).fit(X, y)
        wrong = ordered(r=0.9, class_order=["medium", "small", "large"]).fit(X, y)
        assert not np.allclose(right.predict_proba(X), wrong.predict_proba(X))

    def test_renaming_the_labels_changes_nothing(self):
        X, y = sized()
        numbers = np.array([SIZES.index(label) for label in y])
        named, numbered = ordered().fit(X, y), ordered(class_order=None).fit(X, numbers)
        assert [SIZES.index(label) for label in named.predict(X)] == numbered.predict(X).tolist()
        sort = np.argsort(SIZES)
        np.testing.assert_allclose(named.predict_proba(X), numbered.predict_proba(X)[:, sort])

    def test_numbers_in_words_are_ordered_by_value(self):
        X = np.arange(60.0).reshape(-1, 1)
        net = SimLossClassifier(**QUICK).fit(X, [str(n // 5) for n in range(60)])
        assert net.class_order_.tolist() == [str(n) for n in range(12)]
        assert net.classes_.tolist() == sorted(str(n) for n in range(12))

    def test_an_ordered_categorical_knows_its_order(self):
        X, y = sized()
        column = pd.Series(pd.Categorical(y, categories=SIZES, ordered=True))
        net = ordered(class_order=None).fit(pd.DataFrame(X, columns=["a", "b", "c"]), column)
        assert net.class_order_.tolist() == SIZES
        assert net.feature_names_in_.tolist() == ["a", "b", "c"]

    def test_well_known_words_are_in_their_order(self):
        X, y = sized()
        assert ordered(class_order=None).fit(X, y).class_order_.tolist() == SIZES

    def test_the_alphabet_warns(self):
        X, y = sized()
        y = np.array(["cow", "ape", "bee"])[[SIZES.index(label) for label in y]]
        with pytest.warns(UserWarning, match="alphabetical order: ape < bee < cow; pass"):
            ordered(class_order=None).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ordered(class_order=None, loss="cross-entropy").fit(X, y)  # no order is used
            keep = y != "bee"
            ordered(class_order=None).fit(X[keep], y[keep])  # two classes have none

    def test_a_class_without_examples_keeps_its_place(self):
        X, y = sized()
        keep = y != "medium"
        net = ordered(decision="median").fit(X[keep], y[keep])
        assert net.similarity_.to_dense()[0, 1] == pytest.approx(0.25)
        assert set(net.predict(X)) <= {"small", "large"}

    def test_mistakes(self):
        X, y = sized()
        with pytest.raises(ValueError, match="'medium' of `y` is missing"):
            ordered(class_order=["small", "large"]).fit(X, y)
        with pytest.raises(ValueError, match="must be distinct, but 'small' is listed twice"):
            ordered(class_order=["small", "small"]).fit(X, y)
        with pytest.raises(TypeError, match="must be a list of labels, but got 'small'"):
            ordered(class_order="small").fit(X, y)


class TestSimilarity:
    def test_every_way_to_say_the_same(self):
        X, y = sized()
        wanted = ordered().fit(X, y).predict_proba(X)
        matrix = similarity.order(3, 0.5).to_dense().numpy()
        shuffled = similarity.matrix(matrix[[2, 0, 1]][:, [2, 0, 1]], ["large", "small", "medium"])
        for same in (matrix, similarity.order(3, 0.5), shuffled):
            got = ordered(similarity=same, r=0.1).fit(X, y).predict_proba(X)
            np.testing.assert_allclose(got, wanted, rtol=1e-6)

    def test_values_are_the_distances_of_the_labels(self):
        X, y = sized()
        ages = np.array([1, 2, 10])[[SIZES.index(label) for label in y]]
        net = SimLossClassifier("values", r=0.5, loss="proper", decision="mean", **QUICK).fit(
            X, ages
        )
        wanted = [[0.5 ** abs(a - b) for b in (1, 2, 10)] for a in (1, 2, 10)]
        np.testing.assert_allclose(net.similarity_.to_dense(), wanted, rtol=1e-6)
        answers = [1, 2, 10]
        means = net.predict_proba(X) @ answers
        nearest = [min(answers, key=lambda age: abs(age - mean)) for mean in means]
        assert net.predict(X).tolist() == nearest

    @pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
    def test_dates_count_in_days_in_whatever_unit_an_array_has_them(self, unit):
        X, y = sized()
        dates = np.array(["2024-01-01", "2024-01-02", "2024-01-05"]).astype(f"datetime64[{unit}]")
        days = dates[np.unique(y, return_inverse=True)[1]]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # there is nothing to warn of: dates have an order
            net = SimLossClassifier("values", **QUICK, r=0.5, loss="proper").fit(X, days)
        expected = [[1, 0.5, 0.0625], [0.5, 1, 0.125], [0.0625, 0.125, 1]]
        np.testing.assert_allclose(net.similarity_.to_dense(), expected, rtol=1e-6)
        assert set(net.predict(X)) <= set(dates)
        SimLossClassifier("order", **QUICK, class_order=dates[::-1]).fit(X, days)

    def test_a_tree_and_words_go_by_name(self):
        X, y = sized()
        names = np.array(["truck", "tulip", "violet"])
        y = names[[SIZES.index(label) for label in y]]
        tree = Tree.from_paths(["plant/violet", "plant/tulip", "thing/truck", "thing/bus"])
        net = SimLossClassifier(tree, temperature=2.0, loss="proper", decision=tree, **QUICK).fit(
            X, y
        )
        s = net.similarity_.to_dense()
        assert s[1, 2] == pytest.approx(np.exp(-0.5))
        assert s[0, 1] == pytest.approx(np.exp(-1))
        assert set(net.predict(X)) <= set(names)
        words = SimLossClassifier("words", lower_bound=0.3, **QUICK).fit(X, y)
        expected = similarity.words(list(names), 0.3).to_dense()
        np.testing.assert_allclose(words.similarity_.to_dense(), expected)

    def test_a_table_goes_by_its_labels(self):
        pandas = pytest.importorskip("pandas")
        X, y = sized()
        other = [SIZES[2], SIZES[0], SIZES[1]]
        S = pandas.DataFrame(similarity.order(3, 0.5).to_dense().numpy(), SIZES, SIZES)
        expected = ordered().fit(X, y)
        found = ordered(similarity=S.loc[other, other], decision=(1 - S).loc[other, other])
        np.testing.assert_allclose(found.fit(X, y).predict_proba(X), expected.predict_proba(X))
        by_cost = ordered(decision=1 - S.to_numpy()).fit(X, y)
        assert found.predict(X).tolist() == by_cost.predict(X).tolist()

    def test_mistakes(self):
        X, y = sized()
        for wrong, sentence in (
            ({"similarity": "alphabet"}, "`similarity` must be one of 'order', 'values', 'words'"),
            ({"similarity": np.eye(4)}, "`similarity` must have as many classes as `class_order`"),
            (
                {"similarity": "values"},
                "must be numbers or dates to be compared by value, but got small",
            ),
            ({"similarity": Tree.from_paths(["a/smal", "b/x"])}, "did you mean 'smal'"),
            ({"r": 1.5}, r"`r` must be in \[0, 1\), but got 1.5"),
            ({"loss": "hinge"}, "`loss` must be one of 'cross-entropy', 'simloss'"),
            ({"decision": "best"}, "`decision` must be one of"),
            ({"decision": np.eye(2)}, "`decision` must have as many classes"),
            ({"decision": np.eye(3)}, "`decision` must be a cost.* looks like a similarity; pass"),
            ({"hidden": (0,)}, "`hidden` must be at least 1"),
            ({"learning_rate": -1}, "`learning_rate` must be a finite number above 0"),
            ({"class_weight": "heavy"}, "`class_weight` must be a dict, 'balanced' or None"),
            ({"class_weight": {"smal": 5}}, r"'smal' is not one \(did you mean 'small'\?\)"),
            ({"learning_rate": 1e200}, "the loss became"),
        ):
            with pytest.raises(ValueError, match=sentence):
                ordered(**wrong).fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_learns_and_the_losses_differ(loss):
    X, y = sized()
    net = ordered(loss=loss).fit(X, y)
    assert net.score(X, y) > 0.8
    other = ordered(loss=LOSSES[LOSSES.index(loss) - 1]).fit(X, y)
    assert not np.allclose(net.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize(
    "options", [{"cross_entropy_share": 0.5}, {"label_smoothing": 0.2}, {"weight_decay": 0.5}]
)
def test_every_option_matters(options):
    X, y = sized()
    plain = ordered().fit(X, y).predict_proba(X)
    assert not np.allclose(ordered(**options).fit(X, y).predict_proba(X), plain)


@pytest.mark.parametrize("cost", ["argmax", "median", "mean", [[0, 1, 5], [9, 0, 1], [9, 9, 0]]])
def test_answers_are_those_of_decide(cost):
    X, y = sized()
    net = ordered(decision=cost).fit(X, y)
    p = net.predict_proba(X)[:, [net.classes_.tolist().index(label) for label in SIZES]]
    assert net.predict(X).tolist() == [SIZES[at] for at in simloss.decide(p, cost)]


class TestWeights:
    @pytest.mark.parametrize("loss", LOSSES)
    def test_a_weight_of_two_is_an_example_twice(self, loss):
        X, y = sized(40)
        weights = np.random.default_rng(0).integers(0, 3, 40)
        weighted = ordered(loss=loss).fit(X, y, weights)
        repeated = ordered(loss=loss).fit(X.repeat(weights, 0), y.repeat(weights))
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6)

    def test_in_small_batches_the_mean_gradient_is_that_of_the_whole(self):
        X, y = sized(40)
        weights = np.random.default_rng(0).integers(1, 5, 40)
        # At a learning rate of almost nothing, an epoch of batches sees one and the same net.
        small = ordered(batch_size=8, learning_rate=1e-12, max_iter=1).fit(X, y, weights)
        whole = ordered(batch_size=40, learning_rate=1e-12, max_iter=1).fit(X, y, weights)
        assert small.loss_curve_ == pytest.approx(whole.loss_curve_, rel=1e-6)

    def test_class_weights_are_sample_weights(self):
        X, y = sized()
        by_class = {"small": 3.0, "large": 0.5}
        weights = [by_class.get(label, 1.0) for label in y]
        one = ordered(class_weight=by_class).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(ordered().fit(X, y, weights).predict_proba(X), one)

    def test_balanced(self):
        X, y = sized()
        labels, counts = np.unique(y, return_counts=True)
        by_class = dict(zip(labels.tolist(), len(y) / 3 / counts, strict=True))
        one = ordered(class_weight="balanced").fit(X, y).predict_proba(X)
        two = ordered(class_weight=by_class).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(one, two)

    def test_a_weight_of_a_class_without_examples_is_no_mistake(self):
        X, y = sized()
        here = y != "large"
        by_class = dict(zip(SIZES, (3.0, 1.0, 0.5), strict=True))
        two = SimLossClassifier(class_weight=by_class, **QUICK).fit(X[here], y[here])
        assert len(two.classes_) == 2
        ordered(class_weight={"large": 2.0}).fit(X[here], y[here])

    def test_no_weight_at_all(self):
        X, y = sized()
        with pytest.raises(ValueError, match="must be above 0 for some example"):
            ordered(class_weight=dict.fromkeys(SIZES, 0.0)).fit(X, y)


class TestTraining:
    def test_early_stopping_keeps_the_best_epoch(self):
        X, y = sized()
        y = np.random.default_rng(1).permutation(y)  # nothing to learn: it must overfit
        net = ordered(early_stopping=True, validation_fraction=0.3, max_iter=60, patience=5, tol=0)
        net.fit(X, y)
        best = int(np.argmin(net.validation_curve_))
        assert net.n_iter_ == len(net.loss_curve_) == len(net.validation_curve_) == best + 6
        shorter = clone(net).set_params(max_iter=best + 1).fit(X, y)
        np.testing.assert_allclose(net.predict_proba(X), shorter.predict_proba(X))

    def test_every_class_stays_in_the_training_part(self):
        X, y = sized(30)
        net = ordered(early_stopping=True, validation_fraction=0.9, max_iter=2).fit(X, y)
        assert np.isfinite(net.loss_curve_).all()
        with pytest.raises(ValueError, match="needs more examples than there are classes"):
            ordered(early_stopping=True).fit(X[:3], SIZES)

    def test_patience_without_early_stopping(self):
        X, y = sized()
        net = ordered(tol=10.0, patience=3, max_iter=40).fit(X, y)
        assert net.n_iter_ == 4
        assert not hasattr(net, "validation_curve_")
        net.set_params(early_stopping=True).fit(X, y)
        assert hasattr(net, "validation_curve_")
        assert not hasattr(net.set_params(early_stopping=False).fit(X, y), "validation_curve_")

    def test_partial_fit_is_fit_in_pieces(self):
        X, y = sized()
        pieces = ordered()
        for _ in range(7):
            pieces.partial_fit(X, y, classes=SIZES)
        whole = ordered(max_iter=7).fit(X, y)
        assert pieces.n_iter_ == 7
        np.testing.assert_allclose(pieces.predict_proba(X), whole.predict_proba(X))
        with pytest.raises(ValueError, match="`y` must be among `classes`, but 'huge'"):
            pieces.partial_fit(X[:1], ["huge"])
        with pytest.raises(ValueError, match="`classes` must be passed in the first call"):
            ordered().partial_fit(X, y)
        with pytest.raises(ValueError, match="`classes` must be those of the first call"):
            pieces.partial_fit(X, y, classes=[*SIZES, "huge"])
        with pytest.raises(ValueError, match="must be a dict in partial_fit"):
            ordered(class_weight="balanced").partial_fit(X, y, SIZES)

    def test_random_state(self):
        X, y = sized()
        one, two = (ordered(random_state=3, batch_size=32).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
        other = ordered(random_state=4, batch_size=32).fit(X, y)
        assert not np.allclose(one.predict_proba(X), other.predict_proba(X))
        state = torch.random.get_rng_state()
        ordered().fit(X, y)
        assert torch.equal(torch.random.get_rng_state(), state)

    def test_float32_stays_float32(self):
        X, y = sized()
        assert ordered().fit(X.astype(np.float32), y).predict_proba(X).dtype == np.float32
        assert ordered().fit(X, y).predict_proba(X).dtype == np.float64


def test_inputs_are_standardised():
    X, y = sized()
    p = ordered().fit(X, y).predict_proba(X)
    far = 1000 * X + 50_000
    np.testing.assert_allclose(ordered().fit(far, y).predict_proba(far), p, rtol=1e-5)


def test_pipeline_grid_search_clone_and_pickle():
    X, y = sized(90)
    pipeline = make_pipeline(StandardScaler(), ordered(max_iter=15))
    scoring = simloss.metrics.scorer("mae", classes=SIZES)
    grid = {"simlossclassifier__r": [0.0, 0.5, 0.95]}
    search = GridSearchCV(pipeline, grid, scoring=scoring, cv=3).fit(X, y)
    assert search.best_params_["simlossclassifier__r"] in (0.0, 0.5)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    again.best_estimator_[-1].partial_fit(X, y)  # an unpickled one goes on learning
    matrix = ordered(similarity=np.eye(3), decision=similarity.order(3, 0.2))
    assert "SimLossClassifier" in repr(clone(matrix).fit(X, y))


def test_without_scikit_learn_one_sentence():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import simloss\n"
        "try: simloss.SimLossClassifier\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "`pip install 'simloss[sklearn]'` installs it." in result.stdout, result.stderr


def test_an_ordered_column_in_a_frame_keeps_its_order():
    y = pd.Series(pd.Categorical(["low", "high"] * 10, ["low", "high"], ordered=True), name="y")
    x = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(DataConversionWarning):
        net = SimLossClassifier(max_iter=1).fit(x, y.to_frame())
    series = SimLossClassifier(max_iter=1).fit(x, y)
    assert net.class_order_.tolist() == series.class_order_.tolist() == ["low", "high"]


def test_hidden_is_a_tuple():
    with pytest.raises(TypeError, match="`hidden` must be a tuple"):
        SimLossClassifier(hidden=32).fit(np.eye(4), [0, 1, 0, 1])


def test_whole_numbers_may_come_as_floats():
    """As from a search over np.linspace or a logarithmic range."""
    X, y = sized()
    options = {"hidden": (4,), "batch_size": 16, "max_iter": 2, "patience": 2}
    floats = {"hidden": (4.0,), "batch_size": 16.0, "max_iter": 2.0, "patience": np.float64(2)}
    expected = ordered(**options).fit(X, y).predict_proba(X)
    assert np.array_equal(ordered(**floats).fit(X, y).predict_proba(X), expected)


class TestDefaults:
    """Cross entropy, answered by what suits the classes; smooth if asked for."""

    def test_cross_entropy_by_the_median(self):
        X, y = sized()
        plain = SimLossClassifier(class_order=SIZES, **QUICK).fit(X, y)
        same = SimLossClassifier(
            class_order=SIZES, loss="cross-entropy", decision="median", **QUICK
        ).fit(X, y)
        assert np.array_equal(plain.predict_proba(X), same.predict_proba(X))
        assert np.array_equal(plain.predict(X), same.predict(X))

    def test_what_suits_a_tree_and_a_matrix(self):
        X, y = sized()
        S = np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])
        for known, cost in ((TREE, TREE), (S, 1 - S)):
            net = SimLossClassifier(known, class_order=SIZES, **QUICK).fit(X, y)
            asked = clone(net).set_params(decision=cost).fit(X, y)
            assert np.array_equal(net.predict(X), asked.predict(X))

    @pytest.mark.parametrize(
        ("given", "idle", "used"),
        [
            ({"r": 0.5}, {}, {"smoothness": 1.0}),
            ({"r": 0.5}, {"decision": "argmax"}, {"loss": "proper", "decision": "argmax"}),
            ({"similarity": TREE, "temperature": 2.0}, {}, {"loss": "proper"}),
            ({"similarity": "words", "lower_bound": 0.3}, {"decision": "argmax"}, {}),
        ],
    )
    def test_a_parameter_without_effect_is_warned_of(self, given, idle, used):
        X, y = sized()
        net = SimLossClassifier(class_order=SIZES, **{**QUICK, "max_iter": 1}, **given)
        name = list(given)[-1]
        with pytest.warns(UserWarning, match=rf"`{name}`=.* changes nothing with loss"):
            clone(net).set_params(**idle).fit(X, y)
        clone(net).set_params(**used).fit(X, y)

    @pytest.mark.parametrize("loss", ["cross-entropy", "blended"])
    def test_smoothness_by_the_rule_is_that_of_the_number_of_examples(self, loss):
        X, y = sized()
        options = {"class_order": SIZES, "loss": loss, **QUICK}
        ruled = SimLossClassifier(smoothness="rule", **options).fit(X, y)
        number = SimLossClassifier(smoothness=3 * 3 / (3 * len(X)), **options).fit(X, y)
        assert np.array_equal(ruled.predict_proba(X), number.predict_proba(X))
        none = SimLossClassifier(**options).fit(X, y)
        much = SimLossClassifier(smoothness=30.0, **options).fit(X, y)
        steps = [
            np.abs(np.diff(np.log(n.predict_proba(X)[:, [2, 1, 0]]))).mean() for n in (much, none)
        ]
        assert steps[0] < 0.5 * steps[1]

    def test_bad_input(self):
        with pytest.raises((TypeError, ValueError), match="`smoothness` must be"):
            SimLossClassifier(smoothness="much", **QUICK).fit(*sized())
