"""Turns probabilities and a cost into the answer to give."""

from .answer import decide, expected_cost
from .node import decide_node
from .promise import promise_threshold
from .sets import decide_interval, decide_set
from .thresholds import Thresholds, fit_thresholds

__all__ = [
    "Thresholds",
    "decide",
    "decide_interval",
    "decide_node",
    "decide_set",
    "expected_cost",
    "fit_thresholds",
    "promise_threshold",
]
