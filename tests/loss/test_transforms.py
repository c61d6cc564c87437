"""torch.compile, torch.func and torch.export."""

import pytest
import torch
from benchmarks.speed.operations import counted
from torch import nn

from simloss import ProperSimLoss, SimLoss
from simloss.similarity import embedding, identity, order, sparse

C = 5
INPUT = torch.randn(6, C, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
TARGET = torch.tensor([0, 1, 2, -100, 4, 1])
FORMS = {
    "order": order(C, 0.7),
    "dense": torch.rand(C, C).fill_diagonal_(1),
    "embedding": embedding(torch.randn(C, 3)),
    "normalised": order(C, 0.7).normalized(),
    "sparse": sparse(torch.rand(C, C).fill_diagonal_(1), top_k=2),
}


@pytest.mark.parametrize("form", FORMS)
def test_compile_in_one_graph(loss_module, form):
    torch._dynamo.reset()
    loss = loss_module(FORMS[form], weight=torch.rand(C), label_smoothing=0.1)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    a, b = INPUT.clone().requires_grad_(), INPUT.clone().requires_grad_()
    loss(a, TARGET).backward()
    compiled(b, TARGET).backward()
    assert torch.allclose(a.grad, b.grad, atol=1e-12)


def test_compile_for_real(loss_module):
    """Inductor, the compiler users get."""
    torch._dynamo.reset()
    loss = loss_module(order(C, 0.7))
    compiled = torch.compile(loss, fullgraph=True)
    input = INPUT.float()
    assert compiled(input, TARGET).item() == pytest.approx(loss(input, TARGET).item(), rel=1e-5)


def test_a_schedule_does_not_compile_again(loss_module):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    loss = loss_module(order(C, 0.9))
    compiled = torch.compile(loss, fullgraph=True, backend=counter)
    for step in range(6):
        loss.set_similarity(order(C, 0.9 * (1 - step / 5)))
        assert compiled(INPUT, TARGET).item() == pytest.approx(loss(INPUT, TARGET).item())
    assert loss.similarity == identity(C)
    assert counter.frame_count == 1


def test_a_dense_schedule_does_not_compile_again(loss_module):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    loss = loss_module(torch.eye(C))
    compiled = torch.compile(loss, fullgraph=True, backend=counter)
    for share in (0.1, 0.5, 0.9):
        loss.set_similarity(torch.full((C, C), share).fill_diagonal_(1))
        assert compiled(INPUT, TARGET).item() == pytest.approx(loss(INPUT, TARGET).item())
    assert counter.frame_count == 1


@pytest.mark.parametrize("form", FORMS)
class TestFunc:
    def test_grad_is_autograd(self, loss_function, form):
        def loss(input):
            return loss_function(input, TARGET, FORMS[form])

        leaf = INPUT.clone().requires_grad_()
        expected = torch.autograd.grad(loss(leaf), leaf)[0]
        assert torch.allclose(torch.func.grad(loss)(INPUT), expected)
        assert torch.allclose(torch.func.jacrev(loss)(INPUT), expected)
        assert torch.allclose(torch.func.jacfwd(loss)(INPUT), expected)
        tangent = torch.randn_like(INPUT)
        forward = torch.func.jvp(loss, (INPUT,), (tangent,))[1]
        assert torch.allclose(forward, (expected * tangent).sum())

    def test_vmap_is_a_loop(self, loss_function, form):
        def loss(input, target):
            return loss_function(input, target, FORMS[form])

        together = torch.func.vmap(loss)(INPUT, TARGET)
        apart = torch.stack([loss(i, t) for i, t in zip(INPUT, TARGET, strict=True)])
        assert torch.allclose(together, apart, equal_nan=True)
        per_example = torch.func.vmap(torch.func.grad(loss))(INPUT[:3], TARGET[:3])
        assert per_example.shape == (3, C)

    def test_hessian(self, loss_function, form):
        def loss(input):
            return loss_function(input, TARGET[:2], FORMS[form])

        hessian = torch.func.hessian(loss)(INPUT[:2])
        assert torch.allclose(hessian, torch.autograd.functional.hessian(loss, INPUT[:2]))


def test_what_a_transform_has_left_behind(loss_function):
    left = []
    torch.func.grad(lambda x: left.append(x) or x.sum())(INPUT)
    S = order(C, 0.7)
    torch.testing.assert_close(loss_function(left[0], TARGET, S), loss_function(INPUT, TARGET, S))


def test_vmap_over_similarities(loss_function):
    stack = torch.stack([order(C, r).to_dense(torch.float64) for r in (0.0, 0.4, 0.8)])
    losses = torch.func.vmap(lambda S: loss_function(INPUT, TARGET, S))(stack)
    apart = [loss_function(INPUT, TARGET, S).item() for S in stack]
    assert losses.tolist() == pytest.approx(apart)


class Model(nn.Module):
    def __init__(self, loss):
        super().__init__()
        self.linear = nn.Linear(3, C)
        self.loss = loss

    def forward(self, x, target):
        return self.loss(self.linear(x), target)


@pytest.mark.parametrize("form", FORMS)
def test_export(loss_module, form):
    model = Model(loss_module(FORMS[form]))
    x, target = torch.randn(4, 3), torch.tensor([0, 1, 2, 3])
    batch = torch.export.Dim("batch", min=2)
    program = torch.export.export(
        model, (x, target), dynamic_shapes={"x": {0: batch}, "target": {0: batch}}
    )
    x, target = torch.randn(7, 3), torch.randint(C, (7,))
    assert torch.allclose(program.module()(x, target), model(x, target))


def test_functional_call_uses_the_buffers():
    loss = SimLoss(order(C, 0.9))
    changed = {"similarity_r": torch.tensor(0.0, dtype=torch.float64)}
    value = torch.func.functional_call(loss, changed, (INPUT, TARGET))
    assert value.item() == pytest.approx(nn.CrossEntropyLoss()(INPUT, TARGET).item())


def test_a_gpu_is_not_asked_to_do_more():
    """Counted as in docs/gpu.md; each operation is a kernel to start."""
    loss = ProperSimLoss(order(1000, 0.8))
    operations, passes = counted(loss, (64, 1000))
    assert operations <= 250
    assert passes <= 920


def test_operations_are_counted_as_they_are_made():
    operations, passes = counted(lambda input, target: input.t().exp().sum(), (4, 8))
    assert operations == 4  # exp, sum; backward: a gradient of 1, times exp
    assert passes == 2 + 1 + 2  # the gradient of 1 is repeated, not stored
