import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import confusion, disagreement

counts = st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=3)


@given(counts, st.floats(0.1, 5))
def test_formula(n, smoothing):
    P = [
        [(n[i][j] + smoothing) / sum(x + smoothing for x in n[i]) for j in range(3)]
        for i in range(3)
    ]
    noise = confusion(n, kind="probability", smoothing=smoothing)
    assert noise.kind == "probability"
    assert torch.allclose(noise.to_dense(), torch.tensor(P, dtype=torch.float64))
    S = confusion(n, smoothing=smoothing).to_dense()
    assert torch.equal(S.diagonal(), torch.ones(3, dtype=torch.float64))
    for i in range(3):
        for j in range(3):
            ratio = math.sqrt(P[i][j] * P[j][i] / (P[i][i] * P[j][j]))
            assert S[i, j].item() == pytest.approx(min(1.0, ratio))


@given(counts, st.permutations(range(3)))
def test_follows_a_permutation(n, place):
    moved = [[n[i][j] for j in place] for i in place]
    S = confusion(n).to_dense()
    assert torch.allclose(confusion(moved).to_dense(), S[place][:, place])
    assert torch.allclose(S, S.T)


def test_more_confusion_is_more_similar():
    few, many = (confusion([[50, k], [k, 50]]).to_dense()[0, 1] for k in (2, 20))
    assert few < many


def test_disagreement_counts_ordered_pairs_of_annotators():
    annotations = [[0, 2, 2], [1, 1, -1], [-1, -1, 0]]
    expected = torch.zeros(3, 3, dtype=torch.float64)
    for row in annotations:
        for a, first in enumerate(row):
            for b, second in enumerate(row):
                if a != b and first >= 0 and second >= 0:
                    expected[first, second] += 1
    assert torch.equal(disagreement(annotations, 3), expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: confusion([[1, 0], [0, 0]], smoothing=0), "class 1 was never seen"),
        (lambda: confusion([[1, 0], [3, 0]], smoothing=0), "class 1 was never taken for itself"),
        (lambda: confusion([[1, -2], [3, 0]]), "at least 0, but got -2 in row 0, column 1"),
        (lambda: confusion([[1, math.nan], [3, 0]]), "must be finite"),
        (lambda: confusion([[1, 2], [3, 0]], smoothing=-1), "`smoothing` must be a finite number"),
        (lambda: confusion([[1, 2], [3, 0]], kind="prob"), "`kind` must be one of"),
        (lambda: disagreement("a", 2), "`annotations` must be class indices, but got str"),
        (lambda: disagreement([0, 1], 2), r"must have shape \(N, A\)"),
        (lambda: disagreement([[0, 5]], 2), r"must be in \[0, 2\), but got 5"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
