"""A Dask cluster whose workers, scheduler and client are killed at random moments."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder, RunFolderError

from .forks import Child, warm
from .grids import Witness, tiny_grid, uninterrupted
from .kills import Figures


class Cluster:
    """A scheduler and two workers, each its own process; dead ones are replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def complete(self) -> None:
        """Start what is not running."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            for worker in self.workers:
                _end(worker)
            self.port = _free_port()
            arguments = ("--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
            self.scheduler = self._start("dask_scheduler", *arguments)
            _wait_for(self.port)
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory")
            arguments = (f"tcp://{self.address}", *options, str(self.folder))
            self.workers.append(self._start("dask_worker", *arguments))

    def close(self) -> None:
        """End all of it."""
        for process in (*self.workers, self.scheduler):
            if process is not None:
                _end(process)

    def _start(self, kind: str, *arguments: str) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
        command = [sys.executable, "-m", f"distributed.cli.{kind}", *arguments]
        with (self.folder / f"{kind}.log").open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def dask(folder: Path, kills: int, seed: int = 3) -> Figures:
    """Kill a worker, the scheduler or the client, resume, until the grid is done; again."""
    folder.mkdir(parents=True, exist_ok=True)
    config = tiny_grid(folder, stacked=False, seeds=8, epochs=20)
    warm(config)
    baseline = Child(lambda: uninterrupted(config, folder / "whole") and None, folder / "log")
    baseline.wait()
    assert baseline.code == 0, baseline.said()
    chance, rounds = random.Random(seed), 0
    counted = dict.fromkeys(("worker", "scheduler", "client"), 0)
    cluster = Cluster(folder)
    try:
        while sum(counted.values()) < kills or not all(counted.values()):
            target = RunFolder(folder / f"dask{rounds}")
            witness = Witness(config, target, folder / "whole")
            while not _once(cluster, config, target, folder / "log", chance, counted):
                witness.look()
            witness.conclude()
            rounds += 1
    finally:
        cluster.close()
    return {f"kills of a Dask {name}": count for name, count in counted.items()}


def _once(cluster, config, target, log, chance, counted) -> bool:  # type: ignore[no-untyped-def]
    """One start with one kill; whether all cells are recorded now."""
    cluster.complete()
    address = f"dask://{cluster.address}"

    def work() -> None:
        try:
            run(Setup(config), target, resume=True, cluster=address)
        except RunFolderError as error:
            print(error, file=sys.stderr)
            raise SystemExit(3) from None

    client = Child(work, log)
    victim = chance.choice(list(counted))
    if client.wait(chance.uniform(0.2, 6)):
        assert client.code == 0, client.said()
        return True
    counted[victim] += 1
    print(counted, flush=True)
    if victim == "client":
        client.kill()
        client.wait()
        return False
    process = cluster.scheduler if victim == "scheduler" else chance.choice(cluster.workers)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert client.wait(180), f"the run hangs after the {victim} was killed: {client.said()}"
    # Losing one worker costs nothing; without a scheduler there is one clear error.
    assert client.code in (0, 3), client.said()
    if client.code == 3:
        sentences = ("--resume goes on from there", "no Dask scheduler answers")
        assert any(each in client.said() for each in sentences), client.said()
    return client.code == 0


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.1)
    raise TimeoutError("the scheduler did not start")
