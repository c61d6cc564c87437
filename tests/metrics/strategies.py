"""Answers, truth and probabilities of all sizes, absent classes and single classes included."""

import numpy as np
from hypothesis import strategies as st

CLASSES = 5


@st.composite
def answers_and_truth(draw, num_classes=CLASSES):
    count = draw(st.integers(1, 12))
    indices = st.lists(st.integers(0, num_classes - 1), min_size=count, max_size=count)
    return draw(indices), draw(indices)


@st.composite
def probabilities_and_truth(draw, num_classes=CLASSES):
    count = draw(st.integers(1, 8))
    row = st.lists(st.integers(0, 9), min_size=num_classes, max_size=num_classes).filter(any)
    weights = np.array(draw(st.lists(row, min_size=count, max_size=count)), dtype=float)
    truth = st.lists(st.integers(0, num_classes - 1), min_size=count, max_size=count)
    return weights / weights.sum(1, keepdims=True), draw(truth)
