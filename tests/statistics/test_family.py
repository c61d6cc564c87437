"""Holm's correction, and what few runs cannot show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simloss import statistics


def loop_holm(p_values):
    """Step down: each p in rising order times the number not yet seen, never falling."""
    adjusted = {}
    left, highest = len(p_values), 0.0
    for p, i in sorted((p, i) for i, p in enumerate(p_values)):
        highest = max(highest, min(1.0, left * p))
        adjusted[i] = highest
        left -= 1
    return [adjusted[i] for i in range(len(p_values))]


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm(p_values):
    adjusted = statistics.holm(p_values)
    assert adjusted == pytest.approx(loop_holm(p_values))
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))


def test_holm_of_one_and_of_none():
    assert statistics.holm([0.04]) == [0.04]
    assert statistics.holm([]) == []


def test_known_values():
    """The example in Holm's own procedure: .01 of 4 passes at .04, .02 times 3 does not."""
    assert statistics.holm([0.02, 0.01, 0.9, 0.5]) == pytest.approx([0.06, 0.04, 1.0, 1.0])


def test_comparisons_are_corrected_together():
    baseline = [1, 2, 3, 4, 5, 6, 7]
    treatments = {"all": [v + i for i, v in enumerate(baseline, 1)], "none": baseline}
    found = statistics.paired_comparisons(baseline, treatments, higher_is_better=True)
    assert found["all"].p_value == 2 / 2**7
    assert found["all"].adjusted_p_value == 4 / 2**7
    assert found["all"].comparisons == 2
    assert found["all"].mark == "+"
    assert found["none"].adjusted_p_value == 1
    more = {**treatments, "also": baseline, "too": baseline}
    found = statistics.paired_comparisons(baseline, more, higher_is_better=True)
    assert found["all"].mark == ""


@pytest.mark.parametrize(("runs", "p"), [(1, 1), (2, 0.5), (3, 0.25), (5, 0.0625), (10, 2 / 1024)])
def test_the_smallest_p_is_reached_by_the_clearest_difference(runs, p):
    clear = statistics.paired_comparison([0] * runs, range(1, runs + 1), higher_is_better=True)
    assert clear.p_value == statistics.smallest_p_value(runs) == p


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"`p_values` must be in \[0, 1\], but got 1.5"):
        statistics.holm([1.5])
    with pytest.raises(ValueError, match="`runs` must be at least 1"):
        statistics.smallest_p_value(0)
