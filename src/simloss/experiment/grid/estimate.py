"""How long a grid will take, from a few steps of one net."""

import os
import time

import torch

from ..plan.treatment import Treatment
from .run import _stackable, cells_of
from .setup import Setup

# A net trains for about so many epochs before it stops improving, beyond those of its patience.
_EPOCHS = 20
# A net in a stack of forty takes so much of the time it would take alone.
_IN_A_STACK = 0.35
_STEPS = 3


def seconds_of(setup: Setup, workers: int | None = None) -> float:
    """About how many seconds the cells of an experiment will train."""
    config, seed = setup.config, setup.config.seeds[0]
    part = setup.parts(seed)["train"]
    net, loss = setup.net(seed), setup.objective(Treatment("cross-entropy"), seed)
    some = torch.arange(min(len(part), config.training.batch_size))
    x, y = part.ready(part.inputs[some]), part.labels[some]
    loss(net(x), y).backward()  # the first step is slower
    began = time.perf_counter()
    for _ in range(_STEPS):
        loss(net(x), y).backward()
    step = (time.perf_counter() - began) / _STEPS
    epochs = min(config.training.epochs, _EPOCHS + config.training.patience)
    steps = -(-len(part) // config.training.batch_size) * epochs
    share = _IN_A_STACK if _stackable(setup) else 1.0
    return share * step * steps * len(cells_of(config)) / (workers or os.cpu_count() or 1)
