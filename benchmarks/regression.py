"""Ways to a distribution around a regression's answer: `python -m benchmarks.regression`.

LightGBM's L1 regression on the class numbers, early stopped on the validation part, whose errors
also make the probabilities; beside it boosted classifiers, calibrated by a temperature. Of each:
the mean error of the median, the ranked probability score, the log loss, the expected less the
actual error, and the mean error of the half of the test part it is surest of.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
from scipy.special import softmax
from sklearn.isotonic import IsotonicRegression

import simloss
from simloss.calibration import fit_temperature, residual_probabilities
from simloss.integrations.boosting import CostMetric, SimilarityObjective

from .boosted_tables import SHARED, TABLES, Parts, ordered

RESULTS = Path(__file__).with_name("results") / "regression.json"
ALL = ("diamonds", "diamonds-20", "abalone", *TABLES)
COMMON = {
    "num_leaves": 15,
    "min_data_in_leaf": 10,
    "lambda_l2": 1.0,
    "max_bin": 63,
    "verbose": -1,
    "num_threads": 1,
}


def boosted(parts: Parts, settings: dict[str, Any], feval: Any = None) -> lgb.Booster:
    data = lgb.Dataset(parts.X[0], parts.y[0])
    return lgb.train(
        {**COMMON, **settings},
        data,
        1000,
        valid_sets=[data.create_valid(parts.X[1], parts.y[1])],
        feval=feval,
        callbacks=[lgb.early_stopping(40, verbose=False)],
    )


def regression(parts: Parts, C: int, **settings: Any) -> list[Any]:
    """Answers for the validation and the test part, within the classes."""
    settings = {"objective": "l1", "metric": "l1", "learning_rate": 0.05, **settings}
    model = boosted(parts, settings)
    return [np.clip(model.predict(X), 0, C - 1) for X in parts.X[1:]]


def shared_out(values: Any, C: int) -> Any:
    """Numbers, (N, K), each shared by the two classes it lies between, (N, C)."""
    values = np.clip(values, 0, C - 1)
    p = np.zeros((len(values), C))
    for column in values.T:
        low = np.minimum(column.astype(int), C - 2)
        np.add.at(p, (np.arange(len(p)), low), 1 - column + low)
        np.add.at(p, (np.arange(len(p)), low + 1), column - low)
    return p


def all_errors(f: Any, known: Any, y: Any, C: int) -> Any:
    return shared_out(f[:, None] + (y - known), C)


def nearest_errors(f: Any, known: Any, y: Any, C: int) -> Any:
    return residual_probabilities(f, known, y, num_classes=C)


def isotonic(f: Any, known: Any, y: Any, C: int) -> Any:
    """P(class <= c), falling with the prediction, for each c: an isotonic distribution."""
    below = np.ones((len(f), C))
    for c in range(C - 1):
        curve = IsotonicRegression(increasing=False, out_of_bounds="clip")
        below[:, c] = curve.fit(known, y <= c).predict(f)
    return np.diff(below, axis=1, prepend=0)


def laplace(f: Any, known: Any, y: Any, C: int) -> Any:
    """Of the mean error of the 200 nearest predictions."""
    nearest = np.argsort(np.abs(f[:, None] - known), axis=1)[:, :200]
    scale = np.maximum(np.abs(y - known)[nearest].mean(1, keepdims=True), 0.05)
    z = (np.arange(C + 1) - 0.5 - f[:, None]) / scale
    below = np.where(z < 0, 0.5 * np.exp(-np.abs(z)), 1 - 0.5 * np.exp(-np.abs(z)))
    return np.diff(below, axis=1)


AROUND: dict[str, Callable[..., Any]] = {
    "all errors": all_errors,
    "nearest errors": nearest_errors,
    "isotonic": isotonic,
    "Laplace": laplace,
}


def quantiles(parts: Parts, C: int) -> Any:
    """One model for each of ten quantiles; between them, and out to the ends, a straight line."""
    levels = np.arange(0.05, 1, 0.1)
    found = [
        regression(parts, C, objective="quantile", metric="quantile", alpha=level)[1]
        for level in levels
    ]
    edges, heights = np.arange(C + 1) - 0.5, np.concatenate([[0], levels, [1]])
    below = []
    for row in np.sort(np.stack(found, 1), axis=1):
        at = np.concatenate([[-0.5], row, [C - 0.5]]) + 1e-9 * np.arange(len(heights))
        below.append(np.interp(edges, at, heights))
    return np.diff(np.stack(below), axis=1)


def classifier(parts: Parts, C: int, objective: Any) -> tuple[Any, float]:
    """Probabilities by a fitted temperature, and its score on the validation part."""
    settings = {"objective": objective, "num_class": C, "metric": "None", "learning_rate": 0.1}
    model = boosted(parts, settings, CostMetric("absolute"))
    held, z = (model.predict(X, raw_score=True) for X in parts.X[1:])
    temperature = fit_temperature(held, parts.y[1])
    score = simloss.metrics.ranked_probability_score(softmax(held / temperature, 1), parts.y[1])
    return softmax(z / temperature, 1), score


def soft_targets(parts: Parts, C: int) -> Any:
    """With the r that scores best on the validation part."""
    found = [
        classifier(parts, C, SimilarityObjective(simloss.similarity.order(C, r=r)))
        for r in (0.3, 0.6, 0.9)
    ]
    return min(found, key=lambda pair: pair[1])[0]


def measures(p: Any, y: Any) -> dict[str, float]:
    p = 0.999 * p / p.sum(1, keepdims=True) + 0.001 / p.shape[1]  # no class is impossible
    answers = simloss.decide(p, "median")
    errors, expected = np.abs(answers - y), simloss.expected_cost(p, answers, "absolute")
    surest = np.argsort(expected, kind="stable")[: len(y) // 2]
    found = {
        "mae": errors.mean(),
        "rps": simloss.metrics.ranked_probability_score(p, y),
        "nll": simloss.metrics.nll(p, y),
        "expected less actual": expected.mean() - errors.mean(),
        "surest half": errors[surest].mean(),
    }
    return {name: round(float(value), 5) for name, value in found.items()}


def cell(name: str, seed: int, shared: Path) -> dict[str, Any]:
    """Method -> measures and seconds, those of the regression itself included once."""
    task = ordered(name, shared)
    parts, C = task.parts(seed), task.num_classes
    y = parts.y[2]
    start = time.perf_counter()
    known, f = regression(parts, C)
    records: dict[str, Any] = {
        "rounded": {
            "mae": round(float(np.abs(np.round(f) - y).mean()), 5),
            "seconds": round(time.perf_counter() - start, 3),
        }
    }
    ways: dict[str, Callable[[], Any]] = {
        method: lambda around=around: around(f, known, parts.y[1], C)
        for method, around in AROUND.items()
    }
    ways["ten quantile models"] = lambda: quantiles(parts, C)
    ways["classifier"] = lambda: classifier(
        parts, C, SimilarityObjective(simloss.similarity.identity(C))
    )[0]
    ways["classifier, soft targets"] = lambda: soft_targets(parts, C)
    for method, way in ways.items():
        start = time.perf_counter()
        found = measures(way(), y)
        records[method] = {**found, "seconds": round(time.perf_counter() - start, 3)}
    records["rows per class"] = {"mean": round(len(parts.y[0]) / C, 1)}
    return records


def table(results: dict[str, Any], measure: str, digits: int = 3) -> str:
    methods = [name for name in next(iter(results.values())) if name != "rows per class"]
    lines = [f"| {measure} | rows per class | " + " | ".join(methods) + " |"]
    lines.append("|---|---" + "|---" * len(methods) + "|")
    for name in ALL:
        some = [found for key, found in results.items() if key.startswith(f"{name}|")]
        if some:
            rows = f"{np.mean([one['rows per class']['mean'] for one in some]):.0f}"
            values = [[one[method].get(measure) for one in some] for method in methods]
            shown = ["–" if v[0] is None else f"{np.mean(v):.{digits}f}" for v in values]
            lines.append(f"| {name} | {rows} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=ALL, choices=ALL)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in options.tables if not options.table else ():
        for seed in range(options.seeds):
            if f"{name}|{seed}" not in results:
                results[f"{name}|{seed}"] = cell(name, seed, options.shared)
                lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in results.items()]
                RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
                print(name, seed, flush=True)
    for measure in ("mae", "rps", "nll", "expected less actual", "surest half", "seconds"):
        print(table(results, measure), end="\n\n")


if __name__ == "__main__":
    main()
