"""The kernel is the formula, value and gradient, and is really what is used on the CPU."""

import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from struct import Struct

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import simloss
from simloss.loss import kernel
from simloss.loss.contract import Options
from simloss.loss.formula import formula_loss
from simloss.loss.proper import PROPER_SIM_LOSS
from simloss.loss.sim import SIM_LOSS
from simloss.loss.soft_target import SOFT_TARGET_LOSS
from simloss.similarity import circular, matrix, order, sparse

pytestmark = pytest.mark.skipif(not simloss.native_kernel(), reason="the kernel was not built")

LOSSES = {
    "sim": (simloss.sim_loss, SIM_LOSS),
    "proper": (simloss.proper_sim_loss, PROPER_SIM_LOSS),
    "soft": (simloss.soft_target_loss, SOFT_TARGET_LOSS),
}


def dense(C, seed=0):
    generator = torch.Generator().manual_seed(seed)
    S = torch.rand(C, C, generator=generator, dtype=torch.float64)
    S[torch.rand(C, C, generator=generator) < 0.4] = 0
    return S.fill_diagonal_(1)


def similarities(C):
    confusions = dense(C, 2)
    confusions.fill_diagonal_(0)[0, 0] = 1
    confusions = confusions + 1e-3
    forms = {
        "order": order(C, 0.7),
        "identity": order(C, 0.0),
        "nearly the identity": order(C, 1e-9),
        "dense": matrix(dense(C)),
        "dense float32": matrix(dense(C).float()),
        "sparse": sparse(matrix(dense(C))),
        "sparse float32": sparse(matrix(dense(C).float())),
        "circular": circular(C, 0.6),
    }
    normalized = {f"{name} normalised": S.normalized() for name, S in forms.items()}
    confused = matrix(confusions / confusions.sum(1, keepdim=True), kind="probability")
    return {**forms, **normalized, "confusions": confused}


FORMS = list(similarities(2))


def plain(formula, input, target, S, **options):
    return formula_loss(formula, input, target, S, Options(**options))


def value_and_gradient(function, input, *arguments, **options):
    input = input.clone().requires_grad_()
    value = function(input, *arguments, **options)
    direction = 0.5 + 0.25 * (torch.arange(value.numel()) % 5).to(value.dtype)
    gradient = torch.autograd.grad(value, input, direction.reshape(value.shape))[0]
    return value, gradient


def assert_twins(name, input, target, S, tolerance, **options):
    fast, formula = LOSSES[name]
    value, gradient = value_and_gradient(fast, input, target, S, **options)
    assert value.grad_fn.name() == "KernelLossBackward"
    twin = value_and_gradient(lambda *a, **k: plain(formula, *a, **k), input, target, S, **options)
    assert twin[0].grad_fn.name() != "KernelLossBackward"
    # Roundings of p_i / a_i grow with 1 / S_ii, which is 1 but for confusions.
    allowed = tolerance * max(1.0, 0.1 / float(S.to_dense().diagonal().min()))
    for ours, theirs in zip((value, gradient), twin, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert torch.allclose(ours, theirs, rtol=allowed, atol=allowed, equal_nan=True)


TOLERANCE = {
    torch.float64: 1e-11,
    torch.float32: 5e-6,
    torch.bfloat16: 1e-2,
    torch.float16: 2e-3,
}


@settings(max_examples=300)
@given(
    name=st.sampled_from(list(LOSSES)),
    form=st.sampled_from(FORMS),
    shape=st.sampled_from([(), (1,), (6,), (40,), (2, 3), (3, 2, 2), (2, 20)]),
    C=st.sampled_from([1, 2, 3, 7, 16, 17, 140]),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([1.0, 3.0, 60.0, 1000.0]),
    dtype=st.sampled_from(list(TOLERANCE)),
    soft=st.booleans(),
    weighted=st.booleans(),
    ignore=st.sampled_from([-100, 0]),
    reduction=st.sampled_from(["none", "mean", "sum"]),
    label_smoothing=st.sampled_from([0.0, 0.0, 0.2, 1.0]),
    share=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
)
def test_twins(
    name,
    form,
    shape,
    C,
    seed,
    spread,
    dtype,
    soft,
    weighted,
    ignore,
    reduction,
    label_smoothing,
    share,
):
    generator = torch.Generator().manual_seed(seed)
    input_shape = (C,) if shape == () else (shape[0], C, *shape[1:])
    input = (spread * torch.randn(input_shape, generator=generator)).to(dtype)
    if soft:
        ignore = -100
        target = torch.rand(input_shape, generator=generator).to(dtype)
    else:
        target = torch.randint(C, shape, generator=generator)
    weight = torch.rand(C, generator=generator) + 0.1 if weighted else None
    tolerance = TOLERANCE[dtype] * max(1.0, spread / 100)
    if soft:  # its gradient is a difference of numbers as large as the sum of the target
        tolerance *= max(1.0, target.double().sum(min(1, target.ndim - 1)).max().item())
    assert_twins(
        name,
        input,
        target,
        similarities(C)[form],
        tolerance,
        weight=weight,
        ignore_index=ignore,
        reduction=reduction,
        label_smoothing=label_smoothing,
        cross_entropy_share=share,
    )


def test_large_logits_in_log_space():
    """A gradient of 1e-7 is not 6e-5, the rounding of a logit of 1000."""
    generator = torch.Generator().manual_seed(0)
    input = 1000 * torch.randn(6, generator=generator)
    assert_twins("sim", input, torch.rand(6, generator=generator), order(6, 1e-9), 1e-6)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("r", [1e-3, 0.1, 0.9])
@pytest.mark.parametrize("C", [200, 600, 1100])
def test_many_ordered_classes(name, r, C):
    """Blocks, carries and windows: with r = .1 a window holds 77 classes, or 153."""
    generator = torch.Generator().manual_seed(C)
    input = 3 * torch.randn(4, C, generator=generator)
    input[3] *= 100  # a row that linear space cannot do
    target = torch.tensor([0, C // 2, C - 1, 7])
    for S in (order(C, r), order(C, r).normalized()):
        assert_twins(name, input, target, S, 2e-5, reduction="none")
        assert_twins(name, input.double(), target, S, 1e-10, reduction="none")
        if C < 1000:
            assert_twins(name, input, target, S, 3e-5, label_smoothing=0.1)


@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "transposed", "expanded"])
def test_layouts(loss_name, layout):
    input = torch.randn(3, 5, 4, 2, generator=torch.Generator().manual_seed(0))
    if layout == "channels_last":
        input = input.contiguous(memory_format=torch.channels_last)
    elif layout == "transposed":
        input = input.transpose(0, 2)
    elif layout == "expanded":
        input = input[:1].expand(3, -1, -1, -1)
    target = torch.randint(5, (input.shape[0], *input.shape[2:]))
    assert_twins(loss_name, input, target, order(5, 0.6), 1e-5, reduction="none")
    soft = torch.rand(input.shape)
    assert_twins(loss_name, input, soft, order(5, 0.6), 1e-5, label_smoothing=0.1)


class Counter:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments, **options):
        self.calls += 1
        return self.function(*arguments, **options)


@pytest.fixture
def computed(monkeypatch):
    """Counts how often the kernel is called."""
    counter = Counter(kernel.loss_and_gradient)
    monkeypatch.setattr(kernel, "loss_and_gradient", counter)
    return counter


C = 5
INPUT = torch.randn(6, C, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
TARGET = torch.tensor([0, 1, 2, 3, 4, 1])


class TestBackward:
    def test_the_first_hands_the_buffer_over_and_the_second_computes_it_again(
        self, loss_function, computed
    ):
        input = INPUT.clone().requires_grad_()
        loss = loss_function(input, TARGET, order(C, 0.6))
        first = torch.autograd.grad(loss, input, torch.tensor(3.0).double(), retain_graph=True)[0]
        assert computed.calls == 1
        second = torch.autograd.grad(loss, input, retain_graph=True)[0]
        third = torch.autograd.grad(loss, input)[0]
        assert computed.calls == 3
        assert torch.allclose(first, 3 * second, rtol=1e-14)
        assert torch.equal(second, third)
        with pytest.raises(RuntimeError, match="second time"):
            torch.autograd.grad(loss, input)

    def test_the_buffer_is_the_gradient(self, loss_function):
        """One buffer of the size of the input, and not a copy of it."""
        input = INPUT.clone().requires_grad_()
        loss = loss_function(input, TARGET, order(C, 0.6))
        buffer = loss.grad_fn.gradient.data_ptr()
        loss.backward()
        assert input.grad.data_ptr() == buffer

    def test_a_differentiable_one_takes_the_plain_formula(self, loss_name, loss_function):
        input = INPUT.clone().requires_grad_()
        gradient = torch.autograd.grad(
            loss_function(input, TARGET, order(C, 0.6)), input, create_graph=True
        )[0]
        twin = plain(LOSSES[loss_name][1], input, TARGET, order(C, 0.6))
        expected = torch.autograd.grad(twin, input, create_graph=True)[0]
        assert torch.allclose(gradient, expected, rtol=1e-12)
        ours = torch.autograd.grad(gradient.square().sum(), input)[0]
        theirs = torch.autograd.grad(expected.square().sum(), input)[0]
        assert torch.allclose(ours, theirs, rtol=1e-10)

    def test_a_similarity_changed_in_between(self, loss_module):
        """The gradient is that of the value; a second one cannot be had any more."""
        loss_of = loss_module(order(C, 0.6))
        input = INPUT.clone().requires_grad_()
        loss = loss_of(input, TARGET)
        expected = torch.autograd.grad(loss_of(input, TARGET), input)[0]
        loss_of.set_similarity(order(C, 0.1))
        assert torch.equal(torch.autograd.grad(loss, input, retain_graph=True)[0], expected)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(loss, input)

    def test_a_batch_of_gradients(self, loss_function):
        input = INPUT.clone().requires_grad_()
        losses = loss_function(input, TARGET, order(C, 0.6), reduction="none")
        together = torch.autograd.grad(
            losses, input, torch.eye(6).double(), is_grads_batched=True, retain_graph=True
        )[0]
        apart = [torch.autograd.grad(each, input, retain_graph=True)[0] for each in losses]
        assert torch.allclose(together, torch.stack(apart))

    def test_fp16_gradients_do_not_underflow_before_they_are_scaled(self, loss_function):
        """As with a gradient scaler: 16384 times a gradient that fp16 cannot hold."""
        input = torch.zeros(4096, 32, dtype=torch.float16).requires_grad_()
        target = torch.zeros(4096, dtype=torch.long)
        (loss_function(input, target, order(32, 0.1)) * 16384).backward()
        wide = input.detach().double().requires_grad_()
        (loss_function(wide, target, order(32, 0.1)) * 16384).backward()
        assert torch.allclose(input.grad.double(), wide.grad, rtol=1e-3)


class TestChosen:
    def test_without_gradients(self, loss_function, computed):
        input = INPUT.clone().requires_grad_()
        with torch.no_grad():
            quiet = loss_function(input, TARGET, order(C, 0.6))
        assert computed.calls == 1
        assert not quiet.requires_grad
        loss_function(INPUT, TARGET, order(C, 0.6))
        with torch.inference_mode():
            loss_function(input, TARGET, order(C, 0.6))
        assert computed.calls == 3

    def test_in_training(self, loss_module, computed):
        model = torch.nn.Linear(3, C)
        loss = loss_module(order(C, 0.6))
        for dtype in (torch.float32, torch.bfloat16):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
                loss(model(torch.randn(6, 3)), TARGET).backward()
        assert computed.calls == 2
        assert model.weight.grad.isfinite().all()

    def test_not_where_the_formula_must_be_seen(self, loss_function, computed):
        S, tangent = order(C, 0.6), torch.randn_like(INPUT)
        torch.func.grad(lambda z: loss_function(z, TARGET, S))(INPUT)
        torch.func.vmap(lambda z, y: loss_function(z, y, S))(INPUT, TARGET)
        torch.func.jvp(lambda z: loss_function(z, TARGET, S), (INPUT,), (tangent,))
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(INPUT, tangent)
            loss_function(dual, TARGET, S)
        torch.compile(loss_function, backend="eager", fullgraph=True)(INPUT, TARGET, S)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.jit.trace(lambda z: loss_function(z, TARGET, S), INPUT, check_trace=False)
        assert computed.calls == 0

    def test_not_for_a_gradient_to_something_else(self, loss_function, computed):
        input = INPUT.clone().requires_grad_()
        learned = dense(C).requires_grad_()
        loss_function(input, TARGET, learned).backward()
        soft = torch.rand(6, C).double().requires_grad_()
        loss_function(input, soft, order(C, 0.6)).backward()
        weight = torch.rand(C).double().requires_grad_()
        loss_function(input, TARGET, order(C, 0.6), weight=weight).backward()
        for each in (learned, soft, weight):
            assert each.grad.abs().sum() > 0
        assert computed.calls == 0

    def test_an_empty_batch(self, loss_function):
        empty = torch.zeros(0, C, requires_grad=True)
        assert loss_function(empty, TARGET[:0], order(C, 0.6)).isnan()


def test_nan_stays_where_it_is(loss_function):
    input = INPUT.clone()
    input[2, 3] = float("nan")
    losses = loss_function(input, TARGET, order(C, 0.6), reduction="none")
    assert losses.isnan().tolist() == [False, False, True, False, False, False]


def test_the_columns_of_sparse_rows_are_found_once_and_again_after_a_change():
    S = sparse(matrix(dense(9)))
    first = S.by_columns()
    S.tensors["value"].mul_(0.5)  # another value is no matter
    assert S.by_columns() is first
    S.tensors["column"].copy_(S.tensors["column"].clone())
    assert S.by_columns() is not first
    ccol, row, entry = S.by_columns()
    for c in range(9):
        found = S.to_dense().new_zeros(9)
        found[row[ccol[c] : ccol[c + 1]]] = S.tensors["value"][entry[ccol[c] : ccol[c + 1]]]
        assert torch.equal(found, S.to_dense()[:, c])


@pytest.mark.parametrize("form", ["dense", "order", "sparse"])
def test_a_similarity_changed_in_place_counts_at_once(loss_module, form):
    loss = loss_module(similarities(C)[form])
    loss(INPUT, TARGET)
    for tensor in loss.similarity.tensors.values():
        if tensor.is_floating_point():
            tensor.mul_(0.5)
    if "matrix" in loss.similarity.tensors:
        loss.similarity.tensors["matrix"].fill_diagonal_(1)
    fresh = loss_module(loss.similarity)
    assert loss(INPUT, TARGET).item() == fresh(INPUT, TARGET).item()


def test_threads_give_the_same_answer_to_the_last_bit(loss_function):
    input = torch.randn(3000, 40, generator=torch.Generator().manual_seed(0))
    target = torch.randint(40, (3000,), generator=torch.Generator().manual_seed(1))
    before = torch.get_num_threads()
    found = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found.append(value_and_gradient(loss_function, input, target, order(40, 0.6)))
    torch.set_num_threads(before)
    for value, gradient in found[1:]:
        assert torch.equal(value, found[0][0])
        assert torch.equal(gradient, found[0][1])


def test_eight_threads_with_different_calls_at_once():
    """Against the answers of one thread, a thousand calls."""
    generator = torch.Generator().manual_seed(0)
    calls = []
    for i in range(40):
        C, N = (3, 17, 150, 33)[i % 4], (1, 60, 700, 9)[i // 4 % 4]
        S = list(similarities(C).values())[i % 12]
        z = 3 * torch.randn(N, C, generator=generator)
        y = torch.randint(C, (N,), generator=generator)
        calls.append((list(LOSSES.values())[i % 3][0], z, y, S))
    wanted = [value_and_gradient(*call) for call in calls]

    def work(i):
        value, gradient = value_and_gradient(*calls[i % 40])
        return torch.equal(value, wanted[i % 40][0]) and torch.equal(gradient, wanted[i % 40][1])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(1000)))


FORK = """
import os, torch, simloss
torch.set_num_threads(2)
loss = simloss.ProperSimLoss(simloss.similarity.order(100, 0.5))
z = torch.randn(2000, 100)
y = torch.randint(100, (2000,))
wanted = loss(z, y).item()  # the pool of threads is awake now
child = os.fork()
if child == 0:
    os._exit(0 if loss(z, y).item() == wanted else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_does_not_wait_for_threads_it_has_not():
    result = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120
    )
    assert result.stdout.strip() == "0", result.stderr


def test_turned_off_by_the_environment():
    code = "import simloss; print(simloss.native_kernel())"
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "SIMLOSS_NATIVE": "0"},
    )
    assert result.stdout.strip() == "False", result.stderr


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_infinite_weights_and_targets_are_those_of_cross_entropy(loss_function, reduction):
    z, identity = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)), torch.eye(4)
    weight = torch.tensor([1.0, torch.inf, 0.0, 1.0])
    y = torch.tensor([0, 1, 2])
    p = torch.tensor([[0.5, 0.5, 0, 0], [torch.inf, 0, 0, 0], [0, torch.inf, torch.inf, 0]])
    for target, w in ((y, weight), (p, None), (p[:1], weight)):
        some = z[: len(target)]
        wanted = torch.nn.functional.cross_entropy(some, target, w, reduction=reduction)
        found = loss_function(some, target, identity, weight=w, reduction=reduction)
        torch.testing.assert_close(found, wanted, equal_nan=True)


@pytest.mark.parametrize(
    ("logits", "r", "wanted"),
    [([1e30, 0, -1e30, 1, 2], 1e-300, 690.7755), ([1e16, 0, 0, 0, 0], 1e-300, 690.7755)],
)
def test_exact_at_the_edge(logits, r, wanted):
    z = torch.tensor([logits], requires_grad=True)
    loss = simloss.sim_loss(z, torch.tensor([1]), order(5, r))
    assert loss.item() == pytest.approx(wanted, rel=1e-6)
    proper = simloss.proper_sim_loss(z, torch.tensor([1]), order(5, r))
    assert proper.item() == pytest.approx(wanted + 1, rel=1e-6)


def test_a_kernel_of_another_version_is_not_called(monkeypatch):
    """What it would read as its arguments lies elsewhere."""
    assert kernel._library() is not None
    monkeypatch.setattr(kernel, "_CALL", Struct(kernel._CALL.format + "q"))
    assert kernel._library() is None
