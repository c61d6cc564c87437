"""Boosted trees: the derivatives against autograd, and each library's own calls of both objects."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import simloss
from simloss.integrations.boosting import CostMetric, SimilarityObjective
from simloss.integrations.score_gradients import ScoreGradients
from simloss.similarity import identity, order, tree

LOSSES = {
    "soft-target": simloss.soft_target_loss,
    "simloss": simloss.sim_loss,
    "proper": simloss.proper_sim_loss,
}
TREE = simloss.Tree.from_paths(["a/b/0", "a/b/1", "a/c/2", "a/c/3", "d/4"])
C = 5


def uneven():
    """Not symmetric, with a zero, and no proper loss."""
    S = np.random.default_rng(3).uniform(0.1, 0.9, (C, C))
    np.fill_diagonal(S, 1)
    S[0, 3] = 0
    return S


SIMILARITIES = {
    "order": order(C, r=0.7),
    "normalized": order(C, r=0.7).normalized(),
    "tree": tree(TREE, temperature=1.0),
    "identity": identity(C),
    "uneven": uneven(),
}


@pytest.fixture(scope="module")
def examples():
    """Five ordered classes, weights of 1 and 2."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((500, 3))
    y = np.clip(2.5 + 1.3 * X[:, 0] + 0.5 * generator.standard_normal(500), 0, 4.9).astype(int)
    return X, y, generator.integers(1, 3, 500).astype(float)


def scores(size):
    generator = np.random.default_rng(1)
    return size * generator.standard_normal((40, C)), generator.integers(C, size=40)


def hessians(loss, z, y, S):
    """By autograd, of each example, (N, C, C)."""
    found = [
        torch.func.hessian(lambda one, t=t: loss(one, t, S))(one)
        for one, t in zip(torch.tensor(z), torch.tensor(y), strict=True)
    ]
    return torch.stack(found).numpy()


def expected_hessian(loss, z, S):
    """Where the scores are right: each class is true as often as they say, (N, C, C)."""
    p = torch.tensor(z).softmax(1).numpy()
    return sum(
        p[:, y, None, None] * hessians(loss, z, np.full(len(z), y), S) for y in range(z.shape[1])
    )


class TestDerivatives:
    @pytest.mark.parametrize("size", [1, 30, 100])
    @pytest.mark.parametrize("share", [0.0, 0.3])
    @pytest.mark.parametrize("similarity", SIMILARITIES)
    @pytest.mark.parametrize("loss", LOSSES)
    def test_the_gradient_is_that_of_the_loss(self, loss, similarity, share, size):
        S, (z, y) = SIMILARITIES[similarity], scores(size)
        class_weight = np.linspace(0.3, 2, C)
        sample_weight = np.random.default_rng(2).random(len(y))
        objective = SimilarityObjective(
            S, loss=loss, weight=class_weight, cross_entropy_share=share
        )
        found, _ = objective(y, z, sample_weight=sample_weight)

        input = torch.tensor(z, requires_grad=True)
        losses = LOSSES[loss](
            input,
            torch.tensor(y),
            S,
            weight=torch.tensor(class_weight),
            reduction="none",
            cross_entropy_share=share,
        )
        (losses * torch.tensor(sample_weight)).sum().backward()
        size_of_loss = objective._gradients.size
        np.testing.assert_allclose(found, size_of_loss * input.grad.numpy(), atol=1e-12)
        if loss != "proper":
            assert size_of_loss == 1

    def test_the_curvature_of_soft_targets_is_exact(self):
        z, y = scores(2)
        own = hessians(simloss.soft_target_loss, z, y, order(C, r=0.7))
        curvature = ScoreGradients.of("soft-target", order(C, r=0.7).to_dense().numpy(), 0.0)
        diagonal = own.diagonal(axis1=1, axis2=2)
        np.testing.assert_allclose(curvature.curvature(z), diagonal, atol=1e-12)

    @pytest.mark.parametrize("similarity", SIMILARITIES)
    def test_the_curvature_of_simloss_is_a_bound(self, similarity):
        z, y = scores(3)
        S = SIMILARITIES[similarity]
        p = torch.tensor(z).softmax(1).numpy()
        bound = np.stack([np.diag(row) - np.outer(row, row) for row in p])
        above = np.linalg.eigvalsh(bound - hessians(simloss.sim_loss, z, y, S))
        assert above.min() > -1e-12
        _, curvature = SimilarityObjective(S, loss="simloss")(y, z)
        np.testing.assert_allclose(curvature, 2 * bound.diagonal(axis1=1, axis2=2), atol=1e-12)

    @pytest.mark.parametrize("share", [0.0, 0.3])
    @pytest.mark.parametrize("similarity", ["order", "normalized", "tree", "identity"])
    def test_the_curvature_of_the_proper_loss_is_the_expected_one(self, similarity, share):
        z, _ = scores(1)
        S = SIMILARITIES[similarity]

        def blended(input, target, similarity):
            return simloss.proper_sim_loss(input, target, similarity, cross_entropy_share=share)

        wanted = expected_hessian(blended, z, S).diagonal(axis1=1, axis2=2)
        dense = simloss.similarity.as_similarity(S).to_dense(torch.float64).numpy()
        gradients = ScoreGradients.of("proper", dense, share)
        np.testing.assert_allclose(gradients.curvature(z), gradients.bend * wanted, rtol=1e-9)

    @pytest.mark.parametrize("similarity", ["order", "tree", "uneven"])
    def test_at_equal_probabilities_it_curves_like_cross_entropy(self, similarity):
        S = simloss.similarity.as_similarity(SIMILARITIES[similarity]).to_dense(torch.float64)
        gradients = ScoreGradients.of("proper", S.numpy(), 0.0)
        flat = np.zeros((1, C))
        usual = (C - 1) / C**2
        assert gradients.curvature(flat).mean() == pytest.approx(usual)
        hessian = gradients.size * expected_hessian(simloss.proper_sim_loss, flat, S)[0]
        assert np.abs(hessian).sum(1).mean() / 2 == pytest.approx(usual)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_the_identity_is_cross_entropy(self, loss):
        z, y = scores(2)
        p = torch.tensor(z).softmax(1).numpy()
        gradient, curvature = SimilarityObjective(identity(C), loss=loss)(y, z)
        np.testing.assert_allclose(gradient, p - np.eye(C)[y], atol=1e-12)
        np.testing.assert_allclose(curvature, 2 * p * (1 - p), atol=1e-12)

    def test_the_curvature_is_positive_where_the_loss_is_not_proper(self):
        close = np.eye(C)
        close[0] = close[:, 0] = 0.9  # like all others, which are not alike
        close[0, 0] = 1
        z = scores(1)[0]
        S = torch.tensor(close)
        own = expected_hessian(simloss.proper_sim_loss, z, S).diagonal(axis1=1, axis2=2)
        assert own.min() < 0
        p = torch.tensor(z).softmax(1).numpy()
        curvature = ScoreGradients.of("proper", close, 0.0).curvature(z)
        assert (curvature >= 1e-3 * p * (1 - p) * (1 - 1e-12)).all()

    @pytest.mark.parametrize("loss", LOSSES)
    def test_for_catboost_one_example_at_a_time(self, loss):
        z, y = scores(2)
        weight = np.linspace(1, 2, C)
        objective = SimilarityObjective(order(C, r=0.7), loss=loss, weight=weight)
        gradient, curvature = objective(y, z, sample_weight=np.full(len(y), 3.0))
        for n in range(len(y)):
            first, second = objective.calc_ders_multi(z[n], float(y[n]), 3.0)
            np.testing.assert_allclose(first, -gradient[n], atol=1e-12)
            second = np.array(list(second))
            np.testing.assert_allclose(second, second.T)
            np.testing.assert_allclose(second.diagonal(), -curvature[n] / 2, atol=1e-12)
            assert np.linalg.eigvalsh(second).max() < 1e-12
            if loss != "proper":
                own = hessians(simloss.soft_target_loss, z[n : n + 1], y[n : n + 1], identity(C))
                np.testing.assert_allclose(second, -3 * weight[y[n]] * own[0], atol=1e-12)


class TestMetric:
    COST = np.array([[0, 1, 5], [2, 0, 1], [9, 3, 0]], dtype=float)

    @pytest.mark.parametrize("decision", [None, "argmax"])
    def test_it_is_the_mean_cost(self, decision):
        generator = np.random.default_rng(0)
        z, y, weight = generator.normal(size=(20, 3)), generator.integers(3, size=20), np.arange(20)
        p = torch.tensor(z).softmax(1).numpy()
        total = 0.0
        for n in range(20):
            expected = [sum(p[n, k] * self.COST[k, c] for k in range(3)) for c in range(3)]
            answer = int(p[n].argmax()) if decision else int(np.argmin(expected))
            total += weight[n] * self.COST[y[n], answer]
        metric = CostMetric(self.COST, decision=decision)
        for scores in (z, p):
            assert metric(y, scores, sample_weight=weight) == pytest.approx(total / weight.sum())
        assert metric.evaluate(list(z.T), y, weight) == pytest.approx((total, weight.sum()))
        assert metric.get_final_error(6.0, 4.0) == 1.5
        assert metric.is_max_optimal() is False

    def test_positions(self):
        p, y = np.array([[0.4, 0.0, 0.6]]), np.array([0])
        metric = CostMetric("absolute", positions=[1, 2, 10])
        assert metric(y, p) == 9
        argmax = CostMetric("squared", positions=[1, 2, 10], decision="argmax", name="mse")
        assert argmax(y, p) == 81
        assert CostMetric("absolute", positions=[1, 2, 10], decision="mean")(y, p) == 9

    def test_bad_input(self):
        with pytest.raises(ValueError, match=r"needs one score per class, .* shape \(4,\)\.$"):
            CostMetric()(np.zeros(4), np.zeros(4))
        with pytest.raises(ValueError, match=r"whole numbers from 0 to 2, .* but got 3\.$"):
            CostMetric()(np.array([3]), np.zeros((1, 3)))


class TestObjective:
    def test_bad_input(self):
        objective = SimilarityObjective(order(C, r=0.5))
        for label, came in ((5, "5"), (-1, "-1"), (0.5, "0.5"), (np.nan, "nan")):
            with pytest.raises(ValueError, match=rf"whole numbers from 0 to 4, .* got {came}\.$"):
                objective(np.array([label]), np.zeros((1, C)))
            with pytest.raises(ValueError, match=rf"whole numbers from 0 to 4, .* got {came}\.$"):
                objective.calc_ders_multi(np.zeros(C), label, 1.0)
        with pytest.raises(ValueError, match=r"as many classes .* it has 5 and the model 4; "):
            objective(np.array([0]), np.zeros((1, 4)))
        with pytest.raises(ValueError, match=r"as many classes .* it has 5 and the model 1; "):
            objective(np.array([0]), np.zeros(1))
        for few in (1, 2):
            with pytest.raises(ValueError, match=rf"at least 3 classes .* has {few}; for two, "):
                SimilarityObjective(identity(few))
        with pytest.raises(ValueError, match="`loss` must be one of 'soft-target', .* 'sord'"):
            SimilarityObjective(identity(3), loss="sord")
        with pytest.raises(ValueError, match="`weight` must have one number for each of the 3"):
            SimilarityObjective(identity(3), weight=[1, 2])
        with pytest.raises(ValueError, match="`weight` must be at least 0, but got -1 in"):
            SimilarityObjective(identity(3), weight=[1.0, 2.0, -1.0])
        with pytest.raises(ValueError, match="CatBoost must be told .* pass classes_count=5"):
            objective.calc_ders_range(None, None, None)

    def test_it_says_what_it_is(self):
        objective = SimilarityObjective(order(4, r=0.5), loss="proper", cross_entropy_share=0.1)
        shown = "SimilarityObjective(order(4 classes, r=0.5), loss='proper', "
        assert repr(objective) == shown + "cross_entropy_share=0.1)"
        same = pickle.loads(pickle.dumps(objective))
        z, y = scores(1)
        z, y = z[:, :4], y % 4
        for one, other in zip(objective(y, z), same(y, z), strict=True):
            assert (one == other).all()


def doubled(X, y, weight):
    """Each example as often as its weight says."""
    times = weight.astype(int)
    return np.repeat(X, times, axis=0), np.repeat(y, times)


def mean_error(p, y, decision="median"):
    return np.abs(simloss.decide(p, decision) - y).mean()


def constant_error(y):
    """Of the best answer that is always the same."""
    return np.abs(y - np.median(y)).mean()


LIGHTGBM = {"num_class": C, "num_leaves": 7, "verbose": -1, "num_threads": 1, "metric": "None"}


class TestLightGBM:
    lgb = property(lambda self: pytest.importorskip("lightgbm", reason="[cli] brings it"))

    def trained(self, objective, X, y, weight=None, rounds=15, **settings):
        data = self.lgb.Dataset(X, y, weight=weight)
        settings = {**LIGHTGBM, "objective": objective, **settings}
        return self.lgb.train(settings, data, rounds).predict(X, raw_score=True)

    @pytest.mark.parametrize("is_weighted", [False, True])
    def test_the_identity_grows_its_own_trees(self, examples, is_weighted):
        X, y, weight = examples
        weight = weight if is_weighted else None
        own = self.trained("multiclass", X, y, weight, boost_from_average=False)
        np.testing.assert_array_equal(
            self.trained(SimilarityObjective(identity(C)), X, y, weight), own
        )

    @pytest.mark.parametrize("loss", LOSSES)
    def test_it_learns(self, examples, loss):
        from scipy.special import softmax

        X, y, _ = examples
        z = self.trained(SimilarityObjective(order(C, r=0.4), loss=loss), X, y, rounds=30)
        assert mean_error(softmax(z, 1), y) < 0.4 * constant_error(y)

    def test_class_weights_are_sample_weights(self, examples):
        X, y, _ = examples
        by_class = np.array([1.0, 2, 3, 1, 5])
        objective = SimilarityObjective(order(C, r=0.4), weight=by_class)
        plain = SimilarityObjective(order(C, r=0.4))
        np.testing.assert_allclose(
            self.trained(objective, X, y), self.trained(plain, X, y, by_class[y]), rtol=1e-6
        )

    def test_it_stops_by_the_cost(self, examples):
        from scipy.special import softmax

        X, y, weight = examples
        seen = {}
        data, held = self.lgb.Dataset(X[:300], y[:300]), (X[300:], y[300:], weight[300:])
        model = self.lgb.train(
            {**LIGHTGBM, "objective": SimilarityObjective(order(C, r=0.4))},
            data,
            300,
            valid_sets=[data.create_valid(held[0], held[1], weight=held[2])],
            feval=CostMetric("absolute"),
            callbacks=[self.lgb.early_stopping(5, verbose=False), self.lgb.record_evaluation(seen)],
        )
        costs = seen["valid_0"]["mean_cost"]
        assert model.best_iteration == int(np.argmin(costs)) + 1 < 290
        answers = simloss.decide(softmax(model.predict(held[0], raw_score=True), 1), "median")
        assert np.average(np.abs(answers - held[1]), weights=held[2]) == pytest.approx(min(costs))

    @pytest.mark.filterwarnings("ignore:.*eval_set", "ignore:X does not have valid feature names")
    def test_in_scikit_learn(self, examples):
        from sklearn.base import clone

        X, y, weight = examples
        settings = {k: v for k, v in LIGHTGBM.items() if k != "num_class"}
        model = self.lgb.LGBMClassifier(
            objective=SimilarityObjective(order(C, r=0.4)), n_estimators=15, **settings
        )
        fitted = clone(model).fit(
            X, y, sample_weight=weight, eval_set=[(X[:9], y[:9])], eval_metric=CostMetric()
        )
        native = self.trained(SimilarityObjective(order(C, r=0.4)), X, y, weight)
        np.testing.assert_array_equal(fitted.predict(X, raw_score=True), native)
        assert list(fitted.evals_result_["valid_0"]) == ["mean_cost"]
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X, raw_score=True), native)

    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    def test_its_own_class_weights_count(self, examples):
        X, y, _ = examples
        settings = {k: v for k, v in LIGHTGBM.items() if k != "num_class"}
        objective = SimilarityObjective(order(C, r=0.4))
        by_class = {0: 1.0, 1: 2.0, 2: 3.0, 3: 1.0, 4: 5.0}
        model = self.lgb.LGBMClassifier(
            objective=objective, n_estimators=15, class_weight=by_class, **settings
        )
        weight = np.array([by_class[label] for label in y])
        found = model.fit(X, y).predict(X, raw_score=True)
        np.testing.assert_array_equal(found, self.trained(objective, X, y, weight))

    def test_bad_input(self, examples):
        X, y, _ = examples
        objective = SimilarityObjective(order(C, r=0.4))
        with pytest.raises(ValueError, match=r"^Labels must be whole numbers .* but got 5\.$"):
            self.trained(objective, X, y + 1)
        with pytest.raises(ValueError, match=r"^`similarity` must have .* 4 and the model 5; if"):
            self.trained(SimilarityObjective(identity(4)), X, y)
        with pytest.raises(ValueError, match=r"^`similarity` must have .* 5 and the model 1; if"):
            self.lgb.LGBMClassifier(objective=objective, verbose=-1).fit(X, y > 2)


XGBOOST = {
    "objective": "multi:softprob",
    "num_class": C,
    "max_depth": 3,
    "nthread": 1,
    "base_score": 0.5,
    "disable_default_eval_metric": True,
}


class TestXGBoost:
    xgb = property(
        lambda self: pytest.importorskip("xgboost", reason="make test-integrations brings it")
    )

    def trained(self, objective, X, y, weight=None, rounds=15):
        data = self.xgb.DMatrix(X, y, weight=weight)
        return self.xgb.train(XGBOOST, data, rounds, obj=objective).predict(data)

    @pytest.mark.parametrize("is_weighted", [False, True])
    def test_the_identity_grows_its_own_trees(self, examples, is_weighted):
        X, y, weight = examples
        weight = weight if is_weighted else None
        own = self.trained(None, X, y, weight)
        ours = self.trained(SimilarityObjective(identity(C)), X, y, weight)
        np.testing.assert_allclose(ours, own, atol=1e-6)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_it_learns(self, examples, loss):
        X, y, _ = examples
        p = self.trained(SimilarityObjective(order(C, r=0.4), loss=loss), X, y, rounds=30)
        assert mean_error(p, y) < 0.4 * constant_error(y)

    def test_a_weight_of_two_is_an_example_twice(self, examples):
        X, y, weight = examples
        objective = SimilarityObjective(order(C, r=0.4))
        often_X, often_y = doubled(X, y, weight)
        weighted = np.repeat(self.trained(objective, X, y, weight), weight.astype(int), axis=0)
        np.testing.assert_allclose(weighted, self.trained(objective, often_X, often_y), atol=1e-4)

    def test_it_stops_by_the_cost(self, examples):
        X, y, weight = examples
        seen = {}
        held = self.xgb.DMatrix(X[300:], y[300:], weight=weight[300:])
        model = self.xgb.train(
            XGBOOST,
            self.xgb.DMatrix(X[:300], y[:300]),
            300,
            obj=SimilarityObjective(order(C, r=0.4)),
            custom_metric=CostMetric("absolute"),
            evals=[(held, "held")],
            early_stopping_rounds=5,
            evals_result=seen,
            verbose_eval=False,
        )
        costs = seen["held"]["mean_cost"]
        assert model.best_iteration == int(np.argmin(costs)) < 290
        p = model.predict(held, iteration_range=(0, model.best_iteration + 1))
        answers = simloss.decide(p, "median")
        error = np.average(np.abs(answers - y[300:]), weights=weight[300:])
        assert error == pytest.approx(min(costs))

    def test_in_scikit_learn(self, examples):
        from sklearn.base import clone

        X, y, weight = examples
        model = self.xgb.XGBClassifier(
            objective=SimilarityObjective(order(C, r=0.4)),
            eval_metric=CostMetric("absolute"),
            max_depth=3,
            n_estimators=15,
            n_jobs=1,
            base_score=0.5,
        )
        model = clone(model).fit(X, y, sample_weight=weight, eval_set=[(X, y)], verbose=False)
        native = self.trained(SimilarityObjective(order(C, r=0.4)), X, y, weight)
        np.testing.assert_allclose(model.predict_proba(X), native, atol=1e-6)
        seen = model.evals_result()["validation_0"]["mean_cost"]
        assert seen[-1] == pytest.approx(mean_error(native, y))
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))

    def test_bad_input(self, examples):
        X, y, _ = examples
        objective = SimilarityObjective(order(C, r=0.4))
        with pytest.raises(ValueError, match=r"^Labels must be whole numbers .* but got 5\.$"):
            self.trained(objective, X, y + 1)
        with pytest.raises(ValueError, match=r"^`similarity` must have .* 4 and the model 5; if"):
            self.trained(SimilarityObjective(identity(4)), X, y)


CATBOOST = {
    "iterations": 15,
    "depth": 3,
    "learning_rate": 0.3,
    "thread_count": 1,
    "verbose": 0,
    "random_seed": 0,
    "allow_writing_files": False,
    "bootstrap_type": "No",
    "boost_from_average": False,
}


@pytest.mark.filterwarnings("ignore:Failed to import numba", "ignore:Can't optimze")
class TestCatBoost:
    cb = property(
        lambda self: pytest.importorskip("catboost", reason="make test-integrations brings it")
    )

    def model(self, objective, **settings):
        if objective != "MultiClass":
            settings = {"classes_count": C, "eval_metric": CostMetric("absolute"), **settings}
        return self.cb.CatBoostClassifier(loss_function=objective, **{**CATBOOST, **settings})

    @pytest.mark.parametrize("is_weighted", [False, True])
    def test_the_identity_grows_its_own_trees(self, examples, is_weighted):
        X, y, weight = examples
        weight = weight if is_weighted else None
        own = self.model("MultiClass").fit(X, y, sample_weight=weight)
        ours = self.model(SimilarityObjective(identity(C))).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(ours.predict_proba(X), own.predict_proba(X), atol=1e-9)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_it_learns(self, examples, loss):
        X, y, _ = examples
        model = self.model(SimilarityObjective(order(C, r=0.4), loss=loss), iterations=30)
        assert mean_error(model.fit(X, y).predict_proba(X), y) < 0.4 * constant_error(y)

    def test_it_stops_by_the_cost(self, examples):
        from sklearn.base import clone

        X, y, weight = examples
        model = self.model(
            SimilarityObjective(order(C, r=0.4)), iterations=200, early_stopping_rounds=5
        )
        held = self.cb.Pool(X[300:], y[300:], weight=weight[300:])
        model = clone(model).fit(X[:300], y[:300], eval_set=held)
        costs = model.get_evals_result()["validation"]["CostMetric"]
        assert model.get_best_iteration() == int(np.argmin(costs)) < 190
        answers = simloss.decide(model.predict_proba(X[300:]), "median")
        error = np.average(np.abs(answers - y[300:]), weights=weight[300:])
        assert error == pytest.approx(min(costs))

    def test_its_own_class_weights_count(self, examples):
        X, y, _ = examples
        by_class = [1.0, 2.0, 3.0, 1.0, 5.0]
        objective = SimilarityObjective(order(C, r=0.4))
        own = self.model(objective, class_weights=by_class).fit(X, y)
        same = self.model(objective).fit(X, y, sample_weight=np.array(by_class)[y])
        np.testing.assert_allclose(own.predict_proba(X), same.predict_proba(X), atol=1e-9)

    def test_native(self, examples):
        X, y, weight = examples
        settings = {**CATBOOST, "classes_count": C, "eval_metric": CostMetric("absolute")}
        settings["loss_function"] = SimilarityObjective(order(C, r=0.4))
        trained = self.cb.train(pool=self.cb.Pool(X, y, weight=weight), params=settings)
        model = self.model(SimilarityObjective(order(C, r=0.4))).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(
            trained.predict(X, prediction_type="Probability"), model.predict_proba(X)
        )

    def test_bad_input(self, examples):
        X, y, _ = examples
        objective = SimilarityObjective(order(C, r=0.4))
        with pytest.raises(self.cb.CatBoostError, match="greater than specified class count"):
            self.model(objective).fit(X, y + 1)
        with pytest.raises(self.cb.CatBoostError, match="must have .* it has 4 and the model 5;"):
            self.model(SimilarityObjective(identity(4))).fit(X, y)
        with pytest.raises(self.cb.CatBoostError, match="told .* 5 classes: pass classes_count=5"):
            self.model(objective, classes_count=None).fit(X, y)


ROOT = Path(__file__).parents[2]
IN_A_CLONE = pytest.mark.skipif(not (ROOT / "examples").exists(), reason="not in a clone")


def run_as_pasted(code, folder):
    (folder / "pasted.py").write_text(code)
    return subprocess.run(
        [sys.executable, "pasted.py"],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )


def needed(code):
    """Skips where a library the code imports is missing."""
    for library in ("lightgbm", "xgboost", "catboost"):
        if f"import {library}" in code or f"from {library}" in code:
            pytest.importorskip(library, reason="make test-integrations brings it")


@IN_A_CLONE
class TestExamples:
    def numbers(self, library, folder):
        """Line -> the numbers at its end, of an example that is short and prints what it says."""
        path = ROOT / "examples" / f"integration_{library}.py"
        code, readme = path.read_text(), (ROOT / "examples" / "README.md").read_text()
        assert len(code.splitlines()) < 60
        needed(code)
        run = run_as_pasted(code, folder)
        assert run.returncode == 0, run.stderr
        shown = re.search(r"```\n(.*?)```", readme.split(f"`{path.name}`")[-1], re.DOTALL)[1]
        figures = r"[\d.]+"
        assert re.sub(figures, "", run.stdout).split() == re.sub(figures, "", shown).split()
        lines = [re.split(r"\s{2,}|: ", line) for line in run.stdout.splitlines()[1:]]
        return {name: [float(each.rstrip(" %")) for each in rest] for name, *rest in lines}

    def test_lightgbm(self, tmp_path):
        found = self.numbers("lightgbm", tmp_path)
        for loss in ("soft targets", "proper loss"):
            assert found[loss][0] < found["its own objective"][0]
            assert found[loss][1] < found["its own objective"][1]
        assert found["L1 regression"][0] < found["soft targets"][1]

    def test_xgboost(self, tmp_path):
        found = self.numbers("xgboost", tmp_path)
        for by in (1, 2):
            assert found["proper loss"][by] < found["its own objective"][by]

    def test_catboost(self, tmp_path):
        found = self.numbers("catboost", tmp_path)
        for argmax, decided in (found["its own objective"], found["proper loss"]):
            assert decided < argmax
        assert found["soft targets"][0] < found["its own objective"][0]


def sections():
    page = ROOT / "docs" / "howto" / "boosting.md"
    text = page.read_text() if page.exists() else ""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```python integration\n(.*?)^```", part, re.MULTILINE | re.DOTALL)
        if blocks:
            yield pytest.param("\n".join(blocks), id=part.splitlines()[0])


@IN_A_CLONE
@pytest.mark.parametrize("code", list(sections()))
def test_the_blocks_of_the_page_run(code, tmp_path):
    needed(code)
    run = run_as_pasted(code, tmp_path)
    assert run.returncode == 0, run.stderr
