"""Small nets have one thread, so that they do not fight over them."""

import numpy as np
import pytest
import torch
from torch import nn

from simloss import _threads
from simloss.integrations.sklearn import SimLossClassifier


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("net", "batch", "threads"),
    [
        (nn.Linear(64, 64), 256, 1),
        (nn.Linear(4096, 4096), 256, 2),
        (nn.Linear(64, 64), 1 << 16, 2),
        (nn.Conv2d(3, 8, 3), 2, 2),
    ],
)
def test_by_the_size_of_a_step(net, batch, threads):
    with _threads.suited_to(net, batch):
        assert torch.get_num_threads() == threads
    assert torch.get_num_threads() == 2


def test_threads_come_back_after_an_error():
    with pytest.raises(KeyError), _threads.suited_to(nn.Linear(2, 2), 4):
        raise KeyError
    assert torch.get_num_threads() == 2


def test_the_estimator_trains_and_answers_with_one_thread(monkeypatch):
    seen = set()
    forward = nn.Linear.forward

    def watched(self, x):
        seen.add(torch.get_num_threads())
        return forward(self, x)

    monkeypatch.setattr(nn.Linear, "forward", watched)
    x = np.random.default_rng(0).normal(size=(60, 3))
    SimLossClassifier(max_iter=2).fit(x, np.arange(60) % 3).predict(x)
    assert seen == {1}
    assert torch.get_num_threads() == 2
