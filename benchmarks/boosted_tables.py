"""The data of `benchmarks.boosting` and `benchmarks.regression`, split anew for every seed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import simloss

SHARED = Path("../shared/data")

# The column to predict, how its classes are made, and the columns not used.
TABLES: dict[str, dict[str, Any]] = {
    "wine-white": {"target": "quality"},
    "wine-red": {"target": "quality"},
    "wvs": {"target": "poverty", "class_order": ["Too Little", "About Right", "Too Much"]},
    "ces11": {
        "target": "importance",
        "class_order": ["not", "notvery", "somewhat", "very"],
        "drop": ["id", "weight", "population"],
    },
    "beps": {"target": "Europe"},
    "science": {"target": "like"},
    "scotssec": {"target": "attain"},
    "computers": {"target": "price", "bins": 20},
    "cps1988": {"target": "wage", "bins": 20},
}


@dataclass(frozen=True)
class Parts:
    """Features and classes of the training, validation and test part."""

    X: tuple[Any, Any, Any]
    y: tuple[Any, Any, Any]


@dataclass(frozen=True)
class Task:
    """Classes that are alike by S(parameter), and what a wrong answer costs."""

    name: str
    num_classes: int
    cost: Any
    similarity: Callable[[float], Any]
    parts: Callable[[int], Parts]


def ordered(name: str, shared: Path) -> Task:
    """A table whose classes have an order; the cost is the distance in classes."""
    if name in ("diamonds", "diamonds-20"):
        data = simloss.data.diamonds()
        y = data.labels.numpy() // (5 if name == "diamonds-20" else 1)
    elif name == "abalone":
        data = simloss.data.abalone()
        y = data.labels.numpy()
    else:
        data = simloss.data.table(shared / "tables" / f"{name}.csv", **TABLES[name])
        y = data.labels.numpy()
    X, C = data.inputs.double().numpy(), int(y.max()) + 1

    def parts(seed: int) -> Parts:
        drawn = np.random.default_rng(seed).permutation(len(y))
        three = np.split(drawn, [round(0.6 * len(y)), round(0.8 * len(y))])
        return Parts(tuple(X[some] for some in three), tuple(y[some] for some in three))

    return Task(name, C, "absolute", lambda r: simloss.similarity.order(C, r=r), parts)


def clinc(domains: int, shared: Path) -> Task:
    """Intents of the first domains of CLINC150, 20 training, 10 validation, 20 test texts each.

    Features are the first 64 components of TF-IDF, fitted on the training part.
    """
    import pandas as pd

    texts = pd.read_csv(shared / "text" / "clinc150.csv").dropna()
    texts = texts[texts.domain.isin(sorted(texts.domain.unique())[:domains])]
    names = sorted(texts.intent.unique())
    domain_of = dict(zip(texts.intent, texts.domain, strict=True))
    tree = simloss.Tree.from_superclasses(names, [domain_of[name] for name in names])
    texts = texts.assign(y=texts.intent.map(names.index))

    def parts(seed: int) -> Parts:
        mixed = texts.sample(frac=1, random_state=seed)
        place = mixed.groupby("y").cumcount()
        three = [mixed[place.between(a, b)] for a, b in ((0, 19), (20, 29), (30, 49))]
        words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
        counts = words.fit_transform(three[0].text)
        components = TruncatedSVD(64, random_state=seed).fit(counts)
        X = tuple(components.transform(words.transform(some.text)) for some in three)
        return Parts(X, tuple(some.y.to_numpy() for some in three))

    def similarity(temperature: float) -> Any:
        return simloss.similarity.tree(tree, temperature)

    return Task(f"clinc-{len(names)}", len(names), tree, similarity, parts)
