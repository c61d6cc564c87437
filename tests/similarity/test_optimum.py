import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import embedding, order
from simloss.similarity.optimum import sim_loss_optimum


def loss(S, p, q):
    return -(p * (q @ S.T).log()).sum(1)


def by_small_steps(S, p, steps=4000):
    """Expectation maximisation: slow, but nothing can go wrong."""
    q = torch.full_like(p, 1 / p.shape[1])
    for _ in range(steps):
        q = q * ((p / (q @ S.T)) @ S)
    return q


def bell(C, width):
    x = torch.arange(C).double()
    p = (-((x - C // 2) ** 2) / (2 * width**2)).exp()
    return (p / p.sum()).unsqueeze(0)


@given(st.integers(2, 9), st.integers(0, 9999), st.booleans())
def test_no_other_answer_is_better(C, seed, ordered):
    generator = torch.Generator().manual_seed(seed)
    S = order(C, r=0.7) if ordered else embedding(torch.randn(C, 3, generator=generator).double())
    S = S.to_dense(torch.float64)
    p = torch.rand(5, C, generator=generator).double() + 1e-3
    p = p / p.sum(1, keepdim=True)
    q = sim_loss_optimum(S, p)
    assert torch.allclose(q.sum(1), torch.ones(5).double())
    assert bool((q >= 0).all())
    # The conditions of a minimum on the simplex: no class would pay more than those in use.
    pays = (p / (q @ S.T)) @ S
    assert float(pays.max()) < 1 + 1e-6
    assert torch.allclose(pays[q > 0], torch.ones(int((q > 0).sum())).double(), atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_small_steps(seed):
    generator = torch.Generator().manual_seed(seed)
    S = embedding(torch.randn(6, 4, generator=generator).double()).to_dense(torch.float64)
    p = torch.rand(4, 6, generator=generator).double()
    p = p / p.sum(1, keepdim=True)
    best, slow = sim_loss_optimum(S, p), by_small_steps(S, p)
    assert torch.allclose(loss(S, p, best), loss(S, p, slow), atol=1e-5)
    assert bool((loss(S, p, best) <= loss(S, p, slow) + 1e-9).all())
    assert bool((slow[best == 0] < 0.02).all())


@given(st.floats(0.05, 0.95), st.floats(0.02, 0.98))
def test_of_two_classes_the_rarer_vanishes_once_the_odds_fall_to_s(s, p):
    S = torch.tensor([[1.0, s], [s, 1.0]]).double()
    q = sim_loss_optimum(S, torch.tensor([[1 - p, p]]).double())[0, 1].item()
    # Where the derivative of -(1 - p) log(1 - q + s q) - p log(s (1 - q) + q) is 0.
    interior = (p - (1 - p) * s) / (1 - s)
    assert q == pytest.approx(min(1.0, max(0.0, interior)), abs=1e-5)


@pytest.mark.parametrize(("width", "r"), [(1, 0.43), (2, 0.67), (4, 0.82), (8, 0.90)])
def test_of_a_bell_the_answer_is_one_hot_from_some_r_on(width, r):
    p = bell(101, width)
    below = sim_loss_optimum(order(101, r - 0.02).to_dense(torch.float64), p)
    above = sim_loss_optimum(order(101, r + 0.02).to_dense(torch.float64), p)
    assert int((above > 0).sum()) == 1
    assert int((below > 0).sum()) > 1


def test_each_posterior_may_have_its_own_similarity():
    both = torch.stack([order(4, r).to_dense(torch.float64) for r in (0.2, 0.8)])
    p = torch.tensor([[0.1, 0.2, 0.3, 0.4]] * 2).double()
    together = sim_loss_optimum(both, p)
    for S, q in zip(both, together, strict=True):
        assert torch.allclose(sim_loss_optimum(S, p[:1])[0], q)


def test_with_the_identity_it_is_the_posterior_itself():
    p = torch.tensor([[0.5, 0.3, 0.2, 0.0]]).double()
    assert torch.allclose(sim_loss_optimum(torch.eye(4), p), p, atol=1e-7)
    assert math.isclose(float(sim_loss_optimum(torch.eye(4), p).sum()), 1)
