"""How long a grid will take, from a few short epochs of some of its nets."""

import os
import time
from dataclasses import replace
from itertools import pairwise

import torch

from ..train.loop import Part
from .cell import run_cell
from .run import Cell, cells_of, tasks_of
from .setup import Setup
from .stacked_cells import run_cells_together

# A net trains for about so many epochs before it stops improving, beyond those of its patience.
_EPOCHS = 20
# Nets of a stack, batches of each epoch and examples of a part that are tried.
_NETS, _BATCHES, _FEWEST = 10, 3, 32
_TRIED = 3  # epochs; the first is slower


class _Short(Setup):
    """The same experiment with the first examples of each part, the same for all seeds."""

    some: dict[str, Part]

    def parts(self, seed: int) -> dict[str, Part]:
        return self.some


def seconds_of(setup: Setup, workers: int | None = None) -> float:
    """About how many seconds the nets of an experiment will train."""
    training = setup.config.training
    tasks = [
        task for task in tasks_of(setup, cells_of(setup.config)) if task[0][0].learner == "net"
    ]
    if not tasks:
        return 0.0
    began = time.perf_counter()
    parts = setup.parts(setup.config.seeds[0])
    preparing = time.perf_counter() - began
    processes = min(workers or os.cpu_count() or 1, len(tasks))
    epoch, measuring = _tried(setup, parts, tasks[0][:_NETS], 1 if processes > 1 else None)
    net = epoch * min(training.epochs, _EPOCHS + training.patience) + measuring
    total = sum(len(task) * net + len({seed for _, seed in task}) * preparing for task in tasks)
    return total / processes


def _tried(
    setup: Setup, parts: dict[str, Part], cells: list[Cell], threads: int | None
) -> tuple[float, float]:
    """The seconds that an epoch of one net takes, and what comes after the last."""
    training = setup.config.training
    share = min(1.0, _BATCHES * training.batch_size / len(parts["train"]))
    config = replace(setup.config, training=replace(training, epochs=_TRIED))
    short = _Short(config, setup.dataset)
    short.some = {name: _first(part, share) for name, part in parts.items()}
    times: list[float] = []
    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        if len(cells) > 1:
            run_cells_together(short, cells, lambda line: times.append(time.perf_counter()))
        else:
            run_cell(short, *cells[0], lambda line: times.append(time.perf_counter()))
    finally:
        torch.set_num_threads(before)
    end, of_one = time.perf_counter(), 1 / (share * len(cells))
    if len(times) < 2:  # it failed at once, and so will the others
        return 0.0, 0.0
    epoch = min(later - earlier for earlier, later in pairwise(times))  # others may use the machine
    return of_one * epoch, of_one * (end - times[-1])


def _first(part: Part, share: float) -> Part:
    count = max(_FEWEST, round(share * len(part)))
    return Part(part.inputs[:count], part.labels[:count], part.ready)
