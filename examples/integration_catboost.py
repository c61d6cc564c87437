"""CatBoost with your own costs, used for the similarity, early stopping and the answers.

442 diabetes patients from scikit-learn; the class is how far the disease had progressed a year
later, in six steps. Calling a case milder than it is costs three times as much.
"""

import warnings

import numpy as np
from catboost import CatBoostClassifier
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import simloss
from simloss.integrations.boosting import CostMetric, SimilarityObjective

warnings.filterwarnings("ignore", message=".*numba")  # CatBoost recommends it

X, progress = load_diabetes(return_X_y=True)
y = np.digitize(progress, np.quantile(progress, np.linspace(0, 1, 7)[1:-1]))  # 0 to 5
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
X_train, X_held, y_train, y_held = train_test_split(X_train, y_train, test_size=0.3, random_state=0)

steps = np.subtract.outer(np.arange(6), np.arange(6))  # true minus answered
COST = np.where(steps > 0, 3.0 * steps, -1.0 * steps)
S = simloss.similarity.cost(COST, temperature=2)


def fitted(objective):
    model = CatBoostClassifier(
        loss_function=objective,
        eval_metric=CostMetric(COST),
        classes_count=6,
        early_stopping_rounds=30,
        iterations=150,
        learning_rate=0.05,
        depth=3,
        thread_count=1,
        verbose=0,
        random_seed=0,
        allow_writing_files=False,
    )
    return model.fit(X_train, y_train, eval_set=(X_held, y_held))


print("mean cost on test data, one run, by argmax and by lowest expected cost")
for name, objective in (
    ("its own objective", "MultiClass"),
    ("soft targets", SimilarityObjective(S)),
    ("proper loss", SimilarityObjective(S, loss="proper")),
):
    p = fitted(objective).predict_proba(X_test)
    costs = [COST[y_test, simloss.decide(p, by)].mean() for by in ("argmax", COST)]
    print(f"{name:18} {costs[0]:.2f}  {costs[1]:.2f}")
