"""Smoothness over the class graph: plain loops, the kernel, derivatives, extremes, modules."""

import copy

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.autograd import gradcheck, gradgradcheck

import reference
import simloss
from simloss.loss.contract import Options
from simloss.loss.formula import formula_loss
from simloss.loss.proper import PROPER_SIM_LOSS
from simloss.loss.sim import SIM_LOSS
from simloss.loss.soft_target import SOFT_TARGET_LOSS
from simloss.similarity import (
    Tree,
    circular,
    class_graph,
    embedding,
    identity,
    matrix,
    order,
    sparse,
    tree,
    values,
)

LOSSES = {
    "sim": (simloss.sim_loss, reference.sim_loss, SIM_LOSS),
    "proper": (simloss.proper_sim_loss, reference.proper_sim_loss, PROPER_SIM_LOSS),
    "soft": (simloss.soft_target_loss, reference.soft_target_loss, SOFT_TARGET_LOSS),
}
INFINITY = float("inf")


def knowledge(C, seed=0):
    """One similarity for each kind of graph: line, ring, weighted line, groups, nearest classes."""
    generator = torch.Generator().manual_seed(seed)
    position = torch.rand(C, generator=generator, dtype=torch.float64)
    vectors = torch.randn(C, 3, generator=generator, dtype=torch.float64)
    paths = [f"{i // 6}/{i // 3}/{i}" for i in range(C)]
    return {
        "order": order(C, 0.7),
        "circle": circular(C, 0.6),
        "sorted positions": values(position.sort()[0], 0.3),
        "positions": values(position, 0.3),
        "tree": tree(Tree.from_paths(paths)) if C > 1 else order(C, 0.5),
        "matrix": matrix((vectors @ vectors.T).sigmoid().fill_diagonal_(1)),
        "sparse": sparse(embedding(vectors), top_k=min(3, C)),
    }


FORMS = list(knowledge(2))


def by_loops(graph):
    """The same penalty as a plain function of a list."""
    C = graph.num_classes
    groups: dict[int, list[int]] = {}
    for c, g in zip(graph.member.tolist(), graph.group.tolist(), strict=True):
        groups.setdefault(g, []).append(c)
    edges = list(
        zip(graph.first.tolist(), graph.second.tolist(), graph.weight.tolist(), strict=True)
    )
    assert all(max(i, j) < C + len(groups) for i, j, _ in edges)
    return lambda z: reference.roughness(z, edges, [groups[g] for g in sorted(groups)])


CONTRACT = {
    "soft": st.booleans(),
    "weighted": st.booleans(),
    "ignore": st.sampled_from([-100, 0]),
    "reduction": st.sampled_from(["none", "mean", "sum"]),
    "label_smoothing": st.sampled_from([0.0, 0.0, 0.2, 1.0]),
    "share": st.sampled_from([0.0, 0.3, 1.0]),
}


def example(shape, C, seed, soft, ignore, spread=2.0):
    generator = torch.Generator().manual_seed(seed)
    sizes = (shape[0], C, *shape[1:])
    input = spread * torch.randn(sizes, generator=generator, dtype=torch.float64)
    if soft:
        return input, torch.rand(sizes, generator=generator, dtype=torch.float64), -100
    target = torch.randint(C, shape, generator=generator)
    target.view(-1)[0] = C - 1
    return input, target, -100 if C == 1 else ignore


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(list(LOSSES)),
    form=st.sampled_from(FORMS),
    C=st.integers(1, 9),
    N=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    by_graph=st.booleans(),
    **CONTRACT,
)
def test_plain_loops(
    name, form, C, N, seed, by_graph, soft, weighted, ignore, reduction, label_smoothing, share
):
    ours, plain, _ = LOSSES[name]
    S = knowledge(C, seed)[form]
    input, target, ignore = example((N,), C, seed, soft, ignore)
    weight = torch.rand(C, dtype=torch.float64) + 0.1 if weighted else None
    options = {
        "ignore_index": ignore,
        "reduction": reduction,
        "label_smoothing": label_smoothing,
        "cross_entropy_share": share,
    }
    graph = 0.4 * class_graph(S)
    found = ours(input, target, S, weight=weight, smoothness=graph if by_graph else 0.4, **options)
    wanted = reference.contract(
        plain,
        input.tolist(),
        target.tolist(),
        S.to_dense(torch.float64).tolist(),
        weight=weight.tolist() if weighted else None,
        smoothness=by_loops(graph),
        **options,
    )
    assert found.tolist() == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def value_and_gradient(function, input):
    input = input.clone().requires_grad_()
    value = function(input)
    direction = 0.5 + 0.25 * (torch.arange(value.numel()) % 5).to(value.dtype)
    return value, torch.autograd.grad(value, input, direction.reshape(value.shape))[0]


@pytest.mark.skipif(not simloss.native_kernel(), reason="the kernel was not built")
@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(list(LOSSES)),
    form=st.sampled_from(FORMS),
    shape=st.sampled_from([(1,), (6,), (40,), (2, 3)]),
    C=st.sampled_from([1, 2, 3, 7, 17, 140]),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([1.0, 3.0, 60.0, 1000.0]),
    impossible=st.booleans(),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    **CONTRACT,
)
def test_the_kernel_is_the_formula(
    name,
    form,
    shape,
    C,
    seed,
    spread,
    impossible,
    dtype,
    soft,
    weighted,
    ignore,
    reduction,
    label_smoothing,
    share,
):
    ours, _, formula = LOSSES[name]
    S = knowledge(C, seed)[form]
    graph = 0.4 * class_graph(S)
    S = S if S.structure in ("order", "circular", "sparse") else matrix(S.to_dense())
    if impossible:  # of what is not wanted: else the loss is infinite
        soft, share, label_smoothing = False, 1.0, 0.0
    generator = torch.Generator().manual_seed(seed)
    input, target, ignore = example(shape, C, seed, soft, ignore, spread)
    input = input.to(dtype)
    target = target.to(dtype) if soft else target
    if impossible:
        mask = torch.rand(input.shape, generator=generator) < 0.3
        input = input.masked_fill(mask.scatter(1, target.unsqueeze(1), False), -INFINITY)
    weight = torch.rand(C, generator=generator) + 0.1 if weighted else None
    options = Options(weight, ignore, reduction, label_smoothing, share, graph)
    given = options._asdict()
    del given["example_weight"]
    fast = value_and_gradient(lambda z: ours(z, target, S, **given), input)
    slow = value_and_gradient(lambda z: formula_loss(formula, z, target, S, options), input)
    assert fast[0].grad_fn.name() == "KernelLossBackward"
    tolerance = 1e-11 if dtype == torch.float64 else 5e-6 * max(1.0, spread / 10)
    for one, other in zip(fast, slow, strict=True):
        assert torch.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)


C = 6
INPUT = torch.randn(5, C, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
TARGET = torch.tensor([0, 1, -100, 5, 1])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", [3, 40])
@pytest.mark.parametrize("name", list(LOSSES))
def test_the_graph_of_another_similarity(name, form, C):
    """An order along a ring, or with any other edges than its own."""
    z, y = torch.randn(19, C, dtype=torch.float64, requires_grad=True), torch.arange(19) % C
    options = {"smoothness": 0.5 * class_graph(knowledge(C)[form])}
    S, (function, _, formula) = order(C, 0.7), LOSSES[name]
    ours = function(z, y, S, **options)
    plain = formula_loss(formula, z, y, S, Options(**options))
    torch.testing.assert_close(ours, plain)
    torch.testing.assert_close(*(torch.autograd.grad(each, z)[0] for each in (ours, plain)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", [{}, {"reduction": "none"}, {"label_smoothing": 0.2}])
def test_derivatives(loss_function, form, options):
    S = knowledge(C)[form]
    graph = 0.5 * class_graph(S)
    S = S.to_dense(torch.float64)

    def loss(input):
        return loss_function(input, TARGET, S, smoothness=graph, **options)

    input = INPUT.clone().requires_grad_()
    assert gradcheck(loss, (input,))
    assert gradgradcheck(loss, (input,))


def test_what_is_like_nothing_is_left_alone(loss_function):
    for S in (identity(C), torch.eye(C)):
        plain, smooth = (
            loss_function(INPUT, TARGET, S),
            loss_function(INPUT, TARGET, S, smoothness=9.0),
        )
        assert torch.equal(plain, smooth)


def test_cross_entropy_with_smoothness():
    """A share of 1: what is known about the classes is in the graph only."""
    S = order(C, 0.5)
    graph = class_graph(S)
    counted = TARGET != -100
    wanted = F.cross_entropy(INPUT, TARGET) + 0.3 * graph.penalty(INPUT[counted]).mean()
    for function in (simloss.sim_loss, simloss.proper_sim_loss, simloss.soft_target_loss):
        found = function(INPUT, TARGET, S, cross_entropy_share=1, smoothness=0.3)
        assert found.item() == pytest.approx(wanted.item(), rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_an_impossible_class_has_no_edges(loss_function, form):
    """The others are as smooth as if it were not there; it gets no gradient."""
    S = knowledge(C)[form]
    graph = class_graph(S)
    for use in (S, S.to_dense()):
        input = INPUT.clone()
        input[:, 2] = -INFINITY
        input.requires_grad_()
        target = torch.tensor([0, 1, 3, 5, 1])
        loss = loss_function(input, target, use, smoothness=0.7 * graph, cross_entropy_share=1)
        wanted = [0.7 * by_loops(graph)(z) for z in input.tolist()]
        extra = loss - loss_function(input, target, use, cross_entropy_share=1)
        assert extra.item() == pytest.approx(sum(wanted) / 5, rel=1e-9)
        gradient = torch.autograd.grad(loss, input)[0]
        assert gradient.isfinite().all()
        assert (gradient[:, 2] == 0).all()


def test_logits_far_apart(loss_function):
    """The row is done again in log space, and its smoothness with it."""
    input = torch.tensor([[-1e4, -5e3, 5e3, 1e4]], dtype=torch.float64)
    for S in (order(4, 1e-300), order(4, 0.5)):
        one = loss_function(input, torch.tensor([0]), S)
        both = loss_function(input, torch.tensor([0]), S, smoothness=1e-3)
        wanted = 1e-3 * (5e3**2 + 1e4**2 + 5e3**2) / 3
        assert (both - one).item() == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_transforms(loss_function, form):
    S = knowledge(C)[form]

    def loss(input, target):
        return loss_function(input, target, S, smoothness=0.3)

    leaf = INPUT.clone().requires_grad_()
    wanted = torch.autograd.grad(loss(leaf, TARGET), leaf)[0]
    assert torch.allclose(torch.func.grad(loss)(INPUT, TARGET), wanted)
    apart = torch.stack([loss(i, t) for i, t in zip(INPUT, TARGET, strict=True)])
    assert torch.allclose(torch.func.vmap(loss)(INPUT, TARGET), apart, equal_nan=True)
    tangent = torch.randn_like(INPUT)
    forward = torch.func.jvp(lambda z: loss(z, TARGET), (INPUT,), (tangent,))[1]
    assert torch.allclose(forward, (wanted * tangent).sum())


@pytest.mark.parametrize("form", FORMS)
def test_compile_in_one_graph(loss_module, form):
    torch._dynamo.reset()
    loss = loss_module(knowledge(C)[form], smoothness=0.3)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    a, b = INPUT.clone().requires_grad_(), INPUT.clone().requires_grad_()
    loss(a, TARGET).backward()
    compiled(b, TARGET).backward()
    assert torch.allclose(a.grad, b.grad, atol=1e-12)


class TestModule:
    def test_the_rule(self, loss_module):
        for form, S in knowledge(C).items():
            loss = loss_module(S, examples=700)
            graph = class_graph(S)
            assert loss.smoothness == pytest.approx(graph.total_weight / 700), form
            plain = loss_module(S)
            counted = TARGET != -100
            wanted = loss.smoothness * graph.penalty(INPUT[counted]).mean()
            extra = loss(INPUT, TARGET) - plain(INPUT, TARGET)
            assert extra.item() == pytest.approx(wanted.item(), rel=1e-6), form

    def test_c_squared_over_three_n_for_an_order(self):
        loss = simloss.ProperSimLoss(order(90, 0.95), examples=14_173)
        assert loss.smoothness == pytest.approx(90 * 90 / (3 * 14_173))

    def test_the_graph_stays_when_the_similarity_changes(self, loss_module):
        loss = loss_module(order(C, 0.9), smoothness=0.3, cross_entropy_share=1)
        before = loss(INPUT, TARGET).item()
        loss.set_similarity(identity(C))
        assert loss(INPUT, TARGET).item() == pytest.approx(before)

    def test_value_and_gradient(self, loss_module):
        loss = loss_module(order(C, 0.9), smoothness=0.3)
        leaf = INPUT.clone().requires_grad_()
        value = loss(leaf, TARGET)
        wanted = torch.autograd.grad(value, leaf)[0]
        found = loss.value_and_gradient(INPUT.clone(), TARGET)
        assert found[0].item() == pytest.approx(value.item())
        assert torch.allclose(found[1], wanted, rtol=1e-12)

    def test_copies_checkpoints_and_words(self, loss_module):
        loss = loss_module(tree(Tree.from_paths(["a/1", "a/2", "b/3", "b/4"])), smoothness=0.25)
        assert "smoothness=0.25" in repr(loss)
        loss.load_state_dict(nn.CrossEntropyLoss().state_dict(), strict=True)
        input, target = INPUT[:, :4], TARGET.clamp(max=3)
        wanted = loss(input, target).item()
        assert copy.deepcopy(loss)(input, target).item() == wanted
        assert loss.half().to("cpu")(input, target).item() == pytest.approx(wanted)
        assert loss.to("meta")(input.to("meta"), target.to("meta")).device.type == "meta"

    def test_the_last_layer_in_one(self):
        generator = torch.Generator().manual_seed(0)
        x = torch.randn(5, 3, generator=generator)
        for name in ("SimLoss", "ProperSimLoss", "SoftTargetLoss"):
            whole = getattr(simloss, f"Linear{name}")(3, C, order(C, 0.6), examples=20)
            apart = getattr(simloss, name)(order(C, 0.6), examples=20)
            found = whole(x, TARGET)
            wanted = apart(whole.linear(x), TARGET)
            assert found.item() == pytest.approx(wanted.item(), rel=1e-5)
            ours = torch.autograd.grad(found, whole.linear.weight)[0]
            theirs = torch.autograd.grad(wanted, whole.linear.weight)[0]
            assert torch.allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"smoothness": -1}, ValueError, "`smoothness` must be a finite number of at least 0"),
        ({"smoothness": "rule"}, TypeError, "`smoothness` must be a number, but got 'rule'"),
        ({"smoothness": class_graph(order(4, 0.5))}, ValueError, "as many classes"),
        ({"examples": 0}, ValueError, "`examples` must be at least 1, but got 0"),
        ({"smoothness": 1.0, "examples": 9}, ValueError, "must not both be given"),
    ],
)
def test_bad_input(loss_module, options, error, words):
    with pytest.raises(error, match=words):
        loss_module(order(C, 0.5), **options)
