"""The losses against PyTorch's own standards, in the manner of its OpInfo tests.

Every sample input of `samples` goes through every loss and every form of similarity, and the judge
is the formula as a plain loop (tests/reference.py) on Python floats. What `F.cross_entropy` takes,
these take: with a similarity of zeros beside the diagonal they are compared with it directly.
"""

from contextlib import contextmanager

import pytest
import torch
import torch.nn.functional as F

import reference
import simloss
from simloss.similarity import identity, order, sparse

C, N = 5, 6
FUNCTIONS = {
    "sim": (simloss.sim_loss, reference.sim_loss),
    "proper": (simloss.proper_sim_loss, reference.proper_sim_loss),
    "soft": (simloss.soft_target_loss, reference.soft_target_loss),
}
FORMS = {
    "order": lambda: order(C, 0.6),
    "dense": lambda: order(C, 0.6).to_dense(torch.float64),
    "sparse": lambda: sparse(order(C, 0.6), top_k=3),
}
TOLERANCE = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
}
LOGITS = torch.randn(N, C, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
TARGET = torch.tensor([0, 1, 2, 3, 4, 1])


@pytest.fixture(params=FUNCTIONS)
def name(request):
    return request.param


@pytest.fixture(params=FORMS)
def S(request):
    return FORMS[request.param]()


def dense(S):
    return (S if isinstance(S, torch.Tensor) else S.to_dense(torch.float64)).tolist()


def expected(name, input, target, S, **options):
    """By the plain loop, one number per example."""
    numbers, truth = input.double().tolist(), target.tolist()
    found = reference.contract(FUNCTIONS[name][1], numbers, truth, dense(S), **options)
    return torch.tensor(found, dtype=torch.float64)


def check(name, input, target, S, **options):
    """Values, and that a gradient of the right shape and dtype comes back."""
    loss = FUNCTIONS[name][0]
    leaf = input.detach().requires_grad_()
    found = loss(leaf, target, S, **options)
    wanted = expected(name, input, target, S, **options)
    tolerance = TOLERANCE[input.dtype]
    assert found.dtype == input.dtype
    assert torch.allclose(found.double(), wanted, rtol=tolerance, atol=tolerance)
    found.sum().backward()
    assert leaf.grad.shape == input.shape
    assert leaf.grad.dtype == input.dtype
    assert leaf.grad.isfinite().all()
    return leaf.grad


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_dtypes(name, S, dtype, reduction):
    check(name, LOGITS.to(dtype), TARGET, S, reduction=reduction)


LAYOUTS = {
    "transposed": lambda z: z.t().contiguous().t(),
    "every second row": lambda z: z.repeat_interleave(2, 0)[::2],
    "every second column": lambda z: z.repeat_interleave(2, 1)[:, ::2],
    "with an offset": lambda z: torch.cat([z[:1], z])[1:],
    "as a view of more": lambda z: torch.stack([z, z], 2)[:, :, 1],
    "of a flipped copy": lambda z: z.flip(0).flip(0),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_noncontiguous_inputs(name, S, layout):
    input = LAYOUTS[layout](LOGITS)
    gradient = check(name, input, TARGET, S)
    assert torch.allclose(gradient, check(name, LOGITS, TARGET, S), atol=1e-12)


def test_noncontiguous_targets(name, S):
    target = TARGET.repeat_interleave(3)[::3]
    assert not target.is_contiguous()
    check(name, LOGITS, target, S)
    probabilities = LOGITS.softmax(-1).t().contiguous().t()
    loss = FUNCTIONS[name][0]
    assert torch.allclose(
        loss(LOGITS, probabilities, S), loss(LOGITS, probabilities.contiguous(), S), atol=1e-12
    )


def test_expanded_inputs(name, S):
    """One example expanded to many: no memory of its own."""
    input = LOGITS[:1].expand(N, C)
    loss = FUNCTIONS[name][0]
    leaf = LOGITS[:1].clone().requires_grad_()
    loss(leaf.expand(N, C), TARGET, S, reduction="sum").backward()
    wanted = expected(name, input, TARGET, S, reduction="none")
    assert torch.allclose(loss(input, TARGET, S, reduction="none"), wanted, atol=1e-12)
    one_by_one = torch.stack([check(name, LOGITS[:1], y.view(1), S)[0] for y in TARGET]).sum(0)
    assert torch.allclose(leaf.grad[0], one_by_one, atol=1e-12)
    assert torch.equal(loss(input, TARGET[1].expand(N), S), loss(input, TARGET[1].repeat(N), S))


@pytest.mark.parametrize("shape", [(0, C), (0, C, 3), (2, C, 0)])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_batches_of_nothing(name, S, shape, reduction):
    """As `F.cross_entropy` does: nothing, NaN for a mean of nothing, and a gradient of zeros."""
    input = torch.zeros(shape, requires_grad=True)
    target = torch.zeros((shape[0], *shape[2:]), dtype=torch.long)
    found = FUNCTIONS[name][0](input, target, S, reduction=reduction)
    wanted = F.cross_entropy(input, target, reduction=reduction)
    assert torch.equal(found, wanted) or (found.isnan().all() and wanted.isnan().all())
    found.sum().backward()
    assert input.grad.shape == shape


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_images(name, S, layout):
    generator = torch.Generator().manual_seed(1)
    input = torch.randn(2, C, 3, 4, generator=generator, dtype=torch.float64)
    target = torch.randint(C, (2, 3, 4), generator=generator)
    leaf = input.contiguous(memory_format=layout).requires_grad_()
    found = FUNCTIONS[name][0](leaf, target, S, reduction="none")
    assert found.shape == (2, 3, 4)
    flat = input.permute(0, 2, 3, 1).reshape(-1, C)
    wanted = expected(name, flat, target.flatten(), S, reduction="none")
    assert torch.allclose(found.flatten(), wanted, atol=1e-12)
    found.sum().backward()
    assert leaf.grad.is_contiguous(memory_format=layout)


def test_one_example_without_a_batch(name, S):
    found = FUNCTIONS[name][0](LOGITS[0], TARGET[0], S)
    assert found.shape == ()
    assert torch.allclose(found, expected(name, LOGITS[:1], TARGET[:1], S), atol=1e-12)


class TestGradientsOfParts:
    def gradient(self, name, *, input=False, target=False, weight=False, similarity=False):
        """Which of the four get a gradient, where these require one."""
        z = LOGITS.clone().requires_grad_(input)
        t = LOGITS.softmax(-1).detach().requires_grad_(target)
        w = torch.rand(C, dtype=torch.float64).requires_grad_(weight)
        S = order(C, 0.6).to_dense(torch.float64).requires_grad_(similarity)
        loss = FUNCTIONS[name][0](z, t, S, weight=w)
        if loss.requires_grad:
            loss.backward()
        return [each.grad is not None for each in (z, t, w, S)]

    def test_only_where_asked(self, name):
        assert self.gradient(name) == [False] * 4
        assert self.gradient(name, input=True) == [True, False, False, False]
        assert self.gradient(name, target=True) == [False, True, False, False]
        assert self.gradient(name, similarity=True) == [False, False, False, True]
        assert self.gradient(name, input=True, similarity=True) == [True, False, False, True]

    def test_gradcheck_of_each(self, name):
        S = order(C, 0.6).to_dense(torch.float64)
        loss = FUNCTIONS[name][0]
        z = LOGITS[:3].clone().requires_grad_()
        t = LOGITS[:3].softmax(-1).detach().requires_grad_()
        assert torch.autograd.gradcheck(lambda z: loss(z, TARGET[:3], S), (z,))
        assert torch.autograd.gradcheck(lambda z, t: loss(z, t, S), (z, t))
        assert torch.autograd.gradgradcheck(lambda z: loss(z, TARGET[:3], S), (z,))


def test_meta_tensors(name):
    """Shapes without numbers, as when a large model is planned."""
    module = {
        "sim": simloss.SimLoss,
        "proper": simloss.ProperSimLoss,
        "soft": simloss.SoftTargetLoss,
    }[name]
    input = torch.empty(N, C, device="meta", requires_grad=True)
    target = torch.empty(N, dtype=torch.long, device="meta")
    each = module(order(C, 0.6), reduction="none").to("meta")(input, target)
    assert each.device.type == "meta"
    assert each.shape == (N,)
    module(order(C, 0.6)).to("meta")(input, target).backward()
    assert input.grad.shape == (N, C)


def test_inference_mode_and_no_grad(name, S):
    loss = FUNCTIONS[name][0]
    wanted = loss(LOGITS, TARGET, S)
    with torch.inference_mode():
        inside = loss(LOGITS.clone(), TARGET.clone(), S)
        assert inside.is_inference()
        assert torch.allclose(inside, wanted, atol=1e-12)
    with torch.no_grad():
        assert not loss(LOGITS.clone().requires_grad_(), TARGET, S).requires_grad
    # What was made in inference mode can be looked at outside.
    made = LOGITS.clone()
    with torch.inference_mode():
        made = made * 1
    assert torch.allclose(loss(made, TARGET, S), wanted, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_autocast_computes_in_float32(name, S, dtype):
    loss = FUNCTIONS[name][0]
    weight = torch.randn(C, C, generator=torch.Generator().manual_seed(2)) * 0.5
    with torch.autocast("cpu", dtype):
        logits = F.linear(LOGITS.float(), weight)
        assert logits.dtype == dtype
        found = loss(logits, TARGET, S)
        assert found.dtype == F.cross_entropy(logits, TARGET).dtype
    wanted = expected(name, logits, TARGET, S)
    assert torch.allclose(found.double(), wanted, atol=1e-5)


@contextmanager
def deterministic():
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def test_deterministic_mode(name, S):
    """Nothing in it is refused there, and twice is the same to the last bit."""
    with deterministic():
        gradients = []
        for _ in range(2):
            leaf = LOGITS.float().repeat(50, 1).requires_grad_()
            FUNCTIONS[name][0](leaf, TARGET.repeat(50), S).backward()
            gradients.append(leaf.grad)
    assert torch.equal(*gradients)


def test_inputs_are_left_alone(name, S):
    input, target = LOGITS.clone(), TARGET.clone()
    leaf = input.requires_grad_()
    FUNCTIONS[name][0](leaf, target, S).backward()
    assert torch.equal(leaf.detach(), LOGITS)
    assert torch.equal(target, TARGET)


@pytest.mark.parametrize("kind", [torch.int32, torch.uint8, torch.int16], ids=str)
def test_targets_of_other_whole_kinds_are_as_in_torch(name, kind):
    """Taken where cross entropy takes them, refused in a sentence where it does not."""
    loss = FUNCTIONS[name][0]
    try:
        wanted = F.cross_entropy(LOGITS, TARGET.to(kind))
    except RuntimeError:
        try:
            found = loss(LOGITS, TARGET.to(kind), identity(C))
        except (TypeError, ValueError, RuntimeError):
            return
        assert torch.allclose(found, F.cross_entropy(LOGITS, TARGET))
        return
    assert torch.allclose(loss(LOGITS, TARGET.to(kind), identity(C)), wanted)


def test_many_threads_at_once(name, S):
    """The same module from several threads gives each its own answer."""
    from concurrent.futures import ThreadPoolExecutor

    loss = FUNCTIONS[name][0]
    inputs = [LOGITS + i for i in range(16)]
    wanted = [loss(z * (1 + i), TARGET, S).item() for i, z in enumerate(inputs)]

    def work(i):
        leaf = (inputs[i] * (1 + i)).requires_grad_()
        value = loss(leaf, TARGET, S)
        value.backward()
        return value.item()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(16))) == pytest.approx(wanted, rel=1e-12)
