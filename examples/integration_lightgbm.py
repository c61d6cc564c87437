"""LightGBM with ordered classes: soft targets, stopped early by the error that matters.

4,000 diamonds; the class is the price in 20 steps. Beside the classifier, what people try first for
ordered classes: regression, here with probabilities from its validation errors.
"""

import lightgbm as lgb
import numpy as np
from scipy.special import softmax

import simloss
from simloss.calibration import residual_probabilities
from simloss.integrations.boosting import CostMetric, SimilarityObjective
from simloss.similarity import order

table = simloss.data.diamonds()
X, y = table.inputs.numpy(), table.labels.numpy() // 5
train, held, test = np.split(np.random.default_rng(0).permutation(len(y)), [2400, 3200])

COMMON = {"num_leaves": 15, "lambda_l2": 1, "verbose": -1, "num_threads": 1}


def trained(settings, metric=None):
    data = lgb.Dataset(X[train], y[train])
    return lgb.train(
        {**COMMON, **settings},
        data,
        400,
        valid_sets=[data.create_valid(X[held], y[held])],
        feval=metric,
        callbacks=[lgb.early_stopping(30, verbose=False)],
    )


print("mean error in steps on test data, one run, by argmax and by median")
classes = {"num_class": 20, "metric": "None"}
for name, objective in (
    ("its own objective", "multiclass"),
    ("soft targets", SimilarityObjective(order(20, r=0.5))),
    ("proper loss", SimilarityObjective(order(20, r=0.8), loss="proper")),
):
    model = trained({**classes, "objective": objective}, CostMetric("absolute"))
    p = softmax(model.predict(X[test], raw_score=True), axis=1)  # LightGBM leaves that to you
    errors = [np.abs(simloss.decide(p, by) - y[test]).mean() for by in ("argmax", "median")]
    print(f"{name:18} {errors[0]:.2f}  {errors[1]:.2f}")

model = trained({"objective": "l1", "metric": "l1"})
p = residual_probabilities(model.predict(X[test]), model.predict(X[held]), y[held], num_classes=20)
answers = simloss.decide(p, "median")
print(f"{'L1 regression':18}       {np.abs(answers - y[test]).mean():.2f}")
is_sure = simloss.decide(p, "median", abstain=0.6) >= 0
error = np.abs(answers - y[test])[is_sure].mean()
print(f"the same, on the {100 * is_sure.mean():.0f} % it is sure of: {error:.2f}")
