import importlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import cost, embedding, identity, matrix, order, sparse, tree, words
from simloss.similarity.tree import Tree

# The module, not the function of the same name.
module = importlib.import_module("simloss.similarity.sparse")


def top_k_by_loops(S, k):
    """Every row's own class and its k largest others, without zeros."""
    kept = []
    for i, row in enumerate(S):
        others = sorted((c for c in range(len(row)) if c != i), key=lambda c: -row[c])[:k]
        kept.append([row[c] if c == i or c in others else 0.0 for c in range(len(row))])
    return torch.tensor(kept, dtype=torch.float64)


@given(st.integers(2, 9), st.integers(1, 9), st.integers(0, 99))
def test_top_k(C, k, seed):
    # Distinct values, so that which are the largest is not open.
    values = torch.rand(C, C, generator=torch.Generator().manual_seed(seed)).double()
    whole = matrix(values.fill_diagonal_(1))
    S = sparse(whole, top_k=k)
    assert torch.equal(S.to_dense(), top_k_by_loops(values.tolist(), k))
    assert torch.equal(S.columns(range(C)), S.to_dense().T)


@given(st.integers(1, 12), st.floats(0, 0.9), st.integers(0, 99))
def test_everything_above_the_lower_bound(C, lower_bound, seed):
    vectors = torch.randn(C, 3, generator=torch.Generator().manual_seed(seed))
    whole = embedding(vectors, lower_bound)
    S = sparse(whole)
    # The same numbers but for the last digit: a block of rows is multiplied in another order.
    assert torch.allclose(S.to_dense(), whole.to_dense(), atol=1e-6)
    assert S.tensors["value"].numel() == int((whole.to_dense() > 0).sum())


def test_layout():
    S = sparse(cost([[0, 1, float("inf")], [float("inf"), 0, float("inf")], [2, 3, 0]]))
    assert S.tensors["crow"].tolist() == [0, 2, 3, 6]
    assert S.tensors["column"].tolist() == [0, 1, 1, 0, 1, 2]
    assert S.tensors["value"].tolist() == pytest.approx([1, 0.3679, 1, 0.1353, 0.0498, 1], abs=1e-4)
    assert {t.dtype for t in S.tensors.values()} == {torch.int64, torch.float64}
    assert repr(S) == "sparse(3 classes, 6 entries)"


def test_parts_do_not_show(monkeypatch):
    whole = order(17, r=0.6)
    at_once = sparse(whole, top_k=3)
    monkeypatch.setattr(module, "_CHUNK_ENTRIES", 40)
    assert torch.equal(sparse(whole, top_k=3).to_dense(), at_once.to_dense())


def test_the_class_itself_stays_among_interchangeable_ones():
    S = sparse(matrix(torch.ones(5, 5)), top_k=1)
    assert torch.equal(S.to_dense().diagonal(), torch.ones(5))
    assert bool(((S.to_dense() > 0).sum(1) == 2).all())


def test_the_identity_has_one_entry_a_row():
    assert sparse(identity(4)).tensors["value"].tolist() == [1, 1, 1, 1]
    assert sparse(identity(4), top_k=2).tensors["value"].tolist() == [1, 1, 1, 1]


def test_tree_and_words_keep_their_names():
    taxonomy = tree(Tree.from_paths(["a/x", "a/y", "b/z"]))
    assert sparse(taxonomy, top_k=1).names == ("x", "y", "z")
    assert sparse(taxonomy, top_k=1).rows([0]).tolist()[0][:2] == pytest.approx(
        [1, 0.3679], abs=1e-4
    )
    assert sparse(words(["rose", "tulip", "truck"], 0.1)).names == ("rose", "tulip", "truck")


def test_bad_input(monkeypatch):
    with pytest.raises(ValueError, match="`top_k` must be at least 1, but got 0"):
        sparse(order(3, 0.5), top_k=0)
    with pytest.raises(ValueError, match="must be of kind 'similarity'"):
        sparse(order(3, 0.5).normalized())
    monkeypatch.setattr(module, "_MOST_ENTRIES", 5)
    with pytest.raises(ValueError, match="must be sparse, but its rows hold more than 5 entries"):
        sparse(order(3, 0.5))
