import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import embedding, identity


def reference(vectors, lower_bound, kernel, temperature):
    def cosine(a, b):
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        return max(-1.0, min(1.0, dot / math.hypot(*a) / math.hypot(*b)))

    C = len(vectors)
    S = [[1.0] * C for _ in range(C)]
    for i in range(C):
        for j in range(C):
            if i != j:
                c = cosine(vectors[i], vectors[j])
                sim = max(0.0, c) if kernel == "cosine" else math.exp(-math.acos(c) / temperature)
                S[i][j] = max(0.0, sim - lower_bound) / (1 - lower_bound)
    return S


def vectors_of(count, seed=0):
    return torch.randn(count, 4, generator=torch.Generator().manual_seed(seed)).double()


@given(
    seed=st.integers(0, 99),
    lower_bound=st.floats(0, 0.99),
    kernel=st.sampled_from(["cosine", "angle"]),
    temperature=st.floats(0.1, 10),
)
def test_is_the_papers_equation_3(seed, lower_bound, kernel, temperature):
    vectors = vectors_of(5, seed)
    temperature = temperature if kernel == "angle" else 1.0
    S = embedding(vectors, lower_bound, kernel, temperature=temperature).to_dense(torch.float64)
    expected = torch.tensor(reference(vectors.tolist(), lower_bound, kernel, temperature))
    assert torch.allclose(S, expected.double(), atol=1e-6)
    assert torch.equal(S.diagonal(), torch.ones(5).double())


def test_lower_bound_near_one_leaves_the_identity():
    assert embedding(vectors_of(6), lower_bound=0.999999) == identity(6)


def test_length_of_the_vectors_does_not_matter():
    vectors = vectors_of(4)
    scaled = vectors * torch.tensor([1e-300, 1e300, 1, 7], dtype=torch.float64).unsqueeze(1)
    assert torch.allclose(embedding(vectors).to_dense(), embedding(scaled).to_dense())


def test_keeps_vectors_not_a_matrix():
    S = embedding(torch.randn(20000, 2))
    assert max(tensor.numel() for tensor in S.tensors.values()) == 40000
    assert S.rows([3, 5]).shape == (2, 20000)


def test_normalized_matches_division():
    S = embedding(vectors_of(7), lower_bound=0.2)
    dense = S.to_dense(torch.float64)
    expected = dense / dense.sum(1, keepdim=True)
    normalized = S.normalized()
    assert torch.allclose(normalized.to_dense(torch.float64), expected)
    assert torch.allclose(normalized.columns(torch.arange(7), torch.float64), expected.T)


def test_repr_says_what_it_is():
    assert repr(embedding(vectors_of(3), 0.25)) == (
        "embedding(3 classes, 4 dimensions, cosine kernel, lower_bound=0.25)"
    )
    assert repr(embedding(vectors_of(3), kernel="angle", temperature=2)) == (
        "embedding(3 classes, 4 dimensions, angle kernel, temperature=2)"
    )


def test_bad_input():
    with pytest.raises(ValueError, match="zero vector, .* but the vector of class 1 is zero"):
        embedding([[1, 0], [0, 0]])
    with pytest.raises(ValueError, match="must be finite, but the vector of class 0 is not"):
        embedding([[1, float("nan")], [0, 1]])
    with pytest.raises(ValueError, match=r"shape \(C, D\), .* but got shape \(2,\)"):
        embedding([1, 2])
    with pytest.raises(ValueError, match=r"`lower_bound` must be in \[0, 1\), but got 1.0"):
        embedding([[1, 0]], lower_bound=1)
    with pytest.raises(ValueError, match="`kernel` must be one of 'cosine', 'angle', but got 'rb"):
        embedding([[1, 0]], kernel="rbf")
    with pytest.raises(ValueError, match="`temperature` must be a finite number above 0"):
        embedding([[1, 0]], kernel="angle", temperature=0)


def test_a_temperature_without_its_kernel_is_not_ignored():
    with pytest.raises(
        ValueError, match=r"`temperature` must be used with kernel='angle'.* got 0\.5"
    ):
        embedding([[1, 0], [1, 1]], temperature=0.5)
