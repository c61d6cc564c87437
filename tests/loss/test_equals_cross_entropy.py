"""With S = I every loss is `F.cross_entropy`, value and gradient, for every combination."""

from itertools import product

import pytest
import torch
import torch.nn.functional as F

from simloss.similarity import identity

C = 5
SHAPES = {"unbatched": (), "batch": (7,), "spatial": (3, 4), "volume": (2, 3, 2, 2), "empty": (0,)}
TARGETS = ("index", "probability", "unnormalised")
WEIGHTS = ("none", "some", "with zero")
IGNORED = ("default", "class 1", "negative", "all")
REDUCTIONS = ("mean", "sum", "none")
SMOOTHING = (0.0, 0.3, 1.0)
SHARES = (0.0, 0.4)
FORMS = ("order", "matrix")
DTYPES = {torch.float64: 1e-12, torch.float32: 1e-6, torch.bfloat16: 4e-3, torch.float16: 5e-4}


def inputs_and_targets(shape, kind, ignored, dtype, generator):
    input_shape = (C,) if shape == () else (shape[0], C, *shape[1:])
    input = (3 * torch.randn(input_shape, generator=generator, dtype=torch.float64)).to(dtype)
    if kind != "index":
        target = torch.rand(input_shape, generator=generator, dtype=torch.float64)
        if kind == "probability":
            target = target.softmax(0 if shape == () else 1)
        return input, target.to(dtype)
    target = torch.randint(C, shape, generator=generator)
    if ignored == "negative" and target.numel() > 1:
        target.view(-1)[0] = -7
    if ignored == "all":
        target.fill_(-100)
    return input, target


def value_and_gradients(loss, input, target, grad_target):
    input = input.clone().requires_grad_()
    leaves = [input]
    if grad_target:
        target = target.clone().requires_grad_()
        leaves.append(target)
    value = loss(input, target)
    # Exact in every dtype, and not all 1.
    direction = (0.5 + 0.25 * (torch.arange(value.numel()) % 5)).to(value.dtype)
    direction = direction.reshape(value.shape)
    return value.detach(), *torch.autograd.grad((value * direction).sum(), leaves)


def close(ours, theirs, tolerance):
    assert ours.shape == theirs.shape
    ours, theirs = ours.double(), theirs.double()
    assert torch.equal(ours.isnan(), theirs.isnan())
    scale = max(1.0, theirs.nan_to_num().abs().max().item() if theirs.numel() else 1.0)
    assert torch.allclose(ours, theirs, rtol=0, atol=tolerance * scale, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_full_product(loss_function, shape, form, dtype):
    generator = torch.Generator().manual_seed(0)
    similarity = identity(C) if form == "order" else torch.eye(C, dtype=torch.float64)
    tried = 0
    for kind, weights, ignored, reduction, smoothing, share in product(
        TARGETS, WEIGHTS, IGNORED, REDUCTIONS, SMOOTHING, SHARES
    ):
        if kind != "index" and ignored != "default":
            continue
        input, target = inputs_and_targets(SHAPES[shape], kind, ignored, dtype, generator)
        weight = None
        if weights != "none":
            weight = torch.rand(C, generator=generator).to(dtype)
            if weights == "with zero":
                weight[2] = 0
        options = {
            "weight": weight,
            "ignore_index": {"class 1": 1, "negative": -7}.get(ignored, -100),
            "reduction": reduction,
            "label_smoothing": smoothing,
        }

        def ours(input, target, options=options, share=share):
            return loss_function(input, target, similarity, cross_entropy_share=share, **options)

        def theirs(input, target, options=options, dtype=dtype):
            # Torch adds up half precision in half precision; the judge is its float32.
            judge = torch.promote_types(dtype, torch.float32)
            wide = {
                k: v.to(judge) if k == "weight" and v is not None else v for k, v in options.items()
            }
            target = target.to(judge) if target.is_floating_point() else target
            return F.cross_entropy(input.to(judge), target, **wide)

        assert ours(input, target).dtype == F.cross_entropy(input, target, **options).dtype
        grad_target = kind != "index"
        for a, b in zip(
            value_and_gradients(ours, input, target, grad_target),
            value_and_gradients(theirs, input, target, grad_target),
            strict=True,
        ):
            close(a, b, DTYPES[dtype])
        tried += 1
    # 3 weights x 3 reductions x 3 smoothings x 2 shares x (4 ways to ignore + 2 soft targets)
    assert tried == 324


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_logits_of_minus_infinity(loss_function, share):
    input = torch.randn(4, C, generator=torch.Generator().manual_seed(1))
    input[:, 1] = float("-inf")
    target = torch.tensor([1, 0, 2, 1])
    for form in (identity(C), torch.eye(C)):
        ours = value_and_gradients(
            lambda i, t, S=form: loss_function(
                i, t, S, reduction="none", cross_entropy_share=share
            ),
            input,
            target,
            False,
        )
        theirs = value_and_gradients(
            lambda i, t: F.cross_entropy(i, t, reduction="none"), input, target, False
        )
        assert torch.allclose(ours[0], theirs[0])
        assert torch.allclose(ours[1], theirs[1], atol=1e-6)


def test_target_of_another_dtype(loss_function):
    input = torch.randn(3, C)
    target = torch.rand(3, C, dtype=torch.float64)
    ours = loss_function(input, target, identity(C))
    assert ours.dtype == torch.float64
    close(ours, F.cross_entropy(input, target), 1e-6)
    half = loss_function(input.bfloat16(), target.float(), identity(C))
    assert half.dtype == F.cross_entropy(input.bfloat16(), target.float()).dtype == torch.float32
    for dtype in (torch.uint8, torch.int32, torch.int16):
        index = torch.tensor([0, 3, 4])
        assert loss_function(input, index.to(dtype), identity(C)) == loss_function(
            input, index, identity(C)
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_autocast(loss_function, dtype):
    input, target = torch.randn(6, C).to(dtype), torch.randint(C, (6,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ours = loss_function(input, target, identity(C))
        theirs = F.cross_entropy(input, target)
    assert ours.dtype == theirs.dtype
    close(ours, theirs, 1e-6)


@pytest.mark.parametrize("layout", ["transposed", "channels_last", "expanded", "sliced"])
def test_strides_do_not_matter(loss_function, layout):
    input = torch.randn(4, C, 3, 3)
    target = torch.randint(C, (4, 3, 3))
    if layout == "transposed":
        input, target = input.transpose(2, 3), target.transpose(1, 2)
    elif layout == "channels_last":
        input = input.contiguous(memory_format=torch.channels_last)
    elif layout == "expanded":
        input = input[:1].expand(4, -1, -1, -1)
    else:
        input, target = input[..., ::2], target[..., ::2]
    close(loss_function(input, target, identity(C)), F.cross_entropy(input, target), 1e-6)
