import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import circular, cost, grid, identity, matrix, order

ASYMMETRIC = cost([[0, 1, 2], [3, 0, 1], [0.5, 2, 0]])


@given(st.integers(1, 4), st.floats(0, 0.95), st.integers(1, 4), st.floats(0, 0.95))
def test_formula(rows, r, columns, q):
    a, b = order(rows, r), circular(columns, q)
    S = grid(a, b, ASYMMETRIC).to_dense(torch.float64)
    A, B, D = (each.to_dense(torch.float64) for each in (a, b, ASYMMETRIC))
    classes = list(itertools.product(range(rows), range(columns), range(3)))
    for i, x in enumerate(classes):
        for j, y in enumerate(classes):
            expected = A[x[0], y[0]] * B[x[1], y[1]] * D[x[2], y[2]]
            assert S[i, j].item() == pytest.approx(expected.item(), abs=1e-12)


def test_cells_pick_the_classes_in_their_order():
    every = grid(order(3, r=0.5), ASYMMETRIC).to_dense(torch.float64)
    cells = [[2, 0], [0, 1], [2, 2]]
    place = [3 * a + b for a, b in cells]
    some = grid(order(3, r=0.5), ASYMMETRIC, cells=cells)
    assert torch.allclose(some.to_dense(torch.float64), every[place][:, place])
    assert torch.allclose(some.columns([1], torch.float64)[0], every[place][:, place[1]])


def test_names_are_made_of_the_attributes_names():
    size = order(2, r=0.5, names=["small", "large"])
    colour = matrix([[1, 0.2], [0.2, 1]], names=["red", "blue"])
    assert grid(size, colour).names == ("small red", "small blue", "large red", "large blue")
    assert grid(size, order(2, r=0.5)).names is None
    assert grid(size, names=["s", "l"]).names == ("s", "l")


def test_one_attribute_is_itself_and_identities_give_the_identity():
    assert torch.allclose(
        grid(order(5, r=0.3)).to_dense(torch.float64), order(5, r=0.3).to_dense(torch.float64)
    )
    assert grid(identity(2), identity(3)) == identity(6)


def test_keeps_no_square_matrix():
    S = grid(order(100, r=0.9), order(100, r=0.9), order(10, r=0.5))
    assert S.num_classes == 100_000
    assert sum(t.numel() for t in S.tensors.values()) < 400_000
    assert S.rows([0], torch.float32).shape == (1, 100_000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: grid(), "at least one similarity"),
        (lambda: grid(order(2, 0.5), cells=[[0], [2]]), r"in \[0, 2\) for attribute 0, but got 2"),
        (lambda: grid(order(2, 0.5), cells=[[0.5]]), "but got 0.5 for class 0"),
        (lambda: grid(order(2, 0.5), cells=[[0, 1]]), r"shape \(C, 1\)"),
        (lambda: grid(order(2, 0.5).normalized()), "must be of kind 'similarity'"),
        (lambda: grid(order(2, 0.5), cells=[[0], [0]], names=["a", "a"]), "'a' is listed twice"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
