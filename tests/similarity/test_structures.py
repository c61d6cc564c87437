"""What every similarity keeps to, however it was made."""

import copy

import numpy as np
import pytest
import torch

import simloss
from simloss import Tree
from simloss.similarity import (
    circular,
    confusion,
    cost,
    embedding,
    function,
    geo,
    grid,
    matrix,
    order,
    sparse,
    tree,
    values,
)

NAMES = [f"class {i}" for i in range(6)]
PATHS = ["a/b/1", "a/b/2", "a/3", "c/4", "c/d/e/5", "6"]
VECTORS = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)).double()
ASYMMETRIC = [[0, 3, 1, 2, 5, 4], *([1 + (i * j) % 3 for j in range(6)] for i in range(5))]
for place, row in enumerate(ASYMMETRIC):
    row[place] = 0

STRUCTURES = {
    "circular": lambda: circular(6, r=0.7, names=NAMES),
    "confusion": lambda: confusion(torch.arange(36).reshape(6, 6) % 7 + torch.eye(6) * 9),
    "cost": lambda: cost(ASYMMETRIC, names=NAMES),
    "embedding": lambda: embedding(VECTORS, 0.1, names=NAMES),
    "function": lambda: function(NAMES, lambda a, b: 1.0 if a == b else 0.25),
    "geo": lambda: geo([(0, 10 * i) for i in range(6)], 2000, names=NAMES),
    "grid": lambda: grid(order(2, r=0.5), cost([[0, 1, 2], [3, 0, 4], [5, 6, 0]])),
    "matrix": lambda: matrix(torch.eye(6) * 0.5 + 0.5),
    "order": lambda: order(6, r=0.7, names=NAMES),
    "sparse": lambda: sparse(embedding(VECTORS, names=NAMES), top_k=2),
    "tree": lambda: tree(Tree.from_paths(PATHS), measure="path"),
    "values": lambda: values([0, 1, 1.5, 7, 3, -2], scale=2, names=NAMES),
}


@pytest.fixture(params=sorted(STRUCTURES))
def similarity(request):
    return STRUCTURES[request.param]()


def test_diagonal_is_one_and_values_are_in_range(similarity):
    dense = similarity.to_dense(torch.float64)
    assert dense.shape == (6, 6)
    assert torch.equal(dense.diagonal(), torch.ones(6, dtype=torch.float64))
    assert bool(((dense >= 0) & (dense <= 1)).all())


@pytest.mark.parametrize("target", [3, [1, 4, 1], [[0, 5], [2, 2]]])
@pytest.mark.parametrize("normalized", [False, True])
def test_rows_columns_and_logs_agree(similarity, target, normalized):
    if normalized:
        similarity = similarity.normalized()
    dense = similarity.to_dense(torch.float64)
    target = torch.tensor(target)
    assert torch.allclose(similarity.rows(target, torch.float64), dense[target], atol=1e-12)
    assert torch.allclose(similarity.columns(target, torch.float64), dense.T[target], atol=1e-12)
    logs = similarity.log_rows(target, torch.float64)
    assert torch.allclose(logs.exp(), dense[target], atol=1e-7)


def test_normalized_divides_each_row_by_its_sum(similarity):
    dense = similarity.to_dense(torch.float64)
    normalized = similarity.normalized()
    assert normalized.kind == "probability"
    assert normalized.names == similarity.names
    expected = dense / dense.sum(1, keepdim=True)
    assert torch.allclose(normalized.to_dense(torch.float64), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("loss", "more"),
    [(simloss.sim_loss, 1), (simloss.proper_sim_loss, 1), (simloss.soft_target_loss, 0)],
)
def test_a_normalized_similarity_changes_values_and_no_gradient(similarity, loss, more):
    logits = torch.randn(3, 6, generator=torch.Generator().manual_seed(1)).double()
    target = torch.tensor([0, 3, 5])
    found = []
    for S in (similarity, similarity.normalized()):
        leaf = logits.clone().requires_grad_()
        value = loss(leaf, target, S)
        found.append((value, *torch.autograd.grad(value, leaf)))
    (plain, gradient), (normalized, same) = found
    larger = similarity.rows(target, torch.float64).sum(-1).log().mean()
    assert normalized.item() == pytest.approx((plain + more * larger).item(), abs=1e-6)
    assert torch.allclose(gradient, same, atol=1e-6)


def test_dtype_and_device_are_what_is_asked_for(similarity):
    assert similarity.rows([0], torch.float32).dtype == torch.float32
    assert similarity.log_rows(torch.tensor([0]), torch.float64).dtype == torch.float64
    moved = similarity.with_tensors({k: v.to("meta") for k, v in similarity.tensors.items()})
    assert repr(moved).startswith(similarity.structure)
    assert similarity == copy.deepcopy(similarity)
    assert similarity != order(6, r=0.123)


@pytest.mark.parametrize(
    "loss", [simloss.sim_loss, simloss.proper_sim_loss, simloss.soft_target_loss]
)
def test_a_loss_is_the_same_with_the_stored_matrix(similarity, loss):
    logits = torch.randn(7, 6, generator=torch.Generator().manual_seed(1)).double()
    target = torch.tensor([0, 1, 2, 3, 4, 5, 0])
    stored = loss(logits, target, similarity.to_dense(torch.float64))
    assert torch.allclose(loss(logits, target, similarity), stored, atol=1e-6)


def test_a_module_holds_it(similarity):
    logits = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
    target = torch.tensor([0, 3, 5, 1])
    module = simloss.SimLoss(similarity)
    assert torch.allclose(module(logits, target), simloss.sim_loss(logits, target, similarity))
    assert module.state_dict() == {}


@pytest.mark.parametrize("name", ["grid", "sparse", "tree", "values"])
def test_a_loss_with_it_can_be_compiled(name):
    similarity = STRUCTURES[name]()
    logits = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
    target = torch.tensor([0, 3, 5, 1])
    compiled = torch.compile(simloss.sim_loss, backend="aot_eager")
    plain = simloss.sim_loss(logits, target, similarity)
    assert torch.allclose(compiled(logits, target, similarity), plain, atol=1e-6)


@pytest.mark.parametrize("make", [simloss.similarity.order, simloss.similarity.circular])
@pytest.mark.parametrize("wrong", [[9], [-1], [0.7], [True]])
def test_rows_of_classes_that_are_none(make, wrong):
    S = make(4, 0.5)
    for given in (wrong, np.array(wrong), torch.tensor(wrong)):
        for look_up in (S.rows, S.columns):
            with pytest.raises((ValueError, TypeError), match="`target` must be"):
                look_up(given)
    assert S.rows(torch.tensor([], dtype=torch.long)).shape == (0, 4)  # an empty batch is one


def test_masks_are_not_class_numbers():
    tree = Tree.from_paths(["a/b", "a/c"])
    for mask in (np.array([True, False]), torch.tensor([True, False])):
        with pytest.raises(TypeError, match="must be a whole number"):
            tree.restricted(mask)
    assert (
        simloss.similarity.restricted(
            simloss.similarity.order(3, 0.5), np.array([0, 2])
        ).num_classes
        == 2
    )


def test_cosines_a_rounding_above_one_are_one():
    s = simloss.similarity.matrix(torch.tensor([[1.0000001, 0.5], [0.5, 1.0]]))
    assert s.to_dense().max() == 1


def test_what_else_people_pass():
    dates = np.array(["2024-01-01", "NaT"], dtype="datetime64[D]")
    with pytest.raises(ValueError, match="class 1 has no date"):
        simloss.similarity.values(dates, 30)
    edges = [("a", "b"), ("b", "c")]
    assert simloss.similarity.graph(edges, classes=np.array(["a", "c"])).num_classes == 2
    simloss.similarity.order(5, 0.5).diagnose(uncertainty=np.float32(2))
    with pytest.raises(TypeError, match="must be a list of similarities"):
        simloss.similarity.blended(simloss.similarity.order(3, 0.5))
