"""The ordinary call goes a short way; it is the plain formula all the same."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import simloss
from simloss.loss.contract import checked_problem
from simloss.loss.fused import operator, ordinary, planes, small
from simloss.loss.plain import plain_loss
from simloss.loss.proper import PROPER_SIM_LOSS
from simloss.loss.sim import SIM_LOSS
from simloss.loss.soft_target import SOFT_TARGET_LOSS
from simloss.similarity import circular, matrix, order, sparse

FORMULAS = {
    "sim": (simloss.sim_loss, SIM_LOSS),
    "proper": (simloss.proper_sim_loss, PROPER_SIM_LOSS),
    "soft": (simloss.soft_target_loss, SOFT_TARGET_LOSS),
}
TAKEN = "OrdinaryLossBackward"


@pytest.fixture(autouse=True)
def no_batch_is_small(monkeypatch):
    """The way of small batches has its own tests."""
    monkeypatch.setattr(small, "_ENTRIES", 0)


def dense(C):
    S = torch.rand(C, C, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    S[S < 0.4] = 0
    return S.fill_diagonal_(1)


def similarities(C):
    forms = {
        "order": order(C, 0.7),
        "identity": order(C, 0.0),
        "dense": matrix(dense(C)),
        "dense float32": matrix(dense(C).float()),
        "sparse": sparse(matrix(dense(C))),
        "circular": circular(C, 0.6),
    }
    return {**forms, **{f"{name} normalised": S.normalized() for name, S in forms.items()}}


def plain(formula, input, target, S, reduction="mean", ignore_index=-100):
    rest = {"weight": None, "label_smoothing": 0, "cross_entropy_share": 0}
    rest |= {"reduction": reduction, "ignore_index": ignore_index}
    return plain_loss(checked_problem(formula, input, target, S, **rest))


def batch(N=7, C=5, seed=0, dtype=torch.float64, spread=1.0):
    generator = torch.Generator().manual_seed(seed)
    input = spread * torch.randn(N, C, generator=generator, dtype=torch.float64)
    return input.to(dtype).requires_grad_(), torch.randint(C, (N,), generator=generator)


@settings(max_examples=150)
@given(
    name=st.sampled_from(list(FORMULAS)),
    form=st.sampled_from(list(similarities(2))),
    N=st.integers(1, 9),
    C=st.integers(1, 7),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([1.0, 3.0, 60.0, 1000.0]),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    reduction=st.sampled_from(["mean", "sum"]),
    rows_at_once=st.sampled_from([1, 4, 1 << 19]),
    by=st.sampled_from([1.0, -2.5]),
)
def test_twins(name, form, N, C, seed, spread, dtype, reduction, rows_at_once, by):
    """Far logits have rows that linear space cannot do."""
    input, target = batch(N, C, seed, dtype, spread)
    S = similarities(C)[form]
    function, formula = FORMULAS[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operator.Operator, "rows_at_once", lambda self: rows_at_once)
        ours = function(input, target, S, reduction=reduction)
        assert ours.grad_fn.name() == TAKEN
        gradient = torch.autograd.grad(ours * by, input)[0]
    theirs = plain(formula, input, target, S, reduction)
    expected = torch.autograd.grad(theirs * by, input)[0]
    tolerance = (1e-11 if dtype == torch.float64 else 5e-6) * max(1.0, spread / 100)
    assert (ours.shape, ours.dtype, gradient.dtype) == (theirs.shape, theirs.dtype, dtype)
    assert torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    assert torch.allclose(gradient, expected, rtol=tolerance, atol=tolerance)


@settings(max_examples=80)
@given(
    form=st.sampled_from(["order", "identity", "dense", "dense float32", "dense normalised"]),
    shape=st.sampled_from([(1, 1), (3, 4), (2, 2, 3), (2, 3, 2, 2)]),
    C=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([1.0, 3.0, 60.0, 1000.0]),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    reduction=st.sampled_from(["mean", "sum"]),
    ignore=st.sampled_from([-100, 0, 255]),
    at_once=st.sampled_from([1, 20, 1 << 20]),
)
def test_planes_are_twins(form, shape, C, seed, spread, dtype, reduction, ignore, at_once):
    """Segmentation: the classes stay at dimension 1; places may be ignored, but not all."""
    generator = torch.Generator().manual_seed(seed)
    input = spread * torch.randn(shape[0], C, *shape[1:], generator=generator)
    input = input.to(dtype).requires_grad_()
    target = torch.randint(C, shape, generator=generator)
    if ignore == 255:
        target[0, 0] = 255
    S = similarities(C)[form]
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planes, "PART_ENTRIES", at_once)
        for loss in (
            simloss.sim_loss(input, target, S, ignore_index=ignore, reduction=reduction),
            plain(SIM_LOSS, input, target, S, reduction, ignore_index=ignore),
        ):
            taken = loss.grad_fn.name() == TAKEN
            found.append((loss, torch.autograd.grad(loss * 2, input)[0], taken))
    all_ignored = bool((target == ignore).all())
    assert [each[2] for each in found] == [not all_ignored, False]
    tolerance = (1e-11 if dtype == torch.float64 else 5e-6) * max(1.0, spread / 100)
    for ours, theirs in zip(found[0][:2], found[1][:2], strict=True):
        assert ours.dtype == theirs.dtype
        assert torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


def test_planes_and_a_wrong_class():
    with pytest.raises(ValueError, match=r"but got 7 at position \(1, 0\)"):
        simloss.sim_loss(
            torch.zeros(2, 3, 2, requires_grad=True), torch.tensor([[0, 1], [7, 2]]), order(3, 0.5)
        )


@pytest.mark.parametrize("C", [130, 600, 1000])
def test_many_ordered_classes(loss_name, C):
    input, target = batch(4, C, dtype=torch.float32, spread=3.0)
    function, formula = FORMULAS[loss_name]
    ours = function(input, target, order(C, 0.8))
    assert ours.grad_fn.name() == TAKEN
    theirs = plain(formula, input, target, order(C, 0.8))
    assert torch.allclose(ours, theirs, rtol=1e-5)
    gradients = [torch.autograd.grad(each, input)[0] for each in (ours, theirs)]
    assert torch.allclose(*gradients, atol=1e-6)


def test_backward_again_and_again(loss_name):
    """The buffer is handed over once, then computed again; a double backward is the formula's."""
    input, target = batch()
    function, formula = FORMULAS[loss_name]
    loss = function(input, target, order(5, 0.6))
    buffer = loss.grad_fn.buffer.data_ptr()
    first = torch.autograd.grad(loss, input, torch.tensor(3.0).double(), retain_graph=True)[0]
    assert first.data_ptr() == buffer
    second = torch.autograd.grad(loss, input, retain_graph=True)[0]
    assert torch.allclose(first, 3 * second, rtol=1e-14)
    found = []
    for value in (loss, plain(formula, input, target, order(5, 0.6))):
        gradient = torch.autograd.grad(value, input, create_graph=True)[0]
        found.append(torch.autograd.grad(gradient.square().sum(), input)[0])
    assert torch.allclose(*found, rtol=1e-10)


def test_two_losses_at_once_keep_out_of_each_others_memory(loss_name):
    function, formula = FORMULAS[loss_name]
    S = order(200, 0.8)
    (a, y), (b, x) = batch(6, 200, seed=1), batch(9, 200, seed=2)
    together = function(a, y, S) + function(b, x, S)
    found = torch.autograd.grad(together, [a, b])
    for gradient, input, target in zip(found, (a, b), (y, x), strict=True):
        expected = torch.autograd.grad(plain(formula, input, target, S), input)[0]
        assert torch.allclose(gradient, expected, atol=1e-11)


def test_after_inference_mode(loss_name):
    """Memory first made in inference mode can be written to in training."""
    function, _ = FORMULAS[loss_name]
    input, target = batch(6, 333)
    with torch.inference_mode():
        function(input.detach(), target, order(333, 0.8))
    function(input, target, order(333, 0.8)).backward()
    assert input.grad.isfinite().all()


def test_a_similarity_changed_in_between(loss_module):
    """The gradient is that of the value; a second one cannot be had any more."""
    loss_of = loss_module(order(5, 0.6))
    input, target = batch()
    loss = loss_of(input, target)
    assert loss.grad_fn.name() == TAKEN
    expected = torch.autograd.grad(loss_of(input, target), input)[0]
    loss_of.set_similarity(order(5, 0.1))
    assert torch.equal(torch.autograd.grad(loss, input, retain_graph=True)[0], expected)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(loss, input)


OTHERS = {
    "reduction": {"reduction": "none"},
    "weight": {"weight": torch.ones(5)},
    "smoothing": {"label_smoothing": 0.1},
    "share": {"cross_entropy_share": 0.1},
    "ignored": {"ignore_index": 1},
}


@pytest.mark.parametrize("options", OTHERS.values(), ids=OTHERS)
def test_is_not_taken_with_options(loss_function, options):
    input, target = batch()
    target[2] = 1
    loss = loss_function(input, target, order(5, 0.6), **options)
    assert loss.grad_fn.name() == "FusedLossBackward"


def changed(input, target):
    yield "half precision", input.detach().bfloat16().requires_grad_(), target
    yield "not contiguous", input.detach().T.contiguous().T.requires_grad_(), target
    yield (
        "strided",
        input.detach().unsqueeze(2).expand(-1, -1, 2).requires_grad_(),
        target.expand(2, -1).T,
    )
    yield "no gradient", input.detach(), target


@pytest.mark.parametrize("case", range(4))
def test_is_not_taken_for_other_tensors(loss_function, case):
    _, input, target = list(changed(*batch()))[case]
    loss = loss_function(input, target, order(5, 0.6))
    assert loss.grad_fn is None or loss.grad_fn.name() == "FusedLossBackward"


def test_linear_space_is_enough_mostly(loss_function, monkeypatch):
    """The long way is only gone where it must be."""
    monkeypatch.setattr(ordinary, "compute", lambda *a, **k: pytest.fail("not needed"))
    input, target = batch(spread=3.0)
    loss_function(input, target, order(5, 0.6)).backward()


@pytest.mark.parametrize("wrong", [5, -1])
def test_a_wrong_class_gets_our_sentence(loss_function, wrong):
    input, target = batch()
    target[3] = wrong
    with pytest.raises(ValueError, match=rf"in \[0, 5\) or .*, but got {wrong} at position 3"):
        loss_function(input, target, order(5, 0.7))
