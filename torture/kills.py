"""SIGKILL at any moment: random moments, every step to the disk, real command lines."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config
from simloss.experiment.train.checkpoint import Checkpoint

from .forks import Child, warm
from .grids import Witness, tiny_grid, uninterrupted
from .steps import Steps, die

Figures = dict[str, int | float | str]


def at_random(folder: Path, kills: int, seed: int = 0) -> Figures:
    """Forked runs of three grids, killed at random moments and resumed until all is recorded."""
    chance, survived, finished = random.Random(seed), 0, 0
    kinds = _kinds(folder)
    while survived < kills:
        witness, work = kinds[finished % len(kinds)](finished)
        seconds = 0.5
        while True:
            started = time.monotonic()
            child = Child(work, folder / "log")
            if child.wait(chance.random() * seconds):
                assert child.code == 0, child.said()
                seconds = max(0.3, time.monotonic() - started)
                break
            child.kill()
            child.wait()
            survived += 1
            witness.look()
            seconds *= 1.1  # so that it finishes even on a busy machine
        witness.conclude()
        finished += 1
    return {"kills at random moments": survived, "grids finished after them": finished}


def at_every_step(folder: Path, most: int | None = None) -> Figures:
    """Forked runs, each killed at its own step to the disk, and resumed once."""
    kills = 0
    for make in _kinds(folder):
        at = 1
        while most is None or kills < most:
            witness, work = make(10_000 + at)
            child = Child(lambda at=at, work=work: _dying_at(at, work), folder / "log")
            child.wait()
            witness.look()
            if child.code == 0:
                break
            assert child.code == -signal.SIGKILL, child.said()
            kills += 1
            again = Child(work, folder / "log")
            again.wait()
            assert again.code == 0, again.said()
            witness.conclude()
            at += 1
    return {"kills, one at every step to the disk": kills}


def command_lines(folder: Path, kills: int, seed: int = 1) -> Figures:
    """`simloss run` as a user starts it, on one and on two processes, with all its children."""
    chance, survived, starts = random.Random(seed), 0, 0
    config = tiny_grid(folder, stacked=False, seeds=12, epochs=20)
    config.save(folder / "config.yaml")
    whole = uninterrupted(config, folder / "whole")
    round_number = 0
    while survived < kills:
        target = RunFolder(folder / f"command{round_number}")
        witness = Witness(config, target, whole)
        for attempt in range(200):
            workers = chance.choice(("1", "2"))
            process = start_command(folder, target, workers)
            starts += 1
            try:
                process.wait(chance.uniform(0.5, 8 + attempt))  # more if the machine is slow
                assert process.returncode == 0, _log(folder)
                break
            except subprocess.TimeoutExpired:
                _kill(process, with_children=chance.random() < 0.5)
                survived += 1
                witness.look()
        else:
            raise AssertionError("a grid of a few seconds never came to its end")
        witness.conclude()
        round_number += 1
    return {"kills of `simloss run`": survived, "starts of `simloss run`": starts}


def start_command(folder: Path, target: RunFolder, workers: str) -> "subprocess.Popen[bytes]":
    """The command in its own process group."""
    command = [sys.executable, "-m", "simloss", "run", str(folder / "config.yaml"), "--resume"]
    command += ["--out", str(target.path), "--workers", workers]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    with (folder / "command.log").open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True
        )


def _kill(process: "subprocess.Popen[bytes]", *, with_children: bool) -> None:
    """Kill the command alone or with its workers, which otherwise end by themselves, but slowly."""
    process.kill()
    process.wait()
    if not with_children:
        time.sleep(1)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _log(folder: Path) -> str:
    return (folder / "command.log").read_text(errors="replace")


def _dying_at(at: int, work: Callable[[], None]) -> None:
    with Steps(at, die).counted():
        work()


def _kinds(folder: Path) -> list[Callable[[int], tuple[Witness, Callable[[], None]]]]:
    """Three grids: as one stack, cell by cell, and cell by cell with a state after each epoch."""

    def kind(name: str, stacked: bool, every: float) -> Callable[[int], tuple[Witness, object]]:
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        config = tiny_grid(place, stacked=stacked)
        warm(config)
        if not (place / "whole").exists():
            baseline = Child(lambda: void(uninterrupted(config, place / "whole")), folder / "log")
            baseline.wait()
            assert baseline.code == 0, baseline.said()

        def make(number: int) -> tuple[Witness, Callable[[], None]]:
            target = RunFolder(place / f"run{number}")
            work = lambda: run_with_states(config, target, every)  # noqa: E731
            return Witness(config, target, place / "whole"), work

        return make  # type: ignore[return-value]

    return [
        kind("stacked", True, 60.0),
        kind("alone", False, 60.0),
        kind("states", False, 0.0),
    ]  # type: ignore[list-item]


def run_with_states(config: Config, target: RunFolder, every: float) -> None:
    """Run what is left, with the state of a cell written this often."""
    Checkpoint.__init__.__defaults__ = (None, every)  # type: ignore[misc]
    run(Setup(config), target, resume=True)


def void(_: object) -> None:
    """Discard the result."""
