import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from reference import expected_proper_loss
from simloss import Tree
from simloss.similarity import (
    circular,
    confusion,
    cost,
    diagnose,
    embedding,
    geo,
    identity,
    matrix,
    order,
    tree,
    values,
)
from simloss.similarity.optimum import sim_loss_optimum


def best_answer(S, p, starts=6):
    """The lowest expected proper loss that numerical optimisation finds, and where."""
    random = np.random.default_rng(0)

    def of_logits(z):
        q = np.exp(z - z.max())
        return expected_proper_loss(S, p, (q / q.sum()).tolist())

    tries = [minimize(of_logits, random.normal(0, 2, len(p)), method="BFGS") for _ in range(starts)]
    return min(tries, key=lambda one: one.fun)


PROPER = {
    "order": lambda: order(5, r=0.8),
    "circular": lambda: circular(5, r=0.6),
    "values": lambda: values([0, 1, 5, 5.5], 2),
    "geo": lambda: geo([(0, 0), (10, 5), (20, -60), (80, 0)], 3000),
    "tree": lambda: tree(Tree.from_paths(["a/b/1", "a/b/2", "a/3", "4"])),
    "angle": lambda: embedding(
        torch.tensor([[1.0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 2]]), kernel="angle"
    ),
    "identity": lambda: identity(4),
}


@pytest.mark.parametrize("name", sorted(PROPER))
def test_where_it_says_proper_the_posterior_is_the_best_answer(name):
    S = PROPER[name]()
    found = S.diagnose()
    assert found.proper is True
    dense = S.to_dense(torch.float64).tolist()
    random = np.random.default_rng(1)
    for _ in range(3):
        p = random.dirichlet(np.ones(S.num_classes)).tolist()
        assert best_answer(dense, p).fun >= expected_proper_loss(dense, p, p) - 1e-7


IMPROPER = {
    "gaussian": lambda: matrix(
        [[math.exp(-((i - j) ** 2) / 4) for j in range(4)] for i in range(4)]
    ),
    "cosine": lambda: embedding(torch.tensor([[1.0, 0], [0.7, 0.7], [0, 1]])),
    "not definite": lambda: matrix([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]]),
}


@pytest.mark.parametrize("name", sorted(IMPROPER))
def test_where_it_says_not_proper_there_is_a_better_answer(name):
    S = IMPROPER[name]()
    found = diagnose(S)
    assert found.proper is False
    dense = S.to_dense(torch.float64).tolist()
    p, q = found.improper_at.tolist(), found.better_answer.tolist()
    assert sum(p) == pytest.approx(1)
    assert sum(q) == pytest.approx(1)
    assert min(*p, *q) >= 0
    assert expected_proper_loss(dense, p, q) < expected_proper_loss(dense, p, p) - 1e-9
    assert any("not proper" in sentence for sentence in found.advice)


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(0, 999))
def test_triangle_and_definiteness_by_loops(C, seed):
    values = torch.rand(C, C, generator=torch.Generator().manual_seed(seed)).double() ** 0.5
    values = ((values + values.T) / 2).fill_diagonal_(1)
    found = matrix(values).diagnose()
    S = values.tolist()
    broken = [
        (S[i][j] * S[j][k] - S[i][k], (i, j, k))
        for i in range(C)
        for j in range(C)
        for k in range(C)
        if S[i][j] * S[j][k] > S[i][k] * (1 + 1e-5)
    ]
    assert found.triangle == (not broken)
    if broken:
        i, j, k = found.worst_triangle
        assert S[i][j] * S[j][k] - S[i][k] == pytest.approx(max(broken)[0])
    assert found.smallest_eigenvalue == pytest.approx(float(np.linalg.eigvalsh(values.numpy())[0]))
    assert found.positive_definite == (found.smallest_eigenvalue > 1e-9 * C)


@given(st.integers(2, 7), st.floats(0.05, 0.95), st.integers(0, 99))
@settings(max_examples=30)
def test_effective_classes_and_nearest_by_loops(C, r, seed):
    prior = np.random.default_rng(seed).integers(1, 9, C).tolist()
    S = order(C, r).to_dense(torch.float64).tolist()
    found = order(C, r).diagnose(prior)
    p = [count / sum(prior) for count in prior]
    log = sum(p[i] * math.log(sum(S[i][j] * p[j] for j in range(C))) for i in range(C))
    assert found.effective_classes == pytest.approx(math.exp(-log))
    for i in range(C):
        best = max(S[i][j] for j in range(C) if j != i)
        assert found.nearest_similarity[i] == pytest.approx(best)
        assert S[i][found.nearest[i]] == pytest.approx(best)
    off = [S[i][j] for i in range(C) for j in range(C) if i != j]
    assert found.mean_similarity == pytest.approx(sum(off) / len(off))
    assert found.density == 1


def test_vanishing_classes_by_optimising_each_posterior():
    C, width, prior = 9, 1.5, [1, 9, 1, 1, 1, 9, 1, 1, 1]
    S = order(C, r=0.85)
    found = S.diagnose(prior, uncertainty=width)
    largest = [0.0] * C
    dense = S.to_dense(torch.float64)
    for y in range(C):
        p = [prior[c] * math.exp(-((y - c) ** 2) / (2 * width**2)) for c in range(C)]
        p = torch.tensor(p).double() / sum(p)

        def of_logits(z, p=p):
            z = torch.tensor(z, requires_grad=True)
            value = -(p * (dense @ z.softmax(0)).log()).sum()
            value.backward()
            return value.item(), z.grad.numpy()

        best = minimize(of_logits, np.zeros(C), jac=True, method="BFGS", options={"gtol": 1e-9})
        q = torch.tensor(best.x).softmax(0).tolist()
        largest = [max(a, b) for a, b in zip(largest, q, strict=True)]
    assert found.vanishing == tuple(c for c in range(C) if largest[c] < 1e-3)
    assert 0 < len(found.vanishing) < C
    assert f"never answer {len(found.vanishing)} of the 9 classes" in found.advice[-1]


def test_posteriors_can_be_given():
    S = order(3, r=0.9)
    posteriors = [[6, 3, 1], [6, 3, 1], [1, 3, 6]]
    found = S.diagnose(uncertainty=posteriors)
    p = torch.tensor(posteriors).double() / 10
    q = sim_loss_optimum(S.to_dense(torch.float64), p)
    assert found.vanishing == tuple((q.amax(0) == 0).nonzero().squeeze(1).tolist())
    assert found.uncertainty is None
    assert found.answered == float((q > 0).sum(1).double().mean())


def test_a_class_that_never_occurs_does_not_vanish():
    assert 1 not in order(3, r=0.9).diagnose([1, 0, 1], uncertainty=2).vanishing


def test_interchangeable_classes_are_named():
    S = matrix([[1, 1, 0.2], [1, 1, 0.2], [0.2, 0.2, 1]], names=["sofa", "couch", "truck"])
    found = S.diagnose()
    assert found.interchangeable == ((0, 1),)
    assert not found.positive_definite
    assert "'sofa' and 'couch' are interchangeable" in found.advice[0]


def test_an_asymmetric_cost():
    found = cost([[0, 5, 2], [1, 0, 1], [0.5, 1, 0]]).diagnose()
    assert not found.symmetric
    assert any(sentence.startswith("S is not symmetric") for sentence in found.advice)


def test_probabilities_are_not_asked_what_only_similarities_can_answer():
    found = confusion([[8, 2], [1, 9]], kind="probability").diagnose()
    assert (found.triangle, found.proper, found.effective_classes) == (None, None, None)
    assert "does not apply to probabilities" in str(found)
    assert "proper loss" not in str(found)


def test_it_says_which_kernel_would_do():
    vectors = torch.tensor([[1.0, 0], [0.7, 0.7], [0, 1]])
    assert "With kernel='angle' and the same vectors it usually is." in str(
        embedding(vectors).diagnose()
    )
    bounded = embedding(vectors, 0.45).diagnose()
    assert "With kernel='angle' and lower_bound=0" in str(bounded)


def test_the_table_reads_well():
    text = str(order(3, r=0.5, names=["low", "middle", "high"]).diagnose())
    lines = text.splitlines()
    assert lines[0] == "order(3 classes, r=0.5)"
    assert any("positive definite" in line and "yes" in line for line in lines)
    assert "low - middle 0.5" in text
    assert max(len(line) for line in lines[: lines.index("What to do")]) <= 100
    assert "plain cross entropy" in str(identity(4).diagnose())
    assert "learn very little" in str(order(5, r=0.99).diagnose())


def test_of_many_classes_some_are_looked_at():
    found = order(3000, r=0.8).diagnose()
    assert found.sampled == 256
    assert "(a sample of 256 of 3,000 classes)" in str(found)
    assert found.proper is True
    assert len(found.nearest) == 256
    assert found.vanishing_of == 16
    # Away from the ends all classes are alike, so the sample says what all would.
    ordinary = (1 + 0.8) / (1 - 0.8) / 3000
    assert found.effective_classes == pytest.approx(1 / ordinary, rel=0.01)


def test_of_many_vectors_sparse_rows_are_recommended():
    vectors = torch.randn(1100, 8, generator=torch.Generator().manual_seed(0))
    assert "sparse(S, top_k=...)" in embedding(vectors, 0.5).diagnose().advice[-1]


def test_of_some_hundred_classes_posteriors_are_cut_to_their_neighbours():
    found = order(200, r=0.5).diagnose()
    assert found.sampled is None
    assert found.vanishing == ()
    assert found.answered == pytest.approx(1, abs=0.2)


def test_a_learned_similarity_can_be_looked_at():
    learned = matrix(torch.nn.Parameter(torch.eye(3) * 0.5 + 0.5))
    assert learned.diagnose().symmetric
    assert len(learned.figure(order="clustered").data[0].z) == 3
    assert len(learned.sketch().splitlines()) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: order(1, 0.5).diagnose(), "at least 2 classes to be diagnosed, but has 1"),
        (lambda: order(10**7, 0.5).diagnose(), "at most 1,000,000 .* but has 10,000,000; diagnose"),
        (lambda: order(3, 0.5).diagnose([1, 2]), r"each of the 3 classes, but got shape \(2,\)"),
        (lambda: order(3, 0.5).diagnose([1, 2, -1]), "`prior` must be at least 0, but got -1"),
        (lambda: order(3, 0.5).diagnose([0, 0, 0]), "must have an entry above 0, but all are 0"),
        (lambda: order(3, 0.5).diagnose([1, 2, math.nan]), "`prior` must be finite"),
        (lambda: order(3, 0.5).diagnose(uncertainty=0), "`uncertainty` must be a finite number"),
        (lambda: order(3, 0.5).diagnose(uncertainty=[[1, 0]]), "`uncertainty` must be square"),
        (lambda: order(3, 0.5).diagnose(uncertainty=np.eye(2)), "as many classes as `similarity`"),
        (lambda: order(2, 0.5).diagnose(uncertainty=[[0, 0], [0, 1]]), "but row 0 is all 0"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
