import importlib
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import (
    blended,
    bounded,
    cost,
    identity,
    matrix,
    multiplied,
    order,
    restricted,
    sharpened,
    sparse,
    symmetrized,
    values,
)
from simloss.similarity.sparse import SparseSimilarity

module = importlib.import_module("simloss.similarity.combine")
NAMES = ["a", "b", "c", "d"]
ASYMMETRIC = cost([[0, 1, 2, 3], [4, 0, 1, 2], [0.5, 0.1, 0, 9], [1, 1, 1, 0]], names=NAMES)
OTHER = order(4, r=0.6)
A, B = ASYMMETRIC.to_dense(torch.float64).tolist(), OTHER.to_dense(torch.float64).tolist()


def by_loops(of_pair):
    return [[of_pair(i, j) for j in range(4)] for i in range(4)]


def means(a, b):
    return {
        "mean": (a + b) / 2,
        "geometric": math.sqrt(a * b),
        "max": max(a, b),
        "min": min(a, b),
    }


def check(S, expected, tolerance=1e-6):
    assert torch.allclose(
        S.to_dense(torch.float64), torch.tensor(expected).double(), atol=tolerance
    )
    assert S.names in (tuple(NAMES), None)


# Sparse rows of everything are the same similarity in another structure.
both = pytest.mark.parametrize("form", [lambda S: S, sparse], ids=["stored", "sparse"])


@both
def test_formulas(form):
    a, b = form(ASYMMETRIC), OTHER
    check(bounded(a, 0.2), by_loops(lambda i, j: max(0, A[i][j] - 0.2) / 0.8))
    check(sharpened(a, 3), by_loops(lambda i, j: A[i][j] ** 3))
    check(blended([a, b], [3, 1]), by_loops(lambda i, j: 0.75 * A[i][j] + 0.25 * B[i][j]))
    check(blended([a, b]), by_loops(lambda i, j: (A[i][j] + B[i][j]) / 2))
    check(multiplied([a, b]), by_loops(lambda i, j: A[i][j] * B[i][j]))
    for how in ("mean", "geometric", "max", "min"):
        check(symmetrized(a, how), by_loops(lambda i, j, how=how: means(A[i][j], A[j][i])[how]))
    place = [3, 0, 1]
    some = restricted(a, place)
    assert some.names == ("d", "a", "b")
    assert some.kept == (3, 0, 1)
    assert torch.allclose(some.to_dense(torch.float64), torch.tensor(A).double()[place][:, place])


@both
def test_the_structure_stays(form):
    stays = isinstance(form(OTHER), SparseSimilarity)
    for S in (
        bounded(form(OTHER), 0.1),
        multiplied([OTHER, form(OTHER)]),
        restricted(form(OTHER), [1, 2]),
        symmetrized(form(OTHER)),
    ):
        assert isinstance(S, SparseSimilarity) == stays


@given(st.floats(0.01, 0.99), st.floats(0, 0.99), st.floats(0, 0.99))
def test_bounds_and_powers_are_monotone(r, low, high):
    S = order(5, r)
    low, high = sorted((low, high))
    assert bool((bounded(S, low).to_dense() >= bounded(S, high).to_dense()).all())
    assert bool((sharpened(S, 1 + low).to_dense() >= sharpened(S, 1 + high).to_dense()).all())


def test_limits():
    S = order(4, r=0.9, names=NAMES)
    assert bounded(S, 0.999) == identity(4, names=NAMES)
    assert sharpened(S, 1e5) == identity(4, names=NAMES)
    assert torch.equal(bounded(S, 0).to_dense(), S.to_dense())
    assert torch.allclose(
        sharpened(values([0, 2, 9], 4), 2).to_dense(), values([0, 2, 9], 2).to_dense()
    )


@both
def test_the_diagonal_stays_one_to_the_last_digit(form):
    S = blended([form(OTHER)] * 7, [0.1, 0.3, 0.7, 0.1, 0.2, 0.9, 0.4])
    assert torch.equal(S.to_dense().diagonal(), torch.ones(4))


def test_permuting_twice_leads_back():
    there = restricted(ASYMMETRIC, ["c", "a", "d", "b"])
    assert restricted(there, NAMES) == ASYMMETRIC


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bounded(OTHER, 1), r"`lower_bound` must be in \[0, 1\)"),
        (lambda: sharpened(OTHER, 0), "`power` must be a finite number above 0"),
        (lambda: blended([]), "at least one, but got none"),
        (lambda: blended([OTHER, order(3, 0.5)]), "one has 4 classes and another 3"),
        (lambda: blended([OTHER, OTHER], [1]), r"must be 2 numbers.*but got \[1.0\]"),
        (lambda: blended([OTHER, OTHER], [0, 0]), "not all 0"),
        (lambda: blended([OTHER, OTHER], [1, -1]), "at least 0, but got -1.0"),
        (
            lambda: multiplied([ASYMMETRIC, order(4, 0.5, names=["b", "a", "c", "d"])]),
            "but one has 'a' where another has 'b'",
        ),
        (lambda: symmetrized(OTHER, "median"), "`how` must be one of"),
        (lambda: restricted(ASYMMETRIC, ["a", "z"]), "must be known, but 'z' is not"),
        (lambda: restricted(OTHER, [4]), r"must be in \[0, 4\), but got 4"),
        (lambda: restricted(OTHER, [1, 1]), "1 is listed twice"),
        (lambda: restricted(OTHER, []), "must not be empty"),
        (lambda: bounded(OTHER.normalized(), 0.1), "must be of kind 'similarity'"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_does_not_fit_must_be_sparse(monkeypatch):
    monkeypatch.setattr(module, "_STORED_UP_TO", 3)
    with pytest.raises(ValueError, match="of 4 classes must be sparse to be combined"):
        bounded(OTHER, 0.1)
    assert bounded(sparse(OTHER), 0.1).num_classes == 4
    assert matrix(restricted(OTHER, [0, 1]).to_dense()).num_classes == 2
