"""CostAwareClassifier: scikit-learn's own checks, then what it answers and what it leaves alone."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import simloss
from simloss import CostAwareClassifier, Tree, metrics, similarity

SIZES = ["small", "medium", "large"]


def expected_failures(estimator):
    if estimator.cost == "zero-one":
        return {}
    reason = "it wants the most probable class answered, and the cost asks for another"
    return {"check_classifiers_train": reason}


@parametrize_with_checks(
    [
        CostAwareClassifier(LogisticRegression()),
        CostAwareClassifier(LogisticRegression(), calibrate=True, cv=3),
        CostAwareClassifier(LogisticRegression(), cost="squared", thresholds="mae", cv=2),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:`class_order` was not given:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.filterwarnings("ignore:Number of classes in training fold:RuntimeWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def sized(count=300, seed=0):
    """Three ordered classes, the names of which the alphabet puts in another order."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 3))
    return X, np.array(SIZES)[np.digitize(X[:, 0] + random.normal(size=count), [-0.7, 0.7])]


def in_order(p, classes, order=SIZES):
    return p[:, [list(classes).index(label) for label in order]]


COSTS = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0.0]])
TREE = Tree.from_paths(["not large/small", "not large/medium", "large"])


@pytest.mark.parametrize(
    ("cost", "as_decide_takes_it"),
    [
        ("zero-one", "zero-one"),
        ("absolute", "absolute"),
        ("median", "absolute"),
        ("squared", "squared"),
        (COSTS, COSTS),
        (COSTS.tolist(), COSTS),
        (pd.DataFrame(COSTS, SIZES, SIZES).loc[::-1, ::-1], COSTS),
        (similarity.order(3, r=0.5), similarity.order(3, r=0.5)),
        (similarity.order(3, r=0.5, names=SIZES), similarity.order(3, r=0.5)),
        (TREE, TREE),
    ],
    ids=str,
)
def test_the_answers_are_those_of_decide(cost, as_decide_takes_it):
    X, y = sized()
    model = CostAwareClassifier(LogisticRegression(), cost=cost, class_order=SIZES).fit(X, y)
    plain = LogisticRegression().fit(X, y)
    p = in_order(plain.predict_proba(X), plain.classes_)
    answers = simloss.decide(p, as_decide_takes_it)
    assert model.predict(X).tolist() == [SIZES[a] for a in answers]
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    expected = in_order(model.expected_cost(X), model.classes_)
    np.testing.assert_allclose(expected, simloss.expected_cost(p, cost=as_decide_takes_it))
    assert model.class_order_.tolist() == SIZES
    assert model.classes_.tolist() == sorted(SIZES)


def test_it_pays():
    X, y = sized(2000)
    order = {label: i for i, label in enumerate(SIZES)}
    truth = [order[label] for label in y[1000:]]
    paid = []
    for cost in ("zero-one", COSTS):
        model = CostAwareClassifier(LogisticRegression(), cost=cost, class_order=SIZES)
        answers = model.fit(X[:1000], y[:1000]).predict(X[1000:])
        paid.append(metrics.mean_cost([order[label] for label in answers], truth, COSTS))
    assert paid[1] < 0.9 * paid[0]


def test_a_temperature_by_examples_it_has_not_seen():
    X, y = sized()
    forest = RandomForestClassifier(n_estimators=20, random_state=0)
    model = CostAwareClassifier(forest, calibrate=True, cv=3, class_order=SIZES).fit(X, y)
    unseen = cross_val_predict(forest, X, y, cv=3, method="predict_proba")
    truth = np.searchsorted(model.classes_, y)
    temperature = simloss.calibration.fit_temperature(simloss.calibration.logits(unseen), truth)
    assert model.temperature_ == pytest.approx(temperature)
    assert temperature > 1.2  # far too sure of what it has not seen
    X_new, y_new = sized(1000, seed=1)
    truth = np.searchsorted(model.classes_, y_new)
    before, after = (each.predict_proba(X_new) for each in (model.estimator_, model))
    assert metrics.nll(after, truth) < metrics.nll(np.maximum(before, 1e-7), truth)


def test_a_trained_classifier_is_left_alone():
    X, y = sized(900)
    trained = RandomForestClassifier(n_estimators=20, random_state=0).fit(X[:300], y[:300])
    before = trained.predict_proba(X)
    model = CostAwareClassifier(FrozenEstimator(trained), cost=COSTS, class_order=SIZES)
    model.set_params(calibrate=True).fit(X[300:600], y[300:600])
    np.testing.assert_array_equal(trained.predict_proba(X), before)
    truth = np.searchsorted(model.classes_, y[300:600])
    logits = simloss.calibration.logits(before[300:600])
    assert model.temperature_ == pytest.approx(simloss.calibration.fit_temperature(logits, truth))
    some = y[300:600] != "large"  # held-out examples need not be of every class
    model.fit(X[300:600][some], y[300:600][some])
    assert model.classes_.tolist() == sorted(SIZES)
    with pytest.raises(ValueError, match="`y` must hold the classifier's classes, but 'huge'"):
        model.fit(X[:2], ["huge", "small"])


def test_thresholds_for_a_metric():
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 2))
    y = np.clip(np.round(2 + X[:, 0] + random.normal(size=1500)), 0, 4).astype(int) + 3
    plain, fitted = (
        CostAwareClassifier(LogisticRegression(), cost="squared", thresholds=metric, cv=4)
        for metric in (None, "quadratic_kappa")
    )
    kappas = [
        metrics.quadratic_kappa(model.fit(X[:900], y[:900]).predict(X[900:]) - 3, y[900:] - 3)
        for model in (plain, fitted)
    ]
    assert kappas[1] > kappas[0]
    unseen = cross_val_predict(LogisticRegression(), X[:900], y[:900], cv=4, method="predict_proba")
    assert fitted.thresholds_ == simloss.fit_thresholds(unseen, y[:900] - 3)
    assert plain.thresholds_ is None


def test_by_value_goes_by_the_numbers_of_the_labels():
    X = np.zeros((10, 1))
    y = np.array([1, 1, 1, 1, 2, 2, 100, 100, 100, 100])
    by_place, by_value = (
        CostAwareClassifier(LogisticRegression(), cost="squared", by_value=each).fit(X, y)
        for each in (False, True)
    )
    assert by_place.predict(X[:1]) == [2]
    assert by_value.predict(X[:1]) == [2]
    assert by_value.expected_cost(X[:1])[0, 0] == pytest.approx(0.2 + 0.4 * 99**2, rel=1e-3)
    assert by_place.expected_cost(X[:1])[0, 0] == pytest.approx(0.2 + 0.4 * 4, rel=1e-3)
    with pytest.raises(ValueError, match="must be numbers or dates to be compared by value"):
        CostAwareClassifier(
            LogisticRegression(), cost="squared", by_value=True, class_order=SIZES
        ).fit(*sized())


@pytest.mark.parametrize(
    ("labels", "options", "wanted"),
    [
        (["a", "b"], {}, "unsure"),
        (["a", "b"], {"unsure": "ask somebody"}, "ask somebody"),
        ([0, 1], {}, -1),
        ([False, True], {}, "unsure"),
        ([0, 1], {"unsure": "?"}, "?"),
    ],
)
def test_it_may_be_unsure(labels, options, wanted):
    X, y = make_classification(300, random_state=0, flip_y=0.4)
    y = np.array(labels)[y]
    model = CostAwareClassifier(LogisticRegression(), abstain=0.3, **options).fit(X, y)
    answers = model.predict(X)
    best = model.expected_cost(X).min(1)
    assert 0 < (best > 0.3).sum() < 300
    assert [a == wanted for a in answers.tolist()] == (best > 0.3).tolist()
    assert set(answers.tolist()) == {wanted, *labels}


def test_it_goes_into_everything_of_scikit_learn():
    X, y = sized()
    model = CostAwareClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), class_order=SIZES
    )
    grid = {"cost": ["zero-one", "absolute"], "estimator__logisticregression__C": [0.1, 1.0]}
    scorer = metrics.scorer("mae", classes=SIZES)
    search = GridSearchCV(model, grid, scoring=scorer, cv=3).fit(X, y)
    assert search.best_score_ > -0.6
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.predict(X), search.predict(X))
    assert clone(search.best_estimator_).cost == search.best_estimator_.cost
    assert make_pipeline(StandardScaler(), clone(model)).fit(X, y).score(X, y) > 0.5


def test_tables_gaps_and_weights_reach_the_classifier():
    X, y = sized()
    table = pd.DataFrame(X, columns=list("abc"))
    table.iloc[::7, 1] = np.nan
    weights = np.where(y == "large", 5.0, 1.0)
    ordered = pd.Series(pd.Categorical(y, SIZES, ordered=True))
    boosted = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    model = CostAwareClassifier(boosted, cost="absolute", calibrate=True, cv=3)
    model.fit(table, ordered, sample_weight=weights)
    assert model.class_order_.tolist() == SIZES  # the column knows it
    assert model.feature_names_in_.tolist() == list("abc")
    alone = clone(boosted).fit(table, y, sample_weight=weights)
    np.testing.assert_allclose(
        model.estimator_.predict_proba(table), alone.predict_proba(table), atol=1e-12
    )


@pytest.mark.parametrize(
    "package", ["lightgbm.LGBMClassifier", "xgboost.XGBClassifier", "catboost.CatBoostClassifier"]
)
def test_boosted_trees_of_others(package):
    module, _, name = package.partition(".")
    kind = getattr(pytest.importorskip(module), name)
    X, _ = sized()
    y = np.digitize(X[:, 0], [-0.7, 0.7])
    options = {"verbose": False} if module == "catboost" else {"verbosity": -1}
    options |= {"verbosity": 0} if module == "xgboost" else {}
    model = CostAwareClassifier(kind(n_estimators=10, **options), cost="absolute").fit(X, y)
    assert metrics.mae(model.predict(X).reshape(-1), y) < 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": "cheap"}, r"`cost` must be one of 'zero-one'"),
        ({"cost": np.zeros((2, 2))}, r"`cost` must have as many classes as `class_order`"),
        ({"cost": np.eye(3)}, r"`cost` must be a cost, lowest for the right answer"),
        ({"cost": similarity.order(3, r=0.5, names=list("abc"))}, r"must contain every class"),
        (
            {"thresholds": "mae"},
            r"`thresholds` must be used with the cost 'squared', but got 'zero-one'",
        ),
        ({"abstain": float("nan")}, r"`abstain` must be a number to compare with, but got NaN"),
        ({"abstain": 0.5, "unsure": "large"}, r"`unsure` must not be a class, but 'large' is one"),
        ({"class_order": ["small", "large"]}, r"`class_order` must name every class"),
    ],
)
def test_a_mistake_is_told_when_it_is_fitted(options, message):
    X, y = sized(60)
    with pytest.raises(ValueError, match=message):
        CostAwareClassifier(LogisticRegression(), **{"class_order": SIZES} | options).fit(X, y)


def test_a_classifier_without_probabilities_is_refused():
    with pytest.raises(TypeError, match=r"predict_proba, but RidgeClassifier does not"):
        CostAwareClassifier(RidgeClassifier()).fit(*sized(60))


def test_an_order_by_the_alphabet_is_warned_of():
    with pytest.warns(UserWarning, match="large < medium < small|`class_order` was not given"):
        CostAwareClassifier(LogisticRegression(), cost="absolute").fit(
            sized(60)[0], np.array(["oak", "elm", "ash"])[np.arange(60) % 3]
        )


def test_calibration_helpers():
    p = np.array([[0.7, 0.2, 0.1], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(simloss.calibration.tempered(p, 1.0), p)
    wanted = p[0] ** 0.5 / (p[0] ** 0.5).sum()
    np.testing.assert_allclose(simloss.calibration.tempered(p, 2.0)[0], wanted)
    assert simloss.calibration.tempered(p, 2.0)[1, 1] > 0
    with pytest.raises(ValueError, match="`temperature` must be a finite number above 0"):
        simloss.calibration.tempered(p, 0)
