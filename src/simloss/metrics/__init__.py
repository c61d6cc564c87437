"""Metrics of answers against the truth, in one registry that knows which way is better."""

from .correct import accuracy, balanced_accuracy, top_k_accuracy
from .costs import mean_cost, mean_similarity
from .curves import Curve, abstention_curve, node_curve
from .nodes import hierarchical_f1, node_accuracy, wu_palmer
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
    "Curve",
    "Metric",
    "Reliability",
    "Scorer",
    "abstention_curve",
    "accuracy",
    "balanced_accuracy",
    "brier",
    "calibration_error",
    "columns",
    "evaluate",
    "failed_superclass_accuracy",
    "find",
    "hierarchical_f1",
    "kendall_tau",
    "macro_mae",
    "mae",
    "mean_cost",
    "mean_height",
    "mean_similarity",
    "mse",
    "nll",
    "node_accuracy",
    "node_curve",
    "quadratic_kappa",
    "ranked_probability_score",
    "reliability",
    "scorer",
    "severity",
    "superclass_accuracy",
    "top_k_accuracy",
    "within_k_accuracy",
    "wu_palmer",
]
