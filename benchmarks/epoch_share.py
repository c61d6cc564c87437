"""How much of an epoch is not the net: `python -m benchmarks.epoch_share TASK PATH`.

TASK is utkface or cifar100. Everything but forward, backward, optimizer step and the forward passes
of evaluation counts as overhead: choosing and standardising batches, augmentation, metrics, early
stopping.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from simloss.cli.memory import keep_memory
from simloss.experiment.grid.setup import Setup
from simloss.experiment.plan.presets import reproduction
from simloss.experiment.train import loop as training

SPENT: dict[str, float] = {}
WORK = ("forward", "loss", "backward", "step")  # all else is overhead


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, with its time added up under `name`."""

    def call(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            SPENT[name] = SPENT.get(name, 0.0) + time.perf_counter() - start

    return call


def main() -> None:
    keep_memory()  # as commands do
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=("utkface", "cifar100"))
    parser.add_argument("path")
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    config = reproduction(options.task, options.path, epochs=options.epochs)
    setup = Setup(config)
    parts, net = setup.parts(0), setup.net(0)
    loss = config.treatments[-2].loss_for(setup.dataset)
    net.forward = timed("forward", net.forward)  # type: ignore[method-assign]
    loss.forward = timed("loss", loss.forward)  # type: ignore[method-assign]
    torch.Tensor.backward = timed("backward", torch.Tensor.backward)  # type: ignore[method-assign]
    torch.optim.Adam.step = timed("step", torch.optim.Adam.step)  # type: ignore[method-assign]
    for part in parts.values():
        part.ready = timed("batches", part.ready)
    for name in ("rows", "crop_and_flip"):
        setattr(training, name, timed("batches", getattr(training, name)))
    judge = setup.judge
    answers = timed("answers", judge.answers)
    object.__setattr__(judge, "answers", answers)  # it is frozen
    started: list[float] = []

    def after_the_first(line: object) -> None:
        """The first epoch pays for what torch loads on first use; it is not counted."""
        if not started:
            started.append(time.perf_counter())
            SPENT.clear()

    training.train(
        net,
        loss,
        parts["train"],
        parts["validation"],
        judge,
        config.rules,
        replace(config.training, epochs=options.epochs + 1, patience=options.epochs + 1),
        0,
        on_epoch=after_the_first,
    )
    total = time.perf_counter() - started[0]
    for name, seconds in SPENT.items():
        print(f"{name:9s}{seconds / options.epochs:8.2f} s per epoch {seconds / total:7.1%}")
    work = sum(SPENT.get(name, 0.0) for name in WORK)
    for name, seconds in (
        ("the rest", total - sum(SPENT.values())),
        ("overhead", total - work),
    ):
        print(f"{name:9s}{seconds / options.epochs:8.2f} s per epoch {seconds / total:7.1%}")


if __name__ == "__main__":
    main()
