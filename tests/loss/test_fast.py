"""Every fused loss is its plain twin, value and gradient, and is really the one that is used."""

import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import simloss
from simloss.loss.contract import checked_problem
from simloss.loss.fused import choose, compressed, compute, operator, ordinary, worker
from simloss.loss.fused import sparse as sparse_rows
from simloss.loss.fused.compressed import Compressed, transposed
from simloss.loss.fused.powers import PowerProduct
from simloss.loss.plain import plain_loss
from simloss.loss.proper import PROPER_SIM_LOSS
from simloss.loss.sim import SIM_LOSS
from simloss.loss.soft_target import SOFT_TARGET_LOSS
from simloss.similarity import circular, embedding, matrix, order, sparse

LOSSES = {
    "sim": (simloss.sim_loss, SIM_LOSS),
    "proper": (simloss.proper_sim_loss, PROPER_SIM_LOSS),
    "soft": (simloss.soft_target_loss, SOFT_TARGET_LOSS),
}
OPTIONS = {
    "weight": None,
    "ignore_index": -100,
    "reduction": "mean",
    "label_smoothing": 0.0,
    "cross_entropy_share": 0.0,
}


@pytest.fixture(autouse=True)
def no_call_is_ordinary(monkeypatch):
    """The short ways have their own tests."""
    monkeypatch.setattr(ordinary, "_is_ordinary", lambda *call: False)


def dense(C, seed=0):
    generator = torch.Generator().manual_seed(seed)
    S = torch.rand(C, C, generator=generator, dtype=torch.float64)
    S[torch.rand(C, C, generator=generator) < 0.4] = 0
    return S.fill_diagonal_(1)


def similarities(C):
    vectors = torch.randn(C, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
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
        "embedding": embedding(vectors, 0.1),
        "circular": circular(C, 0.6),
    }
    normalized = {f"{name} normalised": S.normalized() for name, S in forms.items()}
    confused = matrix(confusions / confusions.sum(1, keepdim=True), kind="probability")
    return {**forms, **normalized, "confusions": confused}


FORMS = list(similarities(2))


def plain(formula, input, target, S, **options):
    return plain_loss(checked_problem(formula, input, target, S, **{**OPTIONS, **options}))


def value_and_gradient(function, input, *arguments, **options):
    input = input.clone().requires_grad_()
    value = function(input, *arguments, **options)
    direction = 0.5 + 0.25 * (torch.arange(value.numel()) % 5).to(value.dtype)
    gradient = torch.autograd.grad(value, input, direction.reshape(value.shape))[0]
    return value, gradient


def assert_twins(name, input, target, S, tolerance, **options):
    fast, formula = LOSSES[name]
    value, gradient = value_and_gradient(fast, input, target, S, **options)
    assert value.grad_fn.name() == "FusedLossBackward"
    twin = value_and_gradient(lambda *a, **k: plain(formula, *a, **k), input, target, S, **options)
    assert twin[0].grad_fn.name() != "FusedLossBackward"
    for ours, theirs in zip((value, gradient), twin, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


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
    shape=st.sampled_from([(), (1,), (6,), (2, 3), (3, 2, 2)]),
    C=st.integers(1, 7),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([1.0, 3.0, 60.0, 1000.0]),
    dtype=st.sampled_from(list(TOLERANCE)),
    soft=st.booleans(),
    weighted=st.booleans(),
    ignore=st.sampled_from([-100, 0]),
    reduction=st.sampled_from(["none", "mean", "sum"]),
    label_smoothing=st.sampled_from([0.0, 0.0, 0.2, 1.0]),
    share=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
    rows_at_once=st.sampled_from([1, 4, 1 << 19]),
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
    rows_at_once,
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_rows, "_DENSE_UP_TO", 0)
        patch.setattr(operator.Operator, "rows_at_once", lambda self: rows_at_once)
        patch.setattr(sparse_rows.SparseOperator, "rows_at_once", lambda self: rows_at_once)
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


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("form", FORMS)
def test_an_accelerator_gets_log_space(name, form, monkeypatch):
    """Where reading a value would make the device wait, nothing is read."""
    monkeypatch.setattr(worker, "reads_values", lambda tensor: False)
    monkeypatch.setattr(compute.math, "isnan", lambda value: pytest.fail("a value was read"))
    input = 30 * torch.randn(5, 6, generator=torch.Generator().manual_seed(0)).double()
    target = torch.tensor([0, 1, -100, 5, 3])
    for options in ({}, {"label_smoothing": 0.2}, {"cross_entropy_share": 0.4}):
        assert_twins(name, input, target, similarities(6)[form], 1e-11, **options)


@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "transposed", "expanded"])
@pytest.mark.parametrize("rows_at_once", [1, 5, 7, 1000])
def test_layouts(loss_name, layout, rows_at_once, monkeypatch):
    monkeypatch.setattr(operator.Operator, "rows_at_once", lambda self: rows_at_once)
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
    """Counts how often a fused loss is computed."""
    counter = Counter(compute.compute)
    monkeypatch.setattr("simloss.loss.fused.function.compute", counter)
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
        buffer = loss.grad_fn.buffer.data_ptr()
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

    def test_each_structure_its_own(self):
        paths = {
            "order": "OrderOperator",
            "dense": "DenseOperator",
            "sparse": "DenseOperator",
            "very sparse": "SparseOperator",
            "embedding": "ComputedOperator",
            "circular": "ComputedOperator",
        }
        for form, path in paths.items():
            S = sparse(order(40, 1e-40)) if form == "very sparse" else similarities(C)[form]
            assert type(choose.operator(S, torch.float32)).__name__ == path


def test_nan_stays_where_it_is(loss_function):
    input = INPUT.clone()
    input[2, 3] = float("nan")
    losses = loss_function(input, TARGET, order(C, 0.6), reduction="none")
    assert losses.isnan().tolist() == [False, False, True, False, False, False]


@pytest.mark.parametrize("r", [0.0, 0.3, 0.99])
@pytest.mark.parametrize("C", [1, 31, 128, 129, 160, 1000, 4097, 140_000])
def test_products_with_powers(C, r):
    """Blocks, and carries of carries, against the recursion one class at a time."""
    x = torch.rand(2, C, generator=torch.Generator().manual_seed(C), dtype=torch.float64)
    expected = []
    for row in x.tolist():
        sums = [-value for value in row]
        for order_of_classes in (range(C), reversed(range(C))):
            running = 0.0
            for i in order_of_classes:
                running = r * running + row[i]
                sums[i] += running
        expected.append(sums)
    found = PowerProduct(C, r, torch.float64)(x)
    assert torch.allclose(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-12)


class TestSparse:
    def test_rows_without_a_look_at_any_value(self):
        S = sparse(matrix(dense(9)))
        rows = Compressed(*(S.tensors[name] for name in ("crow", "column", "value")))
        y = torch.tensor([3, 0, 8, 3])
        assert torch.equal(rows.dense_rows(y), S.to_dense()[y])
        assert torch.equal(rows.dense_rows_unseen(y), S.to_dense()[y])
        assert torch.equal(transposed(rows).dense_rows(y), S.to_dense().T[y])

    def test_what_is_not_that_sparse_is_stored(self):
        few, many = sparse(order(40, 1e-40)), sparse(matrix(dense(9)))
        assert type(choose.operator(few, torch.float32)).__name__ == "SparseOperator"
        stored = choose.operator(many, torch.float32)
        assert type(stored).__name__ == "DenseOperator"
        y = torch.arange(9)
        assert torch.equal(stored.rows(y), many.to_dense().float())
        many.tensors["value"].mul_(0.5)
        assert torch.equal(choose.operator(many, torch.float32).rows(y), many.to_dense().float())

    def test_the_transpose_is_found_once_and_again_after_a_change(self, monkeypatch):
        found = Counter(compressed._by_column)
        monkeypatch.setattr(compressed, "_by_column", found)
        S = sparse(matrix(dense(9)))
        rows = Compressed(*(S.tensors[name] for name in ("crow", "column", "value")))
        for factor in (1.0, 0.5):  # another value is no matter
            rows.value.mul_(factor)
            assert torch.equal(transposed(rows).dense_rows(torch.arange(9)), S.to_dense().T)
        assert found.calls == 1
        rows.column.copy_(rows.column.clone())
        transposed(rows)
        assert found.calls == 2
