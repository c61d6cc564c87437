"""Mistakes that raise no error are told once, and nothing is told of sound input."""

import warnings

import pytest
import torch

from simloss import ProperSimLoss, SimLoss, SoftTargetLoss, similarity

C = 4
S = similarity.order(C, r=0.5)


@pytest.mark.parametrize("kind", [SimLoss, ProperSimLoss, SoftTargetLoss])
def test_a_softmax_too_many_is_told_once(kind, recwarn):
    loss, input, target = kind(S), torch.randn(8, C), torch.arange(8) % C
    for _ in range(3):
        loss(input.softmax(1), target)
    assert [str(each.message) for each in recwarn] == [
        "`input` must be logits, but every example of the first batch sums to 1 like "
        "probabilities; leave out the softmax before the loss."
    ]
    assert (
        recwarn[0].filename == torch.nn.modules.module.__file__ or recwarn[0].filename == __file__
    )


@pytest.mark.parametrize("input", [torch.randn(8, C), torch.zeros(8, C), torch.randn(8, C).relu()])
def test_logits_are_not_taken_for_probabilities(input):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SimLoss(S)(input, torch.arange(8) % C)
        SimLoss(S)(input.log_softmax(1), torch.arange(8) % C)
        SimLoss(S)(torch.tensor([[1.0, 0.0, 0.0, 0.0]]), torch.tensor([0]))  # one row may be so


def test_segmentation_and_half_precision(recwarn):
    SimLoss(S)(torch.randn(2, C, 5, 5).softmax(1).half(), torch.zeros(2, 5, 5).long())
    assert len(recwarn) == 1


def test_labels_that_count_from_one_and_fit_are_told_once(recwarn):
    loss, input = SimLoss(S), torch.randn(15, C)
    for _ in range(20):
        loss(input, torch.arange(15) % 3 + 1)
    (warning,) = recwarn
    assert "class 0 does not occur in the first 90 labels" in str(warning.message)
    assert "pass `target - 1`" in str(warning.message)


def test_a_class_that_is_merely_rare_is_not_told(recwarn):
    loss = SimLoss(S)
    loss(torch.randn(60, C), torch.arange(60) % 3 + 1)  # 20 of each: too few to say
    loss(torch.randn(1, C), torch.tensor([0]))
    assert loss._first_look.is_over
    for _ in range(3):
        loss(torch.randn(60, C), torch.arange(60) % 3 + 1)
    SimLoss(S)(torch.randn(99, C), torch.arange(99) % 2 + 1)  # class 3 does not occur either
    assert not recwarn.list


def test_ignored_labels_do_not_count(recwarn):
    target = torch.cat([torch.arange(90) % 3 + 1, torch.full((9,), -100)])
    SimLoss(S)(torch.randn(99, C), target)
    assert "the first 90 labels" in str(recwarn[0].message)


def test_the_look_ends(recwarn):
    loss = SimLoss(S)
    for _ in range(101):
        loss(torch.randn(2, C), torch.tensor([1, 2]))
    assert loss._first_look.is_over
    assert not recwarn.list


def test_labels_that_count_from_one_and_do_not_fit():
    with pytest.raises(ValueError, match=r"but got 4 at position 3; if labels count from 1, pas"):
        SimLoss(S)(torch.randn(4, C), torch.tensor([1, 2, 3, 4]))
    with pytest.raises(ValueError, match=r"but got 4 at position 1\."):
        SimLoss(S)(torch.randn(2, C), torch.tensor([0, 4]))
