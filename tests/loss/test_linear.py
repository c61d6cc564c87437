"""The last layer and the loss in one: what the two are apart, and never all logits."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import simloss
from simloss.loss import over_chunks
from simloss.similarity import embedding, matrix, order, sparse

C, D, N = 7, 4, 6
PAIRS = {
    "sim": (simloss.linear_sim_loss, simloss.sim_loss),
    "proper": (simloss.linear_proper_sim_loss, simloss.proper_sim_loss),
    "soft": (simloss.linear_soft_target_loss, simloss.soft_target_loss),
}
MODULES = {
    "sim": simloss.LinearSimLoss,
    "proper": simloss.LinearProperSimLoss,
    "soft": simloss.LinearSoftTargetLoss,
}


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Two rows at a time, so that every test sees several chunks."""
    monkeypatch.setattr(over_chunks, "_CHUNK_ENTRIES", 2 * C)


def similarities():
    generator = torch.Generator().manual_seed(0)
    S = torch.rand(C, C, generator=generator, dtype=torch.float64).fill_diagonal_(1)
    return {
        "order": order(C, 0.6),
        "dense": matrix(S),
        "sparse": sparse(matrix(torch.where(S < 0.5, 0.0, S))),
        "embedding": embedding(torch.randn(C, 3, generator=generator)),
        "normalised": order(C, 0.6).normalized(),
    }


def layer(seed=0, spread=1.0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    shapes = (N, D), (C, D), (C,)
    x, W, b = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return [each.to(dtype).requires_grad_() for each in (spread * x, W, b)]


def target(seed=0):
    return torch.randint(C, (N,), generator=torch.Generator().manual_seed(seed))


def value_and_gradients(loss, leaves):
    direction = 0.5 + 0.25 * (torch.arange(loss.numel()) % 5).to(loss.dtype)
    wanted = [leaf for leaf in leaves if leaf is not None and leaf.requires_grad]
    return loss, *torch.autograd.grad(loss, wanted, direction.reshape(loss.shape))


def assert_equal(ours, theirs, tolerance):
    for a, b in zip(ours, theirs, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert torch.allclose(a, b, rtol=tolerance, atol=tolerance)


@settings(max_examples=150)
@given(
    name=st.sampled_from(list(PAIRS)),
    form=st.sampled_from(list(similarities())),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([1.0, 300.0]),
    soft=st.booleans(),
    biased=st.booleans(),
    weighted=st.booleans(),
    ignore=st.sampled_from([-100, 2]),
    reduction=st.sampled_from(["none", "mean", "sum"]),
    label_smoothing=st.sampled_from([0.0, 0.2]),
    share=st.sampled_from([0.0, 0.3]),
    frozen=st.sampled_from(["nothing", "input", "weight"]),
)
def test_is_the_layer_and_then_the_loss(
    name, form, seed, spread, soft, biased, weighted, ignore, reduction, label_smoothing, share,
    frozen,
):  # fmt: skip
    joint, loss = PAIRS[name]
    x, W, b = layer(seed, spread)
    {"input": x, "weight": W}.get(frozen, torch.empty(0)).requires_grad_(False)
    b = b if biased else None
    y = target(seed)
    if soft:
        y, ignore = torch.rand(N, C, generator=torch.Generator().manual_seed(seed)).double(), -100
    options = {
        "weight": torch.rand(C).double() + 0.1 if weighted else None,
        "ignore_index": ignore,
        "reduction": reduction,
        "label_smoothing": label_smoothing,
        "cross_entropy_share": share,
    }
    S = similarities()[form]
    ours = joint(x, W, y, S, linear_bias=b, **options)
    assert ours.grad_fn.name() == "LossOverChunksBackward"
    theirs = loss(F.linear(x, W, b), y, S, **options)
    assert_equal(
        value_and_gradients(ours, [x, W, b]),
        value_and_gradients(theirs, [x, W, b]),
        1e-10 * max(1, spread),
    )


@pytest.mark.parametrize("name", PAIRS)
class TestArguments:
    def test_example_weights(self, name):
        """A weighted mean, and with class weights their product."""
        joint, loss = PAIRS[name]
        x, W, b = layer()
        y = target()
        y[1] = -100
        examples, weight = torch.rand(N).double(), torch.rand(C).double()
        each = loss(F.linear(x, W, b), y, order(C, 0.6), weight=weight, reduction="none")
        total = (each * examples).sum()
        divisor = (examples * weight[y.clamp(min=0)] * (y >= 0)).sum()
        expected = {"none": each * examples, "sum": total, "mean": total / divisor}
        for reduction, theirs in expected.items():
            ours = joint(
                x, W, y, order(C, 0.6), linear_bias=b, weight=weight, reduction=reduction,
                example_weight=examples,
            )  # fmt: skip
            found = value_and_gradients(ours, [x, W, b])
            leaves = [x, W, b]
            direction = 0.5 + 0.25 * (torch.arange(theirs.numel()) % 5).double()
            gradients = torch.autograd.grad(
                theirs, leaves, direction.reshape(theirs.shape), retain_graph=True
            )
            assert_equal(found, (theirs, *gradients), 1e-11)

    def test_example_weights_with_smoothing_and_probabilities(self, name):
        joint, loss = PAIRS[name]
        x, W, _ = layer()
        examples = torch.rand(N).double()
        for y in (target(), torch.rand(N, C).double()):
            each = loss(F.linear(x, W), y, order(C, 0.6), label_smoothing=0.3, reduction="none")
            ours = joint(x, W, y, order(C, 0.6), label_smoothing=0.3, example_weight=examples)
            theirs = (each * examples).sum() / examples.sum()
            assert_equal(
                value_and_gradients(ours, [x, W]), value_and_gradients(theirs, [x, W]), 1e-11
            )

    def test_shapes(self, name):
        """Features (D) and (*, D), as of the tokens of several texts."""
        joint, loss = PAIRS[name]
        x, W, _ = layer()
        y, S = target(), order(C, 0.6)
        tokens, labels = x.reshape(2, 3, D), y.reshape(2, 3)
        each = loss(F.linear(x, W), y, S, reduction="none")
        assert torch.allclose(joint(tokens, W, labels, S, reduction="none"), each.reshape(2, 3))
        assert torch.allclose(joint(tokens, W, labels, S), each.mean())
        assert torch.allclose(joint(x[0], W, y[0], S, reduction="none"), each[0])
        soft = torch.rand(2, 3, C).double()
        expected = loss(F.linear(x, W), soft.reshape(-1, C), S)
        assert torch.allclose(joint(tokens, W, soft, S), expected)

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
    def test_dtypes(self, name, dtype):
        joint, loss = PAIRS[name]
        leaves = layer(dtype=dtype)
        x, W, b = leaves
        ours = joint(x, W, target(), order(C, 0.6), linear_bias=b)
        theirs = loss(F.linear(x, W, b), target(), order(C, 0.6))
        tolerance = {torch.bfloat16: 2e-2, torch.float16: 3e-3, torch.float32: 1e-5}[dtype]
        assert_equal(
            value_and_gradients(ours, leaves), value_and_gradients(theirs, leaves), tolerance
        )

    def test_autocast(self, name):
        joint, loss = PAIRS[name]
        leaves = layer(dtype=torch.float32)
        x, W, b = leaves
        with torch.autocast("cpu", dtype=torch.bfloat16):
            ours = joint(x, W, target(), order(C, 0.6), linear_bias=b)
            theirs = loss(F.linear(x, W, b), target(), order(C, 0.6))
        assert ours.dtype == torch.float32
        assert_equal(value_and_gradients(ours, leaves), value_and_gradients(theirs, leaves), 2e-2)


@pytest.mark.parametrize("name", PAIRS)
class TestBackward:
    def test_twice(self, name):
        x, W, b = layer()
        for reduction in ("mean", "none"):
            loss = PAIRS[name][0](
                x, W, target(), order(C, 0.6), linear_bias=b, reduction=reduction
            ).sum()
            first = torch.autograd.grad(loss, [x, W, b], torch.tensor(2.0).double(), True)
            second = torch.autograd.grad(loss, [x, W, b])
            for a, c in zip(first, second, strict=True):
                assert torch.allclose(a, 2 * c, rtol=1e-13)

    def test_gradcheck(self, name):
        x, W, b = layer()

        def loss(x, W, b):
            return PAIRS[name][0](x, W, target(), order(C, 0.6), linear_bias=b)

        assert torch.autograd.gradcheck(loss, (x, W, b))
        assert torch.autograd.gradgradcheck(loss, (x, W, b))

    def test_compile_and_func(self, name):
        torch._dynamo.reset()
        x, W, _ = layer()
        joint, y, S = PAIRS[name][0], target(), order(C, 0.6)

        def loss(x, W):
            return joint(x, W, y, S)

        expected = torch.autograd.grad(loss(x, W), [x, W])
        compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
        assert_equal(torch.autograd.grad(compiled(x, W), [x, W]), expected, 1e-11)
        functional = torch.func.grad(loss, argnums=(0, 1))(x.detach(), W.detach())
        assert_equal(functional, expected, 1e-11)

    def test_a_tied_weight(self, name):
        """The weight is both the embedding that makes the features and the last layer."""
        joint, loss = PAIRS[name]
        tokens, y = torch.tensor([0, 3, 3, 6, 1, 2]), target()
        gradients = []
        for of in (
            lambda x, W: joint(x, W, y, order(C, 0.6)),
            lambda x, W: loss(F.linear(x, W), y, order(C, 0.6)),
        ):
            W = layer()[1]
            of(F.embedding(tokens, W).tanh(), W).backward()
            gradients.append(W.grad)
        assert torch.allclose(*gradients, rtol=1e-11)

    def test_without_gradients(self, name):
        x, W, _ = layer()
        with torch.no_grad():
            quiet = PAIRS[name][0](x, W, target(), order(C, 0.6))
        assert not quiet.requires_grad
        assert torch.allclose(quiet, PAIRS[name][0](x, W, target(), order(C, 0.6)))


class TestModule:
    def test_is_the_function(self, loss_name):
        torch.manual_seed(0)
        options = {"weight": torch.rand(C), "ignore_index": 2, "label_smoothing": 0.1}
        module = MODULES[loss_name](D, C, order(C, 0.6), bias=True, **options)
        x, examples = torch.randn(N, D), torch.rand(N)
        expected = PAIRS[loss_name][0](
            x,
            module.linear.weight,
            target(),
            order(C, 0.6),
            linear_bias=module.linear.bias,
            example_weight=examples,
            **options,
        )
        assert module(x, target(), examples).item() == expected.item()
        module.set_similarity(order(C, 0.1))
        assert module(x, target(), examples).item() != expected.item()

    def test_loads_a_checkpoint_of_torchs_own(self, loss_name):
        module = MODULES[loss_name](D, C, order(C, 0.6), bias=True)
        plain = nn.Linear(D, C)
        module.load_state_dict({f"linear.{k}": v for k, v in plain.state_dict().items()})
        assert torch.equal(module.linear.weight, plain.weight)

    def test_the_identity_is_torchs_linear_cross_entropy(self, loss_name):
        if not hasattr(F, "linear_cross_entropy"):
            pytest.skip("torch before 2.13")
        x, W, b = layer()
        ours = PAIRS[loss_name][0](x, W, target(), order(C, 0.0), linear_bias=b)
        theirs = F.linear_cross_entropy(x, W, target(), linear_bias=b)
        assert_equal(
            value_and_gradients(ours, [x, W, b]), value_and_gradients(theirs, [x, W, b]), 1e-12
        )

    def test_ties_and_devices(self, loss_name):
        embedding_layer = nn.Embedding(C, D)
        module = MODULES[loss_name](D, C, order(C, 0.6))
        module.linear.weight = embedding_layer.weight
        module(embedding_layer(torch.arange(N)), target()).backward()
        assert embedding_layer.weight.grad.abs().sum() > 0
        assert MODULES[loss_name](D, C, order(C, 0.6), dtype=torch.float64).linear.weight.dtype == (
            torch.float64
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"linear_weight": torch.zeros(C + 1, D)}, r"`linear_weight` must have shape \(C, D\)"),
        ({"linear_weight": torch.zeros(C)}, r"`linear_weight` must have shape \(C, D\)"),
        ({"input": torch.zeros(N, D + 1)}, "`input` must have the 4 features"),
        ({"linear_bias": torch.zeros(C + 1)}, r"`linear_bias` must have shape \(7,\)"),
        ({"target": torch.zeros(N + 1).long()}, r"class indices must have shape \(6,\)"),
        ({"target": torch.zeros(N, C + 1)}, r"class probabilities must have shape \(6, 7\)"),
        ({"target": torch.full((N,), C)}, r"in \[0, 7\)"),
        ({"example_weight": torch.zeros(N + 1)}, r"`example_weight` must have shape \(6,\)"),
        ({"reduction": "average"}, "`reduction` must be one of"),
    ],
)
def test_bad_input(loss_name, change, message):
    arguments = {"input": torch.zeros(N, D), "linear_weight": torch.zeros(C, D), "target": target()}
    with pytest.raises(ValueError, match=message):
        PAIRS[loss_name][0](similarity=order(C, 0.6), **{**arguments, **change})


@pytest.mark.parametrize("name", ["input", "linear_weight", "target", "example_weight"])
def test_bad_types(loss_name, name):
    arguments = {
        "input": torch.zeros(N, D),
        "linear_weight": torch.zeros(C, D),
        "target": target(),
        "example_weight": None,
        name: torch.zeros(N, dtype=torch.bool) if name == "target" else [0.0],
    }
    with pytest.raises(TypeError, match=f"`{name}` must be"):
        PAIRS[loss_name][0](similarity=order(C, 0.6), **arguments)


def test_bad_class_counts():
    with pytest.raises(ValueError, match="`similarity` must have as many classes"):
        simloss.LinearSimLoss(D, C + 1, order(C, 0.6))


MEMORY = """
import resource, torch, simloss
torch.set_num_threads(1)
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
N, D, C = 2048, 16, 60_000  # all logits would be 470 MB, and as much again for their gradient
x = torch.randn(N, D, requires_grad=True)
W = torch.randn(C, D, requires_grad=True)
y = torch.randint(C, (N,))
for loss in (simloss.linear_sim_loss, simloss.linear_soft_target_loss):
    few = loss(x[:8], W, y[:8], simloss.similarity.order(C, r=0.5)).backward()
before = peak()
simloss.linear_sim_loss(x, W, y, simloss.similarity.order(C, r=0.5)).backward()
print(peak() - before)
"""


def test_all_logits_are_never_held():
    result = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True)
    assert float(result.stdout) < 300, result.stderr


def test_autocast_leaves_float64_alone():
    x, weight = torch.randn(5, 8).double(), torch.randn(6, 8).double()
    y, s = torch.arange(5), simloss.similarity.order(6, 0.5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ours = simloss.linear_sim_loss(x, weight, y, s)
        plain = simloss.sim_loss(torch.nn.functional.linear(x, weight), y, s)
    torch.testing.assert_close(ours, plain)
