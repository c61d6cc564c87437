"""gradcheck and gradgradcheck in float64; the gradient to S and to the target."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from simloss.similarity import matrix, order

C = 4


def double(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def dense(seed=0, zeros=False):
    S = torch.rand(C, C, generator=torch.Generator().manual_seed(seed)).double() * 0.8 + 0.1
    if zeros:
        S[0, 1] = S[2, 3] = S[3, 0] = 0
    return S.fill_diagonal_(1)


OPTIONS = [
    {},
    {"reduction": "none"},
    {"reduction": "sum", "weight": torch.tensor([0.5, 2, 1, 0.1]).double()},
    {"ignore_index": 1},
    {"label_smoothing": 0.2, "weight": torch.tensor([0.5, 2, 1, 0.1]).double()},
    {"cross_entropy_share": 0.3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "default")
@pytest.mark.parametrize("form", ["order", "dense"])
def test_logits(loss_function, form, options):
    S = order(C, 0.6) if form == "order" else dense()
    input = double(5, C).requires_grad_()
    target = torch.tensor([0, 1, 2, 3, 1])

    def loss(input):
        return loss_function(input, target, S, **options)

    assert gradcheck(loss, (input,))
    assert gradgradcheck(loss, (input,))


def test_probability_targets(loss_function):
    input, target = double(3, C).requires_grad_(), double(3, C, seed=1).exp().requires_grad_()

    def loss(input, target):
        return loss_function(input, target, order(C, 0.6), label_smoothing=0.1)

    assert gradcheck(loss, (input, target))
    assert gradgradcheck(loss, (input, target))


@pytest.mark.parametrize("label_smoothing", [0.0, 0.2])
def test_a_learned_similarity(loss_function, label_smoothing):
    input, S = double(3, C).requires_grad_(), dense().requires_grad_()

    def loss(input, S):
        # A finite difference leaves the range that users' matrices are checked for.
        S = S.clone()
        S = S - torch.diag(S.diagonal()) + torch.eye(C).double()
        target = torch.tensor([0, 1, 2])
        return loss_function(input, target, S, label_smoothing=label_smoothing)

    assert gradcheck(loss, (input, S))
    assert gradgradcheck(loss, (input, S))


@pytest.mark.parametrize("label_smoothing", [0.0, 0.2])
def test_the_gradient_to_similarities_of_zero(loss_function, label_smoothing):
    """One-sided differences, because S cannot go below 0."""
    input, target = double(4, C), torch.tensor([0, 1, 2, 3])
    S = dense(zeros=True).requires_grad_()

    def loss(S):
        return loss_function(input, target, S, label_smoothing=label_smoothing)

    gradient = torch.autograd.grad(loss(S), S)[0]
    assert gradient.isfinite().all()
    with torch.no_grad():
        for i, j in ((0, 1), (2, 3), (3, 0), (1, 2)):
            step = torch.zeros(C, C).double()
            step[i, j] = 1e-7
            difference = (loss(S + step) - loss(S)) / 1e-7
            assert gradient[i, j].item() == pytest.approx(difference.item(), rel=1e-4, abs=1e-6)
    tangent = double(C, C, seed=3).abs().fill_diagonal_(0)
    forward = torch.func.jvp(loss, (S.detach(),), (tangent,))[1]
    assert forward.item() == pytest.approx((gradient * tangent).sum().item(), rel=1e-9)


def test_a_similarity_can_be_learned_from_noisy_labels(loss_name, loss_module):
    if loss_name != "sim":
        pytest.skip("forward correction is SimLoss's use")
    generator = torch.Generator().manual_seed(0)
    truth = torch.randint(3, (4000,), generator=generator)
    flipped = torch.rand(4000, generator=generator) < 0.3
    noisy = torch.where(flipped & (truth == 0), 1, truth)
    logits = 8.0 * torch.nn.functional.one_hot(truth, 3).float()
    S = torch.nn.Parameter(torch.full((3, 3), 0.1).fill_diagonal_(1))
    loss = loss_module(S)
    assert list(loss.parameters()) == [S]
    optimizer = torch.optim.SGD(loss.parameters(), lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss(logits, noisy).backward()
        S.grad.fill_diagonal_(0)
        optimizer.step()
        with torch.no_grad():
            S.clamp_(0, 1)
    # The only confusion in the labels: a 1 that is truly a 0.
    assert S[1, 0] > 0.5
    assert S[2, 0] < 0.2


def test_accumulation_and_a_second_backward(loss_function):
    S, input = order(C, 0.6), double(6, C).requires_grad_()
    target = torch.tensor([0, 1, 2, 3, 1, 0])
    whole = torch.autograd.grad(loss_function(input, target, S), input)[0]
    for half in (slice(0, 3), slice(3, 6)):
        loss = loss_function(input[half], target[half], S) / 2
        loss.backward(retain_graph=True)
    assert torch.allclose(input.grad, whole, atol=1e-15)
    loss.backward()
    assert torch.allclose(input.grad[3:], 2 * whole[3:], atol=1e-15)


def test_no_grad_and_inference_mode(loss_function):
    input, target = double(3, C).requires_grad_(), torch.tensor([0, 1, 2])
    with torch.no_grad():
        quiet = loss_function(input, target, order(C, 0.5))
    assert not quiet.requires_grad
    with torch.inference_mode():
        assert loss_function(input, target, matrix(dense())).isfinite()
    assert quiet.item() == loss_function(input, target, order(C, 0.5)).item()
