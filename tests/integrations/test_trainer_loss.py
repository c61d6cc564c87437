"""The loss for the Trainer, without transformers: it imports nothing of it."""

import pytest
import torch

import simloss
from simloss.integrations.transformers import trainer_loss

C = 3
S = simloss.similarity.order(C, 0.5)


@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.2}])
def test_a_weighted_loss_is_divided_by_the_number_of_labels(options):
    """In training, where the Trainer counts them, and in evaluation, where it does not."""
    logits = torch.randn(5, C, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, -100, 2])
    weight = torch.tensor([1.0, 5.0, 9.0])
    loss = trainer_loss(S, loss="simloss", weight=weight, **options)
    total = simloss.sim_loss(logits, labels, S, weight=weight, reduction="sum", **options)
    assert loss((logits,), labels).item() == pytest.approx(total.item() / 4)
    assert loss((logits,), labels, 4).item() == pytest.approx(total.item() / 4)


def test_no_label_that_counts_is_no_number():
    assert trainer_loss(S)((torch.zeros(2, C),), torch.full((2,), -100)).isnan()
