"""In scikit-learn: a pipeline, and a grid search that may find that similarity does not help.

442 diabetes patients from scikit-learn; the class is how far the disease had progressed a year
later, in eight steps.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import simloss

X, progress = load_diabetes(return_X_y=True)
y = np.digitize(progress, np.quantile(progress, np.linspace(0, 1, 9)[1:-1]))  # 0 to 7
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)

net = simloss.SimLossClassifier(
    similarity="order",
    hidden=(16,),
    learning_rate=0.01,
    max_iter=25,
    batch_size=64,
    weight_decay=0.1,
    random_state=0,
)
pipeline = make_pipeline(PolynomialFeatures(2, interaction_only=True, include_bias=False), net)
search = GridSearchCV(
    pipeline,
    [
        {  # the baseline belongs in the grid
            "simlossclassifier__loss": ["cross-entropy"],
            "simlossclassifier__decision": ["argmax", "median"],
        },
        {
            "simlossclassifier__loss": ["soft-target"],
            "simlossclassifier__r": [0.4, 0.7],
            "simlossclassifier__decision": ["argmax", "median"],
        },
    ],
    scoring=simloss.metrics.scorer("mae"),
    cv=3,
).fit(X_train, y_train)

print("mean error in steps, cross-validated, best first")
results = search.cv_results_
for place in np.argsort(-results["mean_test_score"]):
    options = {k.split("__")[1]: v for k, v in results["params"][place].items()}
    words = ", ".join(f"{name}={value}" for name, value in options.items())
    print(f"  {-results['mean_test_score'][place]:.2f}  {words}")
print(f"held-out patients: mean error {-search.score(X_test, y_test):.2f} steps")
