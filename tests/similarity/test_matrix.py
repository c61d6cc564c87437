import numpy as np
import pytest
import torch

from simloss.similarity import Similarity, as_similarity, matrix

S = [[1.0, 0.25], [0.5, 1.0]]


@pytest.mark.parametrize("values", [S, np.array(S), torch.tensor(S, dtype=torch.float64)])
def test_takes_lists_arrays_and_tensors(values):
    similarity = matrix(values, names=["a", "b"])
    assert isinstance(similarity, Similarity)
    assert similarity.to_dense().dtype == torch.float64
    assert similarity.to_dense().tolist() == S
    assert similarity.rows([1]).tolist() == [[0.5, 1.0]]
    assert similarity.columns([1]).tolist() == [[0.25, 1.0]]
    assert repr(similarity) == "matrix(2 classes)"


def test_integers_and_half_precision_are_widened():
    assert matrix([[1, 0], [0, 1]]).to_dense().dtype == torch.float64
    assert matrix(torch.eye(2, dtype=torch.int32)).to_dense().dtype == torch.float64
    assert matrix(torch.eye(2, dtype=torch.bfloat16)).to_dense().dtype == torch.float32


def test_is_a_copy_unless_it_is_learned():
    values = torch.eye(2)
    similarity = matrix(values)
    values[0, 1] = 0.5
    assert similarity.to_dense()[0, 1] == 0
    learned = torch.eye(2, requires_grad=True)
    assert matrix(learned).tensors["matrix"] is learned


def test_interchangeable_classes_are_allowed():
    assert matrix([[1, 1], [1, 1]]).to_dense().min() == 1


def test_normalized():
    normalized = matrix(S).normalized()
    assert normalized.kind == "probability"
    assert normalized.to_dense().sum(1).tolist() == pytest.approx([1, 1])
    assert normalized.to_dense()[1].tolist() == pytest.approx([1 / 3, 2 / 3])


def test_cost_of_an_asymmetric_matrix():
    cost = matrix(S).cost()
    assert cost[0, 1].item() == pytest.approx(1.386294, rel=1e-6)
    assert cost[1, 0].item() == pytest.approx(0.693147, rel=1e-6)


def test_a_similarity_is_taken_as_it_is():
    similarity = matrix(S)
    assert as_similarity(similarity) is similarity


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, 0.5]], r"must be square, .* but got shape \(1, 2\)"),
        (torch.ones(3), r"must be square, .* but got shape \(3,\)"),
        (torch.ones(0, 0), "must be square"),
        ([[1, float("nan")], [0, 1]], "must not be NaN, but got nan in row 0, column 1"),
        ([[1, -0.1], [0, 1]], "must be at least 0, but got -0.1 in row 0, column 1"),
        ([[1, 0], [1.5, 1]], "must be at most 1, but got 1.5 in row 1, column 0"),
        ([[1, 0], [0, 0.9]], "must have 1 on its diagonal, but got 0.9 at class 1"),
    ],
)
def test_bad_values(values, message):
    for make in (matrix, as_similarity):
        with pytest.raises(ValueError, match=message):
            make(values)


@pytest.mark.parametrize("values", ["order", None, [[1, 0], [1]], torch.eye(2, dtype=torch.cfloat)])
def test_what_is_no_matrix(values):
    with pytest.raises(TypeError, match="`similarity` must"):
        matrix(values)


def test_kind_probability():
    assert matrix([[0.9, 0.1], [0.2, 0.8]], kind="probability").kind == "probability"
    with pytest.raises(ValueError, match="rows that sum to 1, but row 0 sums to 1.25"):
        matrix(S, kind="probability")
    with pytest.raises(ValueError, match="`kind` must be one of 'similarity', 'probability'"):
        matrix(S, kind="distance")


def test_a_sparse_tensor_is_a_matrix():
    assert matrix(torch.tensor(S).to_sparse()) == matrix(torch.tensor(S))
