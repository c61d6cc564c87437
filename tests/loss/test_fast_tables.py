"""Rows of logits that have a row of S, or an S, of their own: a loop over the losses."""

import pytest
import torch

import simloss
from simloss.loss.fused.tables import proper_batch, sim_rows, soft_target_rows
from simloss.similarity import order

T, N, C = 3, 5, 7
RATES = (0.0, 0.4, 0.9)
STACK = torch.stack([order(C, r).to_dense(torch.float64) for r in RATES])
LOG_STACK = torch.stack([order(C, r).log_rows(torch.arange(C), torch.float64) for r in RATES])


def logits_and_target(spread, seed=0):
    generator = torch.Generator().manual_seed(seed)
    z = spread * torch.randn(T, N, C, generator=generator, dtype=torch.float64)
    return z, torch.randint(C, (T, N), generator=generator)


def loop(loss, z, y, scale, rates=RATES):
    """Losses (T, N) and gradient (T, N, C), one batch at a time."""
    losses, gradients = [], []
    for t, r in enumerate(rates):
        leaf = z[t].clone().requires_grad_()
        each = loss(leaf, y[t], order(z.shape[2], r), reduction="none")
        gradients.append(torch.autograd.grad(each, leaf, scale[t])[0])
        losses.append(each.detach())
    return torch.stack(losses), torch.stack(gradients)


@pytest.mark.parametrize("spread", [1.0, 500.0])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
class TestTables:
    def check(self, found, expected, dtype):
        tolerance = 1e-11 if dtype == torch.float64 else 2e-5
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.dtype == dtype
            theirs = theirs.reshape(ours.shape).to(dtype)
            assert torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance)

    def test_sim_rows(self, spread, dtype):
        z, y = logits_and_target(spread)
        z = z.to(dtype).double()
        scale = torch.rand(T, N, dtype=torch.float64)
        row = (torch.arange(T).unsqueeze(1) * C + y).reshape(-1)
        found = sim_rows(
            z.reshape(-1, C).to(dtype),
            STACK.reshape(-1, C).to(dtype),
            row,
            log_table=LOG_STACK.reshape(-1, C).to(dtype),
            scale=scale.reshape(-1).to(dtype),
        )
        self.check(found, loop(simloss.sim_loss, z, y, scale), dtype)

    def test_soft_target_rows(self, spread, dtype):
        z, y = logits_and_target(spread)
        z = z.to(dtype).double()
        row = (torch.arange(T).unsqueeze(1) * C + y).reshape(-1)
        found = soft_target_rows(
            z.reshape(-1, C).to(dtype), STACK.reshape(-1, C).to(dtype), row, scale=0.5
        )
        half = torch.full((T, N), 0.5, dtype=torch.float64)
        self.check(found, loop(simloss.soft_target_loss, z, y, half), dtype)

    def test_proper_batch(self, spread, dtype):
        z, y = logits_and_target(spread)
        z = z.to(dtype).double()
        scale = torch.rand(T, N, dtype=torch.float64)
        found = proper_batch(
            z.to(dtype),
            y,
            STACK.to(dtype),
            log_similarity=LOG_STACK.to(dtype),
            scale=scale.to(dtype),
        )
        self.check(found, loop(simloss.proper_sim_loss, z, y, scale), dtype)


def test_similarities_too_small_for_their_dtype():
    """0.1^60 is 0 in float32; its logarithm is not."""
    S, y, z = order(61, 0.1), torch.tensor([[60]]), torch.zeros(1, 1, 61)
    z[0, 0, 0] = 1e4
    log_rows = S.log_rows(torch.arange(61), torch.float32)
    expected = simloss.sim_loss(z[0], y[0], S).item()
    dense = S.to_dense()
    losses, _ = sim_rows(z[0], dense, y[0], log_table=log_rows)
    assert losses.item() == pytest.approx(expected, rel=3e-6)
    losses, _ = proper_batch(z, y, dense[None], log_similarity=log_rows[None])
    assert losses.item() == pytest.approx(simloss.proper_sim_loss(z[0], y[0], S).item(), rel=3e-6)


def test_impossible_classes():
    z = torch.tensor([[float("-inf"), 0.0, 1.0]])
    losses, gradient = sim_rows(z, torch.eye(3), torch.tensor([0]))
    assert losses.item() == float("inf")
    assert torch.allclose(gradient, z.softmax(-1) - torch.eye(3)[0])
    losses, gradient = proper_batch(z[None], torch.tensor([[0]]), torch.eye(3)[None])
    assert losses.item() == float("inf")
    assert torch.allclose(gradient[0], z.softmax(-1) - torch.eye(3)[0])


def test_a_matrix_that_is_not_symmetric():
    generator = torch.Generator().manual_seed(3)
    S = torch.rand(2, C, C, generator=generator, dtype=torch.float64)
    S.diagonal(dim1=1, dim2=2).fill_(1)
    z, y = (each[:2] for each in logits_and_target(2.0))
    losses, gradient = proper_batch(z, y, S)
    for t in range(2):
        leaf = z[t].clone().requires_grad_()
        expected = simloss.proper_sim_loss(leaf, y[t], S[t], reduction="none")
        assert torch.allclose(losses[t], expected)
        assert torch.allclose(gradient[t], torch.autograd.grad(expected.sum(), leaf)[0])


def test_more_rows_than_are_taken_at_once():
    z = torch.randn(3000, 400, generator=torch.Generator().manual_seed(0))
    row = torch.randint(400, (3000,))
    S = order(400, 0.5)
    losses, gradient = sim_rows(z, S.to_dense(), row)
    leaf = z.clone().requires_grad_()
    expected = simloss.sim_loss(leaf, row, S, reduction="none")
    assert torch.allclose(losses, expected, rtol=1e-5, atol=1e-6)
    assert torch.allclose(gradient, torch.autograd.grad(expected.sum(), leaf)[0], atol=1e-6)
