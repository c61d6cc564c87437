"""A real Dask scheduler and two worker processes; one is killed while it works."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from simloss.experiment import UsersName
from simloss.experiment.grid.progress import Progress
from simloss.experiment.grid.run import cells_of, run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import cell_id
from simloss.experiment.plan.presets import comparison

pytest.importorskip("distributed", reason="needs the extra [dask]")

CONFIG = comparison("abalone", r=[0.5], losses=["simloss"], seeds=4, epochs=3)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.1)
    raise TimeoutError("the scheduler did not start")


@pytest.fixture
def cluster(tmp_path):
    """The scheduler's address and the two workers, each a process of its own."""
    port = free_port()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(tmp_path)}

    def start(kind, *arguments):
        command = [sys.executable, "-m", "distributed.cli." + kind, *arguments]
        with (tmp_path / f"{kind}.log").open("a") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=tmp_path)

    processes = [
        start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    ]
    wait_for(port)
    processes += [
        start(
            "dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard",
            "--no-nanny", "--local-directory", str(tmp_path),
        )
        for _ in range(2)
    ]  # fmt: skip
    yield f"dask://127.0.0.1:{port}", processes[1:]
    for process in processes:
        process.kill()
        process.wait()


class KillsOne(Progress):
    """Kills a worker when the first cell is recorded."""

    def __init__(self, victim):
        self.victim = victim

    def show(self, records):
        self.victim.kill()


def test_a_killed_worker_costs_nothing(cluster, tmp_path):
    address, workers = cluster
    (tmp_path / "lone_net.py").write_text(
        "from torch import nn\n"
        "def make(shape, classes):\n"
        "    return nn.Sequential(nn.Linear(shape[0], 8), nn.LayerNorm(8), nn.Linear(8, classes))\n"
    )
    config = replace(CONFIG, model=UsersName("lone_net:make"))
    sys.path.insert(0, str(tmp_path))
    try:
        folder = RunFolder(tmp_path / "run")
        records = run(Setup(config), folder, cluster=address, progress=KillsOne(workers[0]))
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("lone_net", None)
    assert workers[0].wait(timeout=30) != 0
    assert sorted(r["cell"] for r in records) == sorted(
        cell_id(config, *cell) for cell in cells_of(config)
    )
    assert len(folder.records_path.read_text().splitlines()) == len(records)
    assert all(r["status"] == "done" for r in records)
