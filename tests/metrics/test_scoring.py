"""Scorers in scikit-learn's own searches."""

import pickle

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import simloss
from simloss import metrics

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
Y = np.clip(np.round(X[:, 0] + 0.5 * RANDOM.normal(size=120)) + 2, 0, 4).astype(int)
MODEL = LogisticRegression()
ORDER = ("low", "mid", "top")


def test_errors_are_negative_and_the_rest_is_not():
    fitted = MODEL.fit(X, Y)
    assert metrics.scorer("mae")(fitted, X, Y) == -mean_absolute_error(Y, fitted.predict(X))
    assert metrics.scorer("accuracy")(fitted, X, Y) == fitted.score(X, Y)
    p = fitted.predict_proba(X)
    assert metrics.scorer("nll")(fitted, X, Y) == pytest.approx(-metrics.nll(p, Y))


def test_a_decision_answers_from_the_probabilities():
    fitted = MODEL.fit(X, Y)
    answers = simloss.decide(fitted.predict_proba(X), "median")
    by_median = metrics.scorer("mae", decision="median")(fitted, X, Y)
    assert by_median == -metrics.mae(answers, Y)
    assert by_median != metrics.scorer("mae")(fitted, X, Y)


def test_class_order_is_the_one_given():
    y = np.array(["top", "low", "low", "mid", "mid"])
    fitted = DummyClassifier(strategy="constant", constant="low").fit(X[:5], y)
    order = ("mid", "low", "top")
    assert metrics.scorer("mae", classes=ORDER)(fitted, X[:5], y) == -4 / 5
    assert metrics.scorer("mae", classes=order)(fitted, X[:5], y) == -3 / 5


def test_a_class_the_estimator_has_not_seen_keeps_its_place():
    fitted = MODEL.fit(X[Y != 1], Y[Y != 1])
    score = metrics.scorer("rps", classes=range(5))(fitted, X, Y)
    p = np.zeros((len(Y), 5))
    p[:, [0, 2, 3, 4]] = fitted.predict_proba(X)
    assert score == pytest.approx(-metrics.ranked_probability_score(p, Y))


def test_in_scikit_learns_own_searches():
    by_median = metrics.scorer("mae", decision="median", classes=range(5))
    pipeline = make_pipeline(StandardScaler(), MODEL)
    assert cross_val_score(pipeline, X, Y, scoring=by_median, cv=3).shape == (3,)
    several = {"mae": by_median, "accuracy": metrics.scorer("accuracy", classes=range(5))}
    found = cross_validate(pipeline, X, Y, scoring=several, cv=3)
    assert (found["test_mae"] < 0).all()
    assert (found["test_accuracy"] > 0).all()
    search = GridSearchCV(MODEL, {"C": [1e-4, 1.0]}, scoring=by_median, cv=3).fit(X, Y)
    assert search.best_params_ == {"C": 1.0}


def test_context_reaches_the_metric():
    fitted = MODEL.fit(X, Y)
    superclasses = ["a", "a", "b", "b", "b"]
    score = metrics.scorer("sa", tree=superclasses)(fitted, X, Y)
    assert score == metrics.superclass_accuracy(fitted.predict(X), Y, superclasses)


class Certain:
    """An estimator of three classes that always says the same."""

    classes_ = np.arange(3)

    def predict_proba(self, X):
        return np.array([[0.6, 0.0, 0.4]] * len(X))


@pytest.mark.parametrize("decision", ["mean", "squared", "median", "absolute"])
def test_answers_and_metric_go_by_the_same_positions(decision):
    at = [0, 90, 100]
    X, y = [[0]] * 5, np.array([0, 0, 0, 2, 2])
    answers = simloss.decide(Certain().predict_proba(X), decision, positions=at)
    score = metrics.scorer("mse", decision=decision, positions=at)(Certain(), X, y)
    assert score == -metrics.mse(answers, y, positions=at)
    by_place = metrics.scorer("accuracy", decision=decision, positions=[100, 90, 0])
    answers = simloss.decide(Certain().predict_proba(X), decision, positions=[100, 90, 0])
    assert by_place(Certain(), X, y) == metrics.accuracy(answers, y)


def test_it_can_be_pickled():
    made = metrics.scorer("within_2_accuracy", classes=ORDER)
    assert pickle.loads(pickle.dumps(made)) == made


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="`tree` must be given for the metric 'severity'"):
        metrics.scorer("severity")
    with pytest.raises(TypeError, match="`tree` must be an option of 'mae'"):
        metrics.scorer("mae", tree=["a"])
    with pytest.raises(TypeError, match="`truth` must be an option of 'accuracy'"):
        metrics.scorer("accuracy", truth=[1])
    with pytest.raises(TypeError, match="`positions` must be an option of 'accuracy'"):
        metrics.scorer("accuracy", positions=[1, 2])
    with pytest.raises(ValueError, match="`k` must be part of the metric's name, 'top_5_acc"):
        metrics.scorer("top_5_accuracy", k=2)
    with pytest.raises(ValueError, match="`classes` must be distinct"):
        metrics.scorer("mae", classes=["a", "a"])
    fitted = MODEL.fit(X, Y)
    with pytest.raises(ValueError, match=r"`classes` must hold every label, but .* holds 2"):
        metrics.scorer("mae", classes=[0, 1])(fitted, X, Y)
