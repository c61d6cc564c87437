import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import identity, matrix, order


@given(C=st.integers(1, 12), r=st.floats(0, 0.999))
def test_is_the_papers_equation_2(C, r):
    S = order(C, r).to_dense(torch.float64)
    for i in range(C):
        for j in range(C):
            assert S[i, j].item() == pytest.approx(r ** abs(i - j), rel=1e-14)


def test_r_zero_is_the_identity():
    assert torch.equal(order(5, 0.0).to_dense(), torch.eye(5))
    assert order(5, 0.0) == identity(5) == matrix(torch.eye(5))


def test_holds_one_number_however_many_classes():
    S = order(10**9, 0.5)
    assert sum(tensor.numel() for tensor in S.tensors.values()) == 1
    assert S.num_classes == 10**9


@given(C=st.integers(1, 30), r=st.floats(0, 0.999))
def test_normalized_rows_sum_to_one_and_match_division(C, r):
    S = order(C, r)
    dense = S.to_dense(torch.float64)
    normalized = S.normalized()
    assert normalized.kind == "probability"
    expected = dense / dense.sum(1, keepdim=True)
    assert torch.allclose(normalized.to_dense(torch.float64), expected, atol=1e-13, rtol=1e-12)
    # A column of the normalised matrix is not a row of it.
    columns = normalized.columns(torch.arange(C), torch.float64)
    assert torch.allclose(columns, expected.T, atol=1e-13, rtol=1e-12)


def test_log_rows_are_exact_where_the_power_underflows():
    S = order(5000, 0.5)
    log_rows = S.log_rows(torch.tensor([0]), torch.float64)
    assert S.rows([0], torch.float64)[0, -1] == 0
    assert log_rows[0, -1].item() == pytest.approx(-4999 * 0.6931471805599453, rel=1e-12)


def test_cost_is_minus_log_and_refuses_zeros():
    cost = order(4, 0.5).cost()
    assert cost[0].tolist() == pytest.approx([0, 0.693147, 1.386294, 2.079442], rel=1e-5)
    assert not torch.signbit(cost).any()
    with pytest.raises(ValueError, match="must be finite, but S is 0 in row 0, column 1"):
        identity(3).cost()


def test_repr_says_what_it_is():
    assert repr(order(90, 0.8)) == "order(90 classes, r=0.8)"
    assert repr(identity(1)) == "order(1 class, r=0: the identity)"
    assert repr(order(2, 0.5).normalized()) == "order(2 classes, r=0.5, probability)"


@pytest.mark.parametrize("r", [1.0, 1.2, -0.1, float("nan"), float("inf")])
def test_r_outside_its_range(r):
    with pytest.raises(ValueError, match=r"`r` must be in \[0, 1\), but got"):
        order(3, r)


@pytest.mark.parametrize("r", ["0.5", None, True])
def test_r_that_is_no_number(r):
    with pytest.raises(TypeError, match="`r` must be a number, but got"):
        order(3, r)


def test_number_of_classes():
    assert order(torch.tensor(3), 0.5).num_classes == 3
    with pytest.raises(ValueError, match="`num_classes` must be at least 1, but got 0"):
        order(0, 0.5)
    for wrong in (2.5, "3", True, np.True_, None, float("inf"), float("nan")):
        with pytest.raises(TypeError, match="`num_classes` must be a whole number, but got"):
            order(wrong, 0.5)


def test_names():
    assert order(2, 0.5, names=["low", "high"]).names == ("low", "high")
    with pytest.raises(ValueError, match="one name for each of the 2 classes, but got 3"):
        order(2, 0.5, names=["a", "b", "c"])
    with pytest.raises(ValueError, match="`names` must be distinct, but 'a' is listed twice"):
        order(2, 0.5, names=["a", "a"])
    with pytest.raises(TypeError, match="`names` must be a list"):
        order(2, 0.5, names="ab")


def test_equality_is_by_value():
    assert order(4, 0.5) == matrix(order(4, 0.5).to_dense(torch.float64))
    assert order(4, 0.5) != order(4, 0.25)
    assert order(4, 0.5) != order(5, 0.5)
    assert order(4, 0.5) != order(4, 0.5, names=["a", "b", "c", "d"])
    assert order(4, 0.5) != order(4, 0.5).normalized()
    assert order(4, 0.5) != "order"
    with pytest.raises(TypeError, match="unhashable"):
        hash(order(4, 0.5))
