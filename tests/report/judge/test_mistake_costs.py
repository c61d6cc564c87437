"""The cost of a confusion is the one the run was judged by."""

from dataclasses import replace

import numpy as np
import pytest

from report import made_up
from simloss import similarity
from simloss.report.judge.classes import Classes
from simloss.report.judge.mistake_costs import mistake_costs

TRUTH, ANSWERS = np.array([0, 0, 0]), np.array([0, 1, 2])


def costs(classes, cost=None):
    found = mistake_costs(classes, replace(made_up.config(), cost=cost))
    return found.of(TRUTH, ANSWERS).tolist(), found


def test_places_apart_heights_or_one():
    assert costs(Classes(tuple("abc"), None, True))[0] == [0, 1, 2]
    numbers, found = costs(Classes(tuple("abc"), ("x", "x", "y"), False))
    assert numbers == [0, 1, 2]
    assert found.note == "The cost is 1 within a superclass and 2 beyond it."
    assert costs(Classes(tuple("abc"), None, False))[0] == [0, 1, 1]


def test_a_higher_tree():
    numbers, found = costs(Classes(tuple("abc"), ("x/v", "x/w", "y/z"), False))
    assert numbers == [0, 2, 3]
    assert "how far up the tree" in found.note


def test_numbers_at_unequal_distances():
    numbers, found = costs(Classes(("1", "5", "50"), None, True), "values")
    assert numbers == [0, 4, 49]
    assert found.word == "apart"


def test_a_similarity(tmp_path):
    path = tmp_path / "s.csv"
    similarity.matrix([[1, 0.25, 0], [0.25, 1, 0], [0, 0, 1]], names=list("abc")).save(path)
    classes = Classes(tuple("abc"), None, False)
    assert costs(classes, str(path))[0] == pytest.approx([0, 0.75, 1])
    path.unlink()
    numbers, found = costs(classes, str(path))
    assert numbers == [0, 1, 1]
    assert "its own cost is lost" in found.note
