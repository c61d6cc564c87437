import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import circular, identity, order


@given(st.integers(1, 13), st.floats(0, 0.99))
def test_formula(C, r):
    S = circular(C, r).to_dense(torch.float64)
    for i in range(C):
        for j in range(C):
            steps = min(abs(i - j), C - abs(i - j))
            assert S[i, j].item() == pytest.approx(1.0 if steps == 0 else r**steps, abs=1e-12)


@given(st.integers(2, 13), st.floats(0.01, 0.98), st.integers(1, 12))
def test_turning_the_circle_changes_nothing(C, r, by):
    S = circular(C, r).to_dense(torch.float64)
    assert torch.allclose(S, S.roll((by, by), (0, 1)), rtol=1e-12)
    straight = order(C, r).to_dense(torch.float64)
    assert bool((straight <= S + 1e-12).all())
    assert bool((circular(C, r + 0.01).to_dense(torch.float64) >= S - 1e-12).all())


def test_midnight_is_next_to_eleven():
    S = circular(24, r=0.5)
    assert S.rows(0)[23] == 0.5
    assert S.rows(0)[12] == 0.5**12
    assert circular(5, r=0) == identity(5)


def test_keeps_one_number():
    assert circular(100_000, r=0.9).tensors["r"].numel() == 1
    assert repr(circular(24, r=0.5)) == "circular(24 classes, r=0.5)"


def test_bad_input():
    with pytest.raises(ValueError, match=r"`r` must be in \[0, 1\), but got 1.0"):
        circular(3, 1)
    with pytest.raises(ValueError, match="`num_classes` must be at least 1, but got 0"):
        circular(0, 0.5)
