"""scikit-learn on the first splits of a comparison, for the table of docs/howto/encoders.md.

    python experiments/encoders/baselines.py RUN    # the folder that `simloss compare --out` wrote

On texts without an encoder: TF-IDF with logistic regression and with an SVM. Else both models on
the features the nets had, standardised. Prints the mean error in classes and the accuracy.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from simloss.experiment.grid.setup import Setup
from simloss.experiment.plan.config import Config

SPLITS = 3


def main(folder):
    setup = Setup(Config.load(Path(folder) / "config.yaml", named_by_user=True))
    dataset, found = setup.dataset, {}
    texts = getattr(dataset, "texts", None)
    x = np.array(texts, dtype=object) if texts is not None else dataset.inputs.numpy()
    ready = TfidfVectorizer if texts is not None else StandardScaler
    regression = LogisticRegression(max_iter=500, C=1.0 if texts is not None else 0.1)
    for seed in setup.config.seeds[:SPLITS]:
        parts = {name: part.numpy() for name, part in setup.indices(seed).items()}
        truth = dataset.labels.numpy()[parts["test"]]
        for name, model in (("logistic regression", regression), ("SVM (RBF)", SVC())):
            fitted = make_pipeline(ready(), model)
            fitted.fit(x[parts["train"]], dataset.labels.numpy()[parts["train"]])
            answers = fitted.predict(x[parts["test"]])
            measured = (np.abs(answers - truth).mean(), (answers == truth).mean())
            found.setdefault(name, []).append(measured)
    for name, values in found.items():
        error, accuracy = np.mean(values, 0)
        print(f"{name}: mean error {error:.3f}, accuracy {accuracy:.1%}, {len(values)} splits")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # that the regression could be fitted longer
    main(sys.argv[1])
