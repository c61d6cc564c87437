"""Bad input gets one clear sentence: what, the rule, what came, the remedy."""

import pytest
import torch

from simloss.similarity import order

C = 4
INPUT, TARGET, S = torch.randn(3, C), torch.tensor([0, 1, 2]), order(C, 0.5)


@pytest.mark.parametrize(
    ("input", "target", "message"),
    [
        (INPUT, torch.tensor([0, 4, 2]), r"in \[0, 4\) or .*-100, but got 4 at position 1\."),
        (INPUT, torch.tensor([0, 1, -1]), r"but got -1 at position 2\."),
        (INPUT[0], torch.tensor(7), r"but got 7\."),
        (
            torch.randn(2, C, 2),
            torch.tensor([[0, 1], [9, 0]]),
            r"but got 9 at position \(1, 0\)\.",
        ),
        (INPUT, torch.rand(3), r"must have the shape of `input`, \(3, 4\), .*`target.long\(\)`"),
        (INPUT, torch.rand(3, 5), r"must have the shape of `input`, \(3, 4\), but got \(3, 5\)\."),
        (INPUT, torch.tensor([0, 1]), r"must have shape \(3,\) .* but got \(2,\)\."),
        (INPUT, torch.zeros(3, C).long(), r"must have shape \(3,\) .* but got \(3, 4\)\."),
        (INPUT[:, :3], TARGET, r"as many classes as `input`, but it has 4 and .* has 3\."),
        (torch.tensor(1.0), torch.tensor(0), "but got a scalar"),
    ],
)
def test_values(loss_function, input, target, message):
    with pytest.raises(ValueError, match=message):
        loss_function(input, target, S)


@pytest.mark.parametrize(
    ("input", "target", "message"),
    [
        (INPUT.long(), TARGET, "floating-point logits, but got int64; a call takes `input` first"),
        (INPUT.tolist(), TARGET, r"`input` must be a tensor, but got list; pass `torch.as_tensor"),
        (
            INPUT,
            TARGET.tolist(),
            r"must be a tensor, but got list; pass `torch.as_tensor\(target\)`",
        ),
        (INPUT, TARGET.numpy(), r"a tensor, but got ndarray; pass `torch.as_tensor\(target\)`"),
        (INPUT, None, r"`target` must be a tensor, but got NoneType\."),
        (INPUT, torch.tensor([True, False, True]), "but got bool"),
    ],
)
def test_types(loss_function, input, target, message):
    with pytest.raises(TypeError, match=message):
        loss_function(input, target, S)


def test_options(loss_function):
    with pytest.raises(ValueError, match="`reduction` must be one of .*, but got 'average'"):
        loss_function(INPUT, TARGET, S, reduction="average")
    with pytest.raises(ValueError, match="each of the 4 classes, but got shape"):
        loss_function(INPUT, TARGET, S, weight=torch.ones(3))
    with pytest.raises(TypeError, match="`weight` must be floating point, but got int64"):
        loss_function(INPUT, TARGET, S, weight=torch.ones(C).long())
    with pytest.raises(ValueError, match="`label_smoothing` must be in"):
        loss_function(INPUT, TARGET, S, label_smoothing=-0.1)
    with pytest.raises(ValueError, match="`cross_entropy_share` must be in"):
        loss_function(INPUT, TARGET, S, cross_entropy_share=2)
    with pytest.raises(ValueError, match="`ignore_index` must be negative with class prob"):
        loss_function(INPUT, torch.rand(3, C), S, ignore_index=1)
    with pytest.raises(ValueError, match="must be at most 1"):
        loss_function(INPUT, TARGET, torch.eye(C) * 2)


def test_weights_as_a_list(loss_function):
    tensor = loss_function(INPUT, TARGET, S, weight=torch.tensor([1.0, 2, 3, 4]))
    assert loss_function(INPUT, TARGET, S, weight=[1, 2, 3, 4]).item() == tensor.item()


def test_an_ignored_index_out_of_range_is_fine(loss_function):
    assert loss_function(INPUT, torch.tensor([0, 99, 2]), S, ignore_index=99).isfinite()
