"""The theorems of docs/mathematics.md, and that `diagnose` says no more than they do."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import expected_proper_loss
from simloss import Tree
from simloss.similarity import (
    blended,
    circular,
    cost,
    embedding,
    graph,
    grid,
    identity,
    matrix,
    order,
    properness,
    sparse,
    tokens,
    tree,
    values,
    words,
)


def complete_bipartite(left, right, s):
    """The graph distance of K_{left, right}, a step having the similarity s."""
    edges = [(f"a{i}", f"b{j}") for i in range(left) for j in range(right)]
    return graph(edges, temperature=-1 / math.log(s))


def any_similarity(C, seed, *, symmetric):
    random = np.random.default_rng(seed)
    s = random.uniform(0.01, 1, (C, C)) ** random.uniform(0.1, 2)
    s = (s + s.T) / 2 if symmetric else s
    np.fill_diagonal(s, 1)
    return s


def second_derivative(S, p, v):
    """v' F''(p) v of F(p) = sum p log S p, by plain loops."""
    C = len(p)
    a = [sum(S[i][k] * p[k] for k in range(C)) for i in range(C)]
    u = [sum(S[i][k] * v[k] for k in range(C)) for i in range(C)]
    return sum(2 * v[i] * u[i] / a[i] - p[i] * (u[i] / a[i]) ** 2 for i in range(C))


@settings(max_examples=60)
@given(st.integers(2, 6), st.integers(0, 10_000), st.booleans())
def test_the_identity_that_the_theorem_rests_on(C, seed, symmetric):
    S = any_similarity(C, seed, symmetric=symmetric)
    if np.linalg.cond(S) > 1e6:
        return
    random = np.random.default_rng(seed + 1)
    p, v = random.dirichlet(np.ones(C)), random.normal(size=C)
    K, a = np.linalg.inv(S), S @ p
    c = (S @ v) / a
    total = 0.0
    for j in range(C):
        total += a[j] * c[j] ** 2 * sum(K[i, j] for i in range(C))
        for i in range(C):
            if i != j:
                total -= K[i, j] * a[j] * (c[i] - c[j]) ** 2
    wanted = second_derivative(S.tolist(), p.tolist(), v.tolist())
    scale = sum(
        abs(K[i, j]) * a[j] * (abs(c[i]) + abs(c[j])) ** 2 for i in range(C) for j in range(C)
    )
    assert total == pytest.approx(wanted, abs=1e-9 * scale)


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(0, 10_000), st.booleans())
def test_the_loops_are_the_second_derivative_of_the_entropy(C, seed, symmetric):
    S = torch.from_numpy(any_similarity(C, seed, symmetric=symmetric))
    random = np.random.default_rng(seed)
    p, v = torch.from_numpy(random.dirichlet(np.ones(C))), random.normal(size=C)
    hessian = torch.autograd.functional.hessian(lambda p: (p * (S @ p).log()).sum(), p)
    wanted = torch.from_numpy(v) @ hessian @ torch.from_numpy(v)
    assert second_derivative(S.tolist(), p.tolist(), v.tolist()) == pytest.approx(float(wanted))


@settings(max_examples=60)
@given(st.integers(2, 6), st.integers(0, 10_000), st.booleans())
def test_the_curvature_between_corners_is_never_below_that_at_them(C, seed, symmetric):
    """The step of the exact criterion: for a fixed c it is concave in p."""
    S = any_similarity(C, seed, symmetric=symmetric)
    if np.linalg.cond(S) > 1e6:
        return
    K, random = np.linalg.inv(S), np.random.default_rng(seed + 1)
    c, p = random.normal(size=C), random.dirichlet(np.ones(C))

    def curvature(p):
        a = S @ p
        v = K @ (a * c)
        return second_derivative(S.tolist(), p.tolist(), v.tolist()) - v.sum() ** 2

    corners = [curvature(corner) for corner in np.eye(C)]
    assert curvature(p) >= p @ corners - 1e-9 * (1 + np.abs(corners).max())


def lowest_sampled_curvature(S, count=300):
    """The lowest second derivative along the simplex that sampling finds, relative to p."""
    C = len(S)
    random = np.random.default_rng(0)
    lowest = math.inf
    for concentration in (0.03, 0.1, 0.3, 1.0):
        p = random.dirichlet(np.full(C, concentration), count) + 1e-9
        p = torch.from_numpy(p / p.sum(1, keepdims=True))
        a = p @ S.T
        first = S / a.unsqueeze(2)
        hessian = first + first.mT - S.T @ ((p / a.square()).unsqueeze(2) * S) - 1
        size = p.sqrt()
        hessian = hessian * size.unsqueeze(2) * size.unsqueeze(1)
        lowest = min(lowest, float(torch.linalg.eigvalsh(hessian).min()))
    return lowest


@settings(max_examples=40)
@given(st.integers(3, 5), st.integers(0, 10_000), st.booleans())
def test_the_verdict_is_that_of_sampling(C, seed, symmetric):
    S = torch.from_numpy(any_similarity(C, seed, symmetric=symmetric))
    found = matrix(S).diagnose()
    lowest = lowest_sampled_curvature(S)
    if lowest < -1e-6:
        assert found.proper is False
    if found.proper:
        assert lowest > -1e-9
    assert found.proper is not None or abs(lowest) < 1e-4


REFUTED = {
    "K33": lambda: complete_bipartite(3, 3, 0.48),
    "K23": lambda: complete_bipartite(2, 3, 0.69),
    "star": lambda: graph([("hub", f"leaf {i}") for i in range(13)], temperature=1 / math.log(2)),
    "path of unequal depths": lambda: tree(
        Tree.from_paths(["hub", *(f"{i}/b/c/d/e/f/g/h/i/leaf {i}" for i in range(40))]),
        temperature=9.5,
        measure="path",
    ),
    "many attributes": lambda: grid(*[order(2, 0.5)] * 8),
    "gaussian": lambda: cost([[(i - j) ** 2 / 8 for j in range(20)] for i in range(20)]),
    "zero between the ends": lambda: matrix([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]]),
    "sparse rows cut short": lambda: sparse(order(1100, 0.9), top_k=10),
    "a block that no sample holds": lambda: sparse(
        torch.block_diag(torch.eye(700), complete_bipartite(3, 3, 0.48).to_dense(), torch.eye(494))
    ),
}


@pytest.mark.parametrize("name", sorted(REFUTED))
def test_what_is_refuted_has_a_better_answer_than_the_truth(name):
    S = REFUTED[name]()
    found = S.diagnose()
    assert found.proper is False
    p, q = found.improper_at, found.better_answer
    assert float(p.sum()) == pytest.approx(1)
    assert float(q.sum()) == pytest.approx(1)
    possible = ((p > 0) | (q > 0)).nonzero().squeeze(1)
    few = S.rows(possible, torch.float64)[:, possible].tolist()
    p, q = p[possible].tolist(), q[possible].tolist()
    itself, other = expected_proper_loss(few, p, p), expected_proper_loss(few, p, q)
    assert other < itself - 5e-11
    assert found.expected_losses == pytest.approx((itself, other), abs=1e-12)
    assert found.properness.startswith("refuted: expected loss ")
    assert f"{other:.8f}" in str(found)


def test_positive_definite_and_a_metric_is_not_enough():
    for S in (complete_bipartite(3, 3, 0.48), complete_bipartite(2, 3, 0.69)):
        found = S.diagnose()
        assert (found.positive_definite, found.triangle, found.proper) == (True, True, False)


def test_a_star_has_room_for_so_many_leaves():
    """n - 1 <= (2 + w + w^2) / (w (1 - w))."""
    for w, most, last in ((0.5, 12, None), (0.3, 12, True), (0.8, 22, True)):  # .5: 11 <= 11
        for leaves, proper in ((most - 1, True), (most, last), (most + 1, False)):
            star = [("hub", f"leaf {i}") for i in range(leaves)]
            assert graph(star, temperature=-1 / math.log(w)).diagnose().proper is proper


def test_a_metric_is_not_needed():
    S = [[1, 0.5, 0.2], [0.5, 1, 0.5], [0.2, 0.5, 1]]
    found = matrix(S).diagnose()
    assert (found.triangle, found.proper) == (False, True)
    assert lowest_sampled_curvature(torch.tensor(S, dtype=torch.float64)) > -1e-12


STAR = [[1, 0.5, 0.5, 0.5], [0.5, 1, 0.25, 0.25], [0.5, 0.25, 1, 0.25], [0.5, 0.25, 0.25, 1]]


@pytest.mark.parametrize("S", [STAR, [[1, 1, 1], [0, 1, 0.5], [0, 0, 1]]])
def test_a_column_sum_of_0_leaves_it_strict(S):
    """Theorem 1, inside the simplex and on its boundary; also with zeros in S."""
    assert np.linalg.inv(S).sum(0).min() == pytest.approx(0)
    assert "S^-1 has no entry above 0" in matrix(S).diagnose().properness
    random = np.random.default_rng(0)
    for size in range(2, len(S) + 1):
        for _ in range(50):
            face = random.choice(len(S), size, replace=False)
            p, v = random.dirichlet(np.ones(size)), random.normal(size=size)
            v = (v - v.mean()) / np.linalg.norm(v - v.mean())
            part = np.array(S)[np.ix_(face, face)]
            assert second_derivative(part.tolist(), p.tolist(), v.tolist()) > 1e-3


PROVED = {
    "order": (lambda: order(5, 0.8), "positions on a line"),
    "many in an order": (lambda: order(10_000, 0.99), "positions on a line"),
    "values, some equal": (lambda: values([3, 0, 1, 1, 7], 2), "positions on a line"),
    "tree": (lambda: tree(Tree.from_paths(["a/b/1", "a/b/2", "a/3", "4"])), "ultrametric"),
    "path of equal depths": (
        lambda: tree(Tree.from_paths(["a/1", "a/2", "b/3"]), measure="path"),
        "ultrametric",
    ),
    "order as a matrix": (lambda: matrix(order(30, 0.9).to_dense(torch.float64)), "S^-1 has no"),
    "tokens": (lambda: tokens({str(i): i for i in range(99)}, 0.9, num_classes=2000), "S^-1 has"),
    "circle": (lambda: circular(24, 0.9), "no negative curvature at any corner, though S^-1 is"),
    "large circle": (lambda: circular(400, 0.99), "no negative curvature at any corner"),
    "blocks": (
        lambda: matrix(torch.block_diag(circular(4, 0.9).to_dense(), torch.ones(2, 2))),
        "no negative curvature",
    ),
}


@pytest.mark.parametrize("name", sorted(PROVED))
def test_what_is_proved_and_by_what(name):
    make, reason = PROVED[name]
    found = make().diagnose()
    assert found.proper is True
    assert reason in found.proper_reason
    assert found.properness == f"proved: {found.proper_reason}"
    assert found.improper_at is found.better_answer is found.expected_losses is None


@settings(max_examples=40)
@given(st.lists(st.floats(-9, 9), min_size=2, max_size=8, unique=True), st.floats(0.2, 5))
def test_the_inverse_of_a_line(positions, scale):
    at = sorted(positions)
    if min(b - a for a, b in pairwise(at)) < 1e-3:
        return
    K = np.linalg.inv(values(at, scale).to_dense(torch.float64).numpy())
    r = [math.exp(-(b - a) / scale) for a, b in pairwise(at)]
    C = len(at)
    for i in range(C):
        for j in range(C):
            if abs(i - j) == 1:
                step = r[min(i, j)]
                assert K[i, j] == pytest.approx(-step / (1 - step**2), rel=1e-6)
            elif i != j:
                assert abs(K[i, j]) < 1e-8 * np.abs(K).max()
    for j in range(1, C - 1):
        wanted = (1 - r[j - 1] * r[j]) / ((1 + r[j - 1]) * (1 + r[j]))
        assert K[:, j].sum() == pytest.approx(wanted, abs=1e-8 * np.abs(K).max())
    assert K[:, 0].sum() == pytest.approx(1 / (1 + r[0]), abs=1e-8 * np.abs(K).max())


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=2, max_size=12),
    st.floats(0.2, 5),
)
def test_the_inverse_of_an_ultrametric_tree(lines, temperature):
    paths = [(*map(str, line), f"class {i}") for i, line in enumerate(lines)]
    S = tree(Tree.from_paths(paths), temperature)
    s = S.to_dense(torch.float64)
    assert properness._inverse_fault(s, [str(i) for i in range(len(s))]) is None


@pytest.mark.parametrize("r", [0.05, 0.5, 0.9, 0.99])
def test_every_circle_up_to_40_classes_is_proved(r):
    for C in range(3, 41):
        assert circular(C, r).diagnose().proper is True


@settings(max_examples=25)
@given(st.integers(3, 5), st.integers(0, 10_000), st.floats(0.05, 0.95))
def test_blending_with_the_identity_keeps_it_proper(C, seed, share):
    S = matrix(any_similarity(C, seed, symmetric=True))
    mixed = blended([S, identity(C)], [1 - share, share]).diagnose()
    assert mixed.proper is True or S.diagnose().proper is not True


def test_enough_of_the_identity_makes_it_proper():
    S = complete_bipartite(3, 3, 0.48)
    assert blended([S, identity(6)], [0.5, 0.5]).diagnose().proper is True


def test_where_not_all_is_looked_at_it_is_unknown(monkeypatch):
    vectors = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))
    S = embedding(vectors, kernel="angle")
    assert S.diagnose().proper is True
    monkeypatch.setattr(properness, "_WORK", 3 * 40**3)
    found = S.diagnose()
    assert found.proper is None
    assert "unknown: no negative curvature at 3 of 40 corners, but S^-1 is" in str(found)
    assert "Whether ProperSimLoss is proper with this S is unknown" in found.advice[-1]


def test_names_are_proved_by_their_angles_and_refuted_by_their_cosines():
    names = "apple bear bed bee bottle boy bus castle cloud crab dolphin fox girl house lamp lion"
    names = (names + " man maple mountain mouse oak orange orchid pear rose sea shark").split()
    for temperature in (0.25, 0.5, 1):
        S = words(names, kernel="angle", temperature=temperature)
        assert S.diagnose().proper is True
    for lower_bound in (0.2, 0.4):
        assert words(names, lower_bound).diagnose().proper is False


def test_of_a_sample_nothing_is_proved():
    vectors = torch.randn(1100, 5, generator=torch.Generator().manual_seed(0))
    found = embedding(vectors, kernel="angle").diagnose()
    assert found.proper is None
    assert "of 1,100 classes" in found.proper_reason
    assert circular(1100, 0.9).diagnose().proper is None


def test_a_diagonal_that_is_off_by_a_rounding_is_1():
    S = circular(8, 0.9).to_dense(torch.float64)
    assert matrix(S - 1e-7 * torch.eye(8)).diagnose().proper is True


def test_of_zeros_on_one_side_only_it_says_that_it_does_not_know():
    S = matrix([[1, 0.7, 0.2], [0, 1, 0.7], [0, 0, 1]])
    found = S.diagnose()
    assert found.proper is None
    assert "not symmetric and has zeros" in found.proper_reason


def test_interchangeable_classes_do_not_hide_a_proof():
    vectors = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    twice = torch.cat([vectors, vectors[:3]])
    S = torch.exp(-(twice.unsqueeze(1) - twice).norm(dim=2) / 2)
    found = matrix(S).diagnose()
    assert len(found.interchangeable) == 3
    assert found.proper is True


def test_of_classes_that_are_the_same_one_counts():
    S = matrix(values([3, 0, 1, 1, 7], 2).to_dense(torch.float64))
    assert S.diagnose().properness.startswith("proved: S^-1 has no entry above 0")


def test_what_rounding_hides_is_not_proved():
    """In 60 digits the lowest curvature of this Gaussian kernel, scaled, is -2.04e-12."""
    S = cost([[(i - j) ** 2 / 1000 for j in range(6)] for i in range(6)])
    found = S.diagnose()
    assert found.proper is None
    assert "is 0 up to rounding" in found.proper_reason


def test_what_is_too_faint_for_an_example_stays_unknown():
    S = [[1, 1e-4, 0], [1e-4, 1, 1e-4], [0, 1e-4, 1]]
    found = matrix(S).diagnose()
    assert found.proper is None
    assert "is negative, but no example was found" in found.proper_reason
