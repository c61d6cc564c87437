"""XGBoost with classes in a tree, by its scikit-learn class: mistakes that stay in the branch.

400 of scikit-learn's handwritten digits, in a tree of shapes.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

import simloss
from simloss.integrations.boosting import CostMetric, SimilarityObjective

SHAPES = {"loops": ["0", "6", "8", "9"], "strokes": ["1", "4", "7"], "curves": ["2", "3", "5"]}
TREE = simloss.Tree.from_dict(SHAPES, classes=list("0123456789"))
S = simloss.similarity.tree(TREE, temperature=0.5)

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, train_size=400, stratify=y, random_state=0
)
X_train, X_held, y_train, y_held = train_test_split(
    X_train, y_train, test_size=0.3, stratify=y_train, random_state=0
)


def fitted(objective):
    model = XGBClassifier(
        objective=objective,
        eval_metric=CostMetric(TREE),  # stops by the mean height of the answers
        early_stopping_rounds=20,
        disable_default_eval_metric=True,
        n_estimators=300,
        max_depth=3,
        learning_rate=0.2,
        colsample_bynode=0.3,
        n_jobs=1,
        random_state=0,
    )
    return model.fit(X_train, y_train, eval_set=[(X_held, y_held)], verbose=False)


print("accuracy and mean height on test data, one run, by argmax and by lowest expected height")
for name, objective in (
    ("its own objective", "multi:softprob"),
    ("soft targets", SimilarityObjective(S)),
    ("SimLoss", SimilarityObjective(S, loss="simloss")),
    ("proper loss", SimilarityObjective(S, loss="proper")),
):
    p = fitted(objective).predict_proba(X_test)
    argmax, decided = simloss.decide(p), simloss.decide(p, TREE)
    heights = [simloss.metrics.mean_height(answers, y_test, TREE) for answers in (argmax, decided)]
    print(f"{name:18} {100 * np.mean(argmax == y_test):.1f} %  {heights[0]:.3f}  {heights[1]:.3f}")
