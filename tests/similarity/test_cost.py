import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import cost, identity, order

COST = [[0, 5, 2], [1, 0, math.inf], [0.5, 1, 0]]


@given(st.floats(0.1, 20))
def test_formula(temperature):
    S = cost(COST, temperature).to_dense()
    for i in range(3):
        for j in range(3):
            assert S[i, j].item() == pytest.approx(math.exp(-COST[i][j] / temperature), abs=1e-12)
    assert bool((cost(COST, 2 * temperature).to_dense() >= S).all())


def test_it_undoes_the_cost_a_similarity_implies():
    S = order(5, r=0.7)
    again = cost(S.cost().double(), names=list("abcde"))
    assert torch.allclose(again.to_dense(), S.to_dense(torch.float64), atol=1e-6)
    assert again.names == tuple("abcde")
    assert cost(COST, 1e-4) == identity(3)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [2, 0.5]], "`cost` must be 0 on its diagonal, but got 0.5 in row 1, column 1"),
        ([[0, -1], [2, 0]], "`cost` must be at least 0, but got -1 in row 0, column 1"),
        ([[0, math.nan], [2, 0]], "`cost` must not be NaN"),
        ([[0, 1]], "`cost` must be square"),
    ],
)
def test_bad_input(matrix, message):
    with pytest.raises(ValueError, match=message):
        cost(matrix)
