"""Probabilities and a cost, made into the answer to give."""

from .answer import decide, expected_cost
from .node import decide_node

__all__ = ["decide", "decide_node", "expected_cost"]
