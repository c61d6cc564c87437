"""Small batches go through few operations; they are the plain formula all the same."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import simloss
from simloss.loss.contract import checked_problem
from simloss.loss.fused.ordinary import Call, ordinary_loss
from simloss.loss.plain import plain_loss
from simloss.loss.proper import PROPER_SIM_LOSS
from simloss.loss.sim import SIM_LOSS
from simloss.loss.soft_target import SOFT_TARGET_LOSS
from simloss.similarity import embedding, matrix, order

FORMULAS = {"sim": SIM_LOSS, "proper": PROPER_SIM_LOSS, "soft": SOFT_TARGET_LOSS}
OPTIONS = {
    "weight": None,
    "ignore_index": -100,
    "reduction": "mean",
    "label_smoothing": 0.0,
    "cross_entropy_share": 0.0,
}
C = 6


def dense():
    S = torch.rand(C, C, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    S[S < 0.4] = 0
    return S.fill_diagonal_(1)


SIMILARITIES = {
    "order": order(C, 0.7),
    "identity": order(C, 0.0),
    "dense": matrix(dense()),
    "confusions": matrix(dense()).normalized(),
}


def problem(name, input, target, S, **options):
    return checked_problem(FORMULAS[name], input, target, S, **{**OPTIONS, **options})


def small_loss(name, input, target, S, *, weight=None, ignore_index=-100, reduction="mean"):
    call = Call(FORMULAS[name], plain_loss, S, ignore_index, reduction)
    loss = ordinary_loss(call, input, target, weight)
    assert loss is None or loss.grad_fn is None or loss.grad_fn.name() == "NllLossBackward0"
    return loss


def batch(N=5, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    input = 3 * torch.randn(N, C, generator=generator, dtype=torch.float64)
    return input.to(dtype).requires_grad_(), torch.randint(C, (N,), generator=generator)


@given(
    name=st.sampled_from(list(FORMULAS)),
    form=st.sampled_from(list(SIMILARITIES)),
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    weighted=st.booleans(),
    ignore=st.sampled_from([-100, 2]),
    reduction=st.sampled_from(["none", "mean", "sum"]),
)
def test_twins(name, form, seed, dtype, weighted, ignore, reduction):
    input, target = batch(5, seed, dtype)
    weight = torch.rand(C, generator=torch.Generator().manual_seed(seed)) if weighted else None
    asked = (name, input, target, SIMILARITIES[form])
    options = {"weight": weight, "ignore_index": ignore, "reduction": reduction}
    found = []
    for loss in (small_loss(*asked, **options), plain_loss(problem(*asked, **options))):
        direction = 0.5 + torch.arange(loss.numel()).to(loss.dtype).reshape(loss.shape)
        first = torch.autograd.grad(loss, input, direction, create_graph=True)[0]
        found.append((loss, first, torch.autograd.grad(first.square().sum(), input)[0]))
    tolerance = 1e-10 if dtype == torch.float64 else 1e-4
    for ours, theirs in zip(*found, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


def test_is_taken(loss_name, loss_function):
    input, target = batch()
    loss = loss_function(input, target, order(C, 0.7))
    assert loss.grad_fn.name() == "NllLossBackward0"


@pytest.mark.parametrize(
    "change",
    [
        {"similarity": order(C, 0.7).normalized()},
        {"similarity": embedding(torch.eye(C))},
        {"input": torch.zeros(5, C, 1), "target": torch.zeros(5, 1).long()},
        {"input": torch.zeros(5, C).bfloat16()},
        {"target": torch.zeros(5, C)},
        {"input": torch.zeros(400, C), "target": torch.zeros(400).long()},
        {"input": torch.zeros(C, 5).T},
        {"input": torch.tensor([[0.0, 0, 0, 0, 0, 1000]]), "target": torch.tensor([0])},
        {"input": torch.full((5, C), float("nan"))},
    ],
    ids=str,
)
def test_is_not_taken(loss_name, change):
    if loss_name == "sim" and "input" in change and change["input"].amax() == 1000:
        change = {**change, "similarity": order(C, 1e-9)}
    elif loss_name == "proper" and change.get("input", torch.zeros(1)).amax() == 1000:
        change = {**change, "similarity": order(C, 0.0)}
    arguments = {
        "input": torch.zeros(5, C),
        "target": torch.zeros(5).long(),
        "similarity": order(C, 0.7),
        **change,
    }
    input, target, S = (arguments.pop(name) for name in ("input", "target", "similarity"))
    assert small_loss(loss_name, input, target, S) is None


@pytest.mark.parametrize("option", ["label_smoothing", "cross_entropy_share"])
def test_is_not_taken_with_options(loss_function, option):
    input, target = batch()
    loss = loss_function(input, target, order(C, 0.7), **{option: 0.1})
    assert loss.grad_fn.name() == "FusedLossBackward"


def test_a_wrong_weight_gets_our_sentence(loss_function):
    input, target = batch()
    with pytest.raises(ValueError, match=f"for each of the {C} classes"):
        loss_function(input, target, order(C, 0.7), weight=torch.ones(C + 1))


@pytest.mark.parametrize("wrong", [C, -1])
def test_a_wrong_class_gets_our_sentence(loss_function, wrong):
    input, target = batch()
    target[3] = wrong
    with pytest.raises(ValueError, match=rf"in \[0, {C}\) or .*, but got {wrong} at position 3"):
        loss_function(input, target, order(C, 0.7))
    assert simloss.sim_loss(input, target, order(C, 0.7), ignore_index=wrong).isfinite()
