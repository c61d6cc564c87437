"""How long a grid will take is known before it starts, to a factor."""

import time
from dataclasses import replace

import pytest

from simloss.data import abalone
from simloss.experiment.grid.estimate import seconds_of
from simloss.experiment.grid.run import cells_of
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.stacked_cells import run_cells_together
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.treatment import Treatment


def setup(*, epochs=4, seeds=2, kind=Setup, treatments=None):
    config = comparison("abalone", epochs=epochs, seeds=seeds)
    some = treatments or tuple(t for t in config.treatments if t.learner == "net")[:6]
    return kind(replace(config, treatments=some), abalone())


def test_it_is_about_what_the_nets_take():
    made = setup()
    began = time.perf_counter()
    run_cells_together(made, cells_of(made.config), lambda line: None)
    taken = time.perf_counter() - began
    # A busy machine may disturb one of them.
    guesses = [seconds_of(made, workers=1) for _ in range(3)]
    assert any(taken / 3 < guess < 3 * taken for guess in guesses), (taken, guesses)


def test_what_it_takes_to_prepare_each_split_counts():
    class Slow(Setup):
        def parts(self, seed):
            time.sleep(0.3)
            return super().parts(seed)

    assert seconds_of(setup(seeds=3, kind=Slow), workers=1) > 3 * 0.3


def test_more_nets_and_more_epochs_take_longer():
    few, many = setup(), setup(seeds=10)
    assert min(seconds_of(many, workers=1) for _ in range(2)) > seconds_of(few, workers=1)


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
