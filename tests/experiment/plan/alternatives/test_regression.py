"""Regression on the places of the classes."""

import pytest
import torch

from simloss.calibration import residual_probabilities
from simloss.data import Dataset
from simloss.experiment.plan.alternatives.regression import Regression, places_of


def named(*names):
    return Dataset("data", torch.zeros(1, 1), torch.zeros(1, dtype=torch.long), names)


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (("1", "2", "5"), [1, 2, 5]),
        (("5", "2", "1"), [5, 2, 1]),
        (("2", "1", "5"), [0, 1, 2]),  # an order that was given, and is not that of the numbers
        (("low", "middle", "high"), [0, 1, 2]),
        (("10–20", "20–40"), [15, 30]),
    ],
)
def test_classes_lie_at_their_numbers_or_in_their_order(names, places):
    assert places_of(named(*names)).tolist() == places


@pytest.mark.parametrize("squared", [False, True])
def test_the_loss_is_that_of_a_loop(squared):
    places = torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64)
    regression = Regression(places, squared=squared)
    outputs = torch.tensor([[0.3, 7.0, 7.0], [-2.0, 7.0, 7.0]], dtype=torch.float64)
    target = torch.tensor([2, 0])
    total = 0.0
    mean = sum(places.tolist()) / 3
    deviation = (sum((place - mean) ** 2 for place in places.tolist()) / 3) ** 0.5
    for z, y in zip(outputs[:, 0].tolist(), target.tolist(), strict=True):
        error = z - (places[y].item() - mean) / deviation
        total += error**2 if squared else abs(error)
    assert regression(outputs, target).item() == pytest.approx(total / 2, rel=1e-12)


def test_before_it_remembers_the_nearest_class_is_certain():
    regression = Regression(torch.tensor([0.0, 1.0, 10.0]))
    outputs = (torch.tensor([[-5.0], [0.9], [6.0], [99.0]]) - regression.middle) / regression.spread
    assert regression.nearest(outputs).tolist() == [0, 1, 2, 2]
    p = regression.logits(outputs).softmax(-1)
    assert p.argmax(-1).tolist() == [0, 1, 2, 2]
    assert p.max(-1).values.min() > 1 - 1e-6


def test_then_the_errors_it_was_told_of_make_the_probabilities():
    torch.manual_seed(0)
    regression = Regression(torch.arange(5.0))
    outputs, target = torch.randn(30, 1), torch.randint(5, (30,))
    regression.remember(outputs, target)
    new = torch.randn(4, 1)
    expected = residual_probabilities(
        regression.predictions(new), regression.predictions(outputs), target, num_classes=5
    )
    assert regression.logits(new).softmax(-1).numpy() == pytest.approx(expected, abs=1e-6)


def test_no_example_that_was_remembered_answers_for_itself():
    regression = Regression(torch.arange(5.0))
    outputs, target = torch.randn(30, 1), torch.randint(5, (30,))
    before = regression.held_out_logits(outputs, target)
    target[7] = (target[7] + 1) % 5
    after = regression.held_out_logits(outputs, target)
    assert torch.equal(before[7], after[7])
    assert torch.equal(before[1::2], after[1::2])
    assert not torch.equal(before[::2], after[::2])


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"remembered": torch.zeros(2).double(), "classes": torch.tensor([0])},
        {"remembered": torch.zeros(1).double(), "classes": torch.tensor([5])},
        {"remembered": torch.zeros(1).double(), "classes": torch.tensor([-1])},
        {"remembered": torch.zeros(1), "classes": torch.tensor([0])},
        {"remembered": torch.zeros(0).double(), "classes": torch.zeros(0).long()},
    ],
)
def test_what_does_not_fit_is_not_recalled(state):
    assert not Regression(torch.arange(5.0)).recall(state)
