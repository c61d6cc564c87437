"""Answers and truth, made into numbers that know which way is better. One registry of them all."""

from .correct import accuracy, balanced_accuracy, top_k_accuracy
from .costs import mean_cost, mean_similarity
from .ordinal import (
    kendall_tau,
    macro_mae,
    mae,
    mse,
    quadratic_kappa,
    ranked_probability_score,
    within_k_accuracy,
)
from .registry import METRICS, Metric, find
from .scoring import Scorer, scorer
from .selection import columns, evaluate
from .tree import failed_superclass_accuracy, mean_height, severity, superclass_accuracy
from .uncertainty import Reliability, brier, calibration_error, nll, reliability

__all__ = [
    "METRICS",
    "Metric",
    "Reliability",
    "Scorer",
    "accuracy",
    "balanced_accuracy",
    "brier",
    "calibration_error",
    "columns",
    "evaluate",
    "failed_superclass_accuracy",
    "find",
    "kendall_tau",
    "macro_mae",
    "mae",
    "mean_cost",
    "mean_height",
    "mean_similarity",
    "mse",
    "nll",
    "quadratic_kappa",
    "ranked_probability_score",
    "reliability",
    "scorer",
    "severity",
    "superclass_accuracy",
    "top_k_accuracy",
    "within_k_accuracy",
]
