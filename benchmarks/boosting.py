"""Boosted trees with and without a similarity: `python -m benchmarks.boosting [--shared FOLDER]`.

Each library's own multiclass objective, and ours with the three losses; all stop early by the mean
cost on the validation part, which also chooses the parameter of the similarity. Cells that are in
the result file are not run again; `--table` only prints what is there.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

import simloss
from simloss.integrations.boosting import CostMetric, SimilarityObjective
from simloss.similarity import identity

from .boosted_tables import SHARED, Parts, Task, clinc, ordered

RESULTS = Path(__file__).with_name("results") / "boosting.json"
TASKS = ("diamonds-20", "abalone", "wine-white", "clinc-60", "clinc-150")
LIBRARIES = ("lightgbm", "xgboost", "catboost")
ROUNDS, PATIENCE = 600, 40

# Parameters of the similarity to choose from: r of an order, the temperature of a tree.
GRID = {
    "order": {"soft-target": (0.3, 0.5, 0.7), "simloss": (0.3, 0.6), "proper": (0.5, 0.8, 0.9)},
    "tree": {"soft-target": (0.25, 0.5), "simloss": (0.5, 1.0), "proper": (0.5, 1.0, 2.0)},
}
# CatBoost calls Python for every example, so it gets only one of them.
ONE = {
    "order": {"soft-target": (0.5,), "simloss": (0.3,), "proper": (0.8,)},
    "tree": {"soft-target": (0.5,), "simloss": (0.5,), "proper": (1.0,)},
}


def lightgbm_probabilities(task: Task, parts: Parts, objective: Any, seed: int) -> list[Any]:
    import lightgbm as lgb

    settings = {
        "objective": objective or "multiclass",
        "num_class": task.num_classes,
        "learning_rate": 0.1,
        "num_leaves": 15 if task.cost == "absolute" else 7,
        "min_data_in_leaf": 10 if task.cost == "absolute" else 5,
        "feature_fraction": 1.0 if task.cost == "absolute" else 0.3,
        "lambda_l2": 1.0,  # without it, its own objective diverges on many classes
        "max_bin": 63,
        "metric": "None",
        "verbose": -1,
        "num_threads": 1,
        "seed": seed,
    }
    data = lgb.Dataset(parts.X[0], parts.y[0])
    model = lgb.train(
        settings,
        data,
        ROUNDS,
        valid_sets=[data.create_valid(parts.X[1], parts.y[1])],
        feval=CostMetric(task.cost),
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    return [softmax(model.predict(X, raw_score=True), 1) for X in parts.X[1:]]


def xgboost_probabilities(task: Task, parts: Parts, objective: Any, seed: int) -> list[Any]:
    import xgboost as xgb

    settings = {
        "objective": "multi:softprob",
        "num_class": task.num_classes,
        "eta": 0.1 if task.cost == "absolute" else 0.2,
        "max_depth": 4 if task.cost == "absolute" else 3,
        "colsample_bynode": 1.0 if task.cost == "absolute" else 0.3,
        "max_bin": 64,
        "disable_default_eval_metric": True,
        "nthread": 1,
        "seed": seed,
    }
    held = xgb.DMatrix(parts.X[1], parts.y[1])
    model = xgb.train(
        settings,
        xgb.DMatrix(parts.X[0], parts.y[0]),
        ROUNDS,
        obj=objective,
        custom_metric=CostMetric(task.cost),
        evals=[(held, "held")],
        early_stopping_rounds=PATIENCE,
        verbose_eval=False,
    )
    best = (0, model.best_iteration + 1)
    return [model.predict(xgb.DMatrix(X), iteration_range=best) for X in parts.X[1:]]


def catboost_probabilities(task: Task, parts: Parts, objective: Any, seed: int) -> list[Any]:
    """CatBoost knows only the classes of the training part: others get probability 0."""
    from catboost import CatBoostClassifier

    warnings.filterwarnings("ignore", message=".*numba")
    present = np.unique(parts.y[0])
    place = np.zeros(task.num_classes, int)
    place[present] = np.arange(len(present))
    held = np.isin(parts.y[1], present)
    cost = simloss.expected_cost(np.eye(task.num_classes), cost=task.cost)
    model = CatBoostClassifier(
        loss_function="MultiClass" if objective is None else objective,
        eval_metric=CostMetric(cost[present][:, present]),
        classes_count=len(present),
        iterations=250,
        learning_rate=0.2,
        depth=4,
        rsm=1.0 if task.cost == "absolute" else 0.3,
        border_count=63,
        bootstrap_type="MVS",
        early_stopping_rounds=PATIENCE,
        random_seed=seed,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    )
    eval_set = (parts.X[1][held], place[parts.y[1][held]])
    model.fit(parts.X[0], place[parts.y[0]], eval_set=eval_set)
    found = []
    for X in parts.X[1:]:
        p = np.zeros((len(X), task.num_classes))
        p[:, present] = model.predict_proba(X)
        found.append(p)
    return found


def objective_of(
    library: str, task: Task, parts: Parts, loss: str, parameter: float | None
) -> SimilarityObjective | None:
    if loss == "own":
        return None
    if loss == "identity":
        return SimilarityObjective(identity(task.num_classes))
    similarity = task.similarity(parameter)
    if library == "catboost":
        similarity = simloss.similarity.restricted(similarity, np.unique(parts.y[0]).tolist())
    return SimilarityObjective(similarity, loss=loss)


PROBABILITIES = {
    "lightgbm": lightgbm_probabilities,
    "xgboost": xgboost_probabilities,
    "catboost": catboost_probabilities,
}


def cell(library: str, task: Task, loss: str, parameter: float | None, seed: int) -> dict[str, Any]:
    """The mean cost at argmax and by the decision, on validation and test; and how long it took."""
    parts = task.parts(seed)
    start = time.perf_counter()
    objective = objective_of(library, task, parts, loss, parameter)
    both = PROBABILITIES[library](task, parts, objective, seed)
    record: dict[str, Any] = {"seconds": round(time.perf_counter() - start, 2)}
    for part, p, y in zip(("validation", "test"), both, parts.y[1:], strict=True):
        p = np.asarray(p, np.float64)
        p = p / p.sum(1, keepdims=True)
        for decision in ("argmax", "decision"):
            answers = simloss.decide(p, "argmax" if decision == "argmax" else task.cost)
            cost = simloss.metrics.mean_cost(answers, y, task.cost)
            record[f"{part} {decision}"] = round(cost, 5)
        record[f"{part} accuracy"] = round(float((p.argmax(1) == y).mean()), 5)
    return record


def cells(library: str, name: str, seeds: int) -> list[tuple[str, float | None, int]]:
    kind = "tree" if name.startswith("clinc") else "order"
    grid = (ONE if library == "catboost" else GRID)[kind]
    plain = ["own"] if library == "catboost" else ["own", "identity"]
    which = [(loss, None) for loss in plain]
    which += [(loss, parameter) for loss in grid for parameter in grid[loss]]
    return [(*one, seed) for one in which for seed in range(seeds)]


def task_of(name: str, shared: Path) -> Task:
    if name.startswith("clinc"):
        return clinc(int(name.removeprefix("clinc-")) // 15, shared)
    return ordered(name, shared)


def run(options: argparse.Namespace) -> dict[str, Any]:
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in options.tasks:
        task = task_of(name, options.shared)
        for library in options.libraries:
            if library == "catboost" and task.num_classes > 100:
                continue  # ten minutes per cell
            for loss, parameter, seed in cells(library, name, options.seeds):
                key = f"{name}|{library}|{loss}|{parameter}|{seed}"
                if key not in results:
                    results[key] = cell(library, task, loss, parameter, seed)
                    print(key, results[key], flush=True)
                    save(results)
    return results


def save(results: dict[str, Any]) -> None:
    """Keep what other processes have added: two of these may run side by side."""
    there = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted({**there, **results}.items())]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def chosen(results: dict[str, Any], start: str, decision: str) -> dict[int, float]:
    """Seed -> test cost, with the parameter that is best on the validation part of that seed."""
    best: dict[int, tuple[float, float]] = {}
    for key, record in results.items():
        if key.startswith(start):
            seed = int(key.rpartition("|")[2])
            found = (record[f"validation {decision}"], record[f"test {decision}"])
            best[seed] = min(best.get(seed, found), found)
    return {seed: test for seed, (_, test) in best.items()}


def table(results: dict[str, Any]) -> str:
    """One row for each task and library: argmax / decision; * if p < .05, paired by seed."""
    losses = ("own", "identity", "soft-target", "simloss", "proper")
    lines = ["| task | library | " + " | ".join(losses) + " |", "|---|---" + "|---" * 5 + "|"]
    for name in TASKS:
        for library in LIBRARIES:
            start = f"{name}|{library}|"
            if not any(key.startswith(start) for key in results):
                continue
            cells = [_both(results, start, loss) for loss in losses]
            lines.append(f"| {name} | {library} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _both(results: dict[str, Any], start: str, loss: str) -> str:
    shown = []
    for decision in ("argmax", "decision"):
        found = chosen(results, f"{start}{loss}|", decision)
        if not found:
            return "–"
        own = chosen(results, f"{start}own|", decision)
        mark = "*" if loss != "own" and _differs(found, own) else ""
        shown.append(f"{np.mean(list(found.values())):.3f}{mark}")
    return " / ".join(shown)


def _differs(found: dict[int, float], own: dict[int, float]) -> bool:
    from scipy.stats import wilcoxon

    differences = [found[seed] - own[seed] for seed in found if seed in own]
    return len(differences) > 5 and bool(wilcoxon(differences).pvalue < 0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--libraries", nargs="+", default=LIBRARIES, choices=LIBRARIES)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    options = parser.parse_args()
    print(table(json.loads(RESULTS.read_text()) if options.table else run(options)))


if __name__ == "__main__":
    main()
