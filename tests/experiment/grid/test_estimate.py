"""How long a grid will take is known before it starts, to a factor."""

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from simloss.data import abalone
from simloss.experiment.grid import estimate
from simloss.experiment.grid.estimate import seconds_of
from simloss.experiment.grid.run import cells_of, tasks_of
from simloss.experiment.grid.setup import Setup
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.treatment import Treatment


def setup(*, epochs=4, seeds=2, kind=Setup, treatments=None):
    config = comparison("abalone", epochs=epochs, seeds=seeds)
    some = treatments or tuple(t for t in config.treatments if t.learner == "net")[:6]
    return kind(replace(config, treatments=some), abalone())


@pytest.fixture
def clock(monkeypatch):
    """Half a second for an epoch of a stack and a quarter after the last, whatever the machine."""
    made = SimpleNamespace(now=0.0)

    def trained(setup, cells, on_epoch):
        for _ in range(setup.config.training.epochs):
            made.now += 0.5
            on_epoch({})
        made.now += 0.25

    monkeypatch.setattr(estimate, "time", SimpleNamespace(perf_counter=lambda: made.now))
    monkeypatch.setattr(estimate, "run_cells_together", trained)
    return made


def test_a_short_trial_stands_for_all_nets_and_epochs(clock):
    made = setup(epochs=4, seeds=10)
    training, parts = made.config.training, made.parts(0)
    share = 3 * training.batch_size / len(parts["train"])  # three batches of each epoch
    one = (0.5 * 4 + 0.25) / (share * 10)  # ten nets were tried together
    assert seconds_of(made, workers=1) == pytest.approx(60 * one)
    assert len(tasks_of(made, cells_of(made.config))) > 1
    assert seconds_of(made, workers=2) == pytest.approx(60 * one / 2)


def test_what_it_takes_to_prepare_each_split_counts():
    class Slow(Setup):
        def parts(self, seed):
            time.sleep(0.3)
            return super().parts(seed)

    assert seconds_of(setup(seeds=3, kind=Slow), workers=1) > 3 * 0.3


def test_more_epochs_take_longer_until_most_nets_have_stopped(clock):
    short, long, longer = (seconds_of(setup(epochs=n), workers=1) for n in (4, 28, 1000))
    assert short < long == longer


def test_rivals_alone_have_no_nets_to_train():
    alone = setup(treatments=(Treatment("cross-entropy"), Treatment("linear")))
    nothing = setup(treatments=(Treatment("linear"),))
    assert seconds_of(nothing, workers=1) == 0
    assert seconds_of(alone, workers=1) > 0


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_random_is_touched(workers):
    import torch

    torch.manual_seed(0)
    wanted = torch.rand(3)
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    seconds_of(setup(seeds=10), workers=workers)
    assert torch.equal(torch.rand(3), wanted)
    assert torch.get_num_threads() == threads
