import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import function, identity, order
from simloss.similarity.sparse import SparseSimilarity


def overlap(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


@given(
    st.lists(st.text("abcdef", min_size=1, max_size=5), min_size=1, max_size=6, unique=True),
    st.floats(0, 0.9),
)
def test_formula(classes, lower_bound):
    S = function(classes, overlap, lower_bound)
    assert S.names == tuple(classes)
    dense = S.to_dense()
    for i, a in enumerate(classes):
        for j, b in enumerate(classes):
            expected = 1.0 if i == j else max(0.0, overlap(a, b) - lower_bound) / (1 - lower_bound)
            assert dense[i, j].item() == pytest.approx(expected)


def test_lower_bound_near_one_is_the_identity():
    assert function(["ab", "bc", "cd"], overlap, 0.999) == identity(3, names=["ab", "bc", "cd"])


def test_it_need_not_be_symmetric():
    S = function([1.0, 2.0, 4.0], lambda a, b: a / b if a < b else 1.0).to_dense()
    assert S[0].tolist() == [1, 0.5, 0.25]
    assert S[2].tolist() == [1, 1, 1]


def test_called_on_blocks_where_it_works_on_arrays():
    calls = []

    def near(a, b):
        calls.append(np.shape(a))
        return 0.5 ** abs(a - b)

    S = function(np.arange(50), near)
    assert torch.allclose(S.to_dense(), order(50, r=0.5).to_dense(torch.float64))
    assert (50, 1) in calls
    assert len(calls) < 30  # not 2,500


def test_one_pair_at_a_time_where_it_does_not():
    def picky(a, b):
        if a == b:  # ambiguous for arrays
            return 1.0
        return 0.25

    assert function([1, 2, 3], picky).to_dense()[0].tolist() == [1, 0.25, 0.25]

    def wrong_on_arrays(a, b):
        return np.ones(np.broadcast(a, b).shape) if np.ndim(a) else 0.5 + 0.5 * (a == b)

    assert function([1, 2, 3], wrong_on_arrays).to_dense()[0].tolist() == [1, 0.5, 0.5]


def test_rows_of_an_array_are_classes_too():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])

    def near(a, b):
        return np.exp(-np.linalg.norm(a - b, axis=-1))

    S = function(points, near).to_dense()
    assert S[0].tolist() == pytest.approx([1, np.exp(-5), np.exp(-1)])


@pytest.mark.parametrize(("options", "kept"), [({"sparse": True}, 9), ({"top_k": 1}, 2)])
def test_sparse_rows(options, kept):
    S = function(np.arange(9), lambda a, b: 0.5 ** abs(a - b), **options)
    assert isinstance(S, SparseSimilarity)
    whole = order(9, r=0.5).to_dense()
    assert bool(((S.to_dense() > 0).sum(1) == kept).all())
    assert torch.equal(torch.where(S.to_dense() > 0, whole, 0.0), S.to_dense())


@pytest.mark.parametrize(
    ("sim", "message"),
    [
        (lambda a, b: 1.0 if a == b else -0.5, "be at least 0 .* got -0.5 for 'a' and 'b'"),
        (lambda a, b: 1.0 if a == b else 1.5, "be at most 1, but got 1.5 for 'a' and 'b'"),
        (lambda a, b: 0.5, "be 1 for a class with itself, but got 0.5 for 'a' and 'a'"),
        (lambda a, b: float("nan"), "not be NaN"),
        (lambda a, b: "x", r"`sim\(a, b\)` must be a number, but got 'x'"),
        ("cosine", "`sim` must be a function of two classes, but got str"),
    ],
)
def test_bad_functions(sim, message):
    with pytest.raises((ValueError, TypeError), match=message):
        function(["a", "b"], sim)


def test_no_classes():
    with pytest.raises(ValueError, match="`classes` must not be empty"):
        function([], overlap)
