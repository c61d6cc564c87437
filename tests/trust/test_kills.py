"""SIGKILL at any moment; the long form is `python -m torture kills commands stops dask`."""

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from torture.grids import Witness, tiny_grid, uninterrupted

from simloss.experiment import UsersName
from simloss.experiment.grid import run as grid
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder, RunFolderError

DYING = """
import sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from torture import kills
place = Path(sys.argv[1])
print(kills.at_random(place, 5)["kills at random moments"])
print(*kills.at_every_step(place / "steps", most=8).values())
"""


def test_killed_again_and_again(tmp_path):
    """In a process of its own, which forks and so must have no threads."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", DYING, str(tmp_path)],
        capture_output=True, text=True, env=environment, cwd=os.getcwd(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts = [int(count) for count in done.stdout.split()]
    assert len(counts) == 2
    assert counts[0] >= 5
    assert counts[1] >= 8


DEADLY = """
import os, signal
from torture.grids import lone_net
def make(*arguments):
    if os.environ["PARENT"] != str(os.getpid()):
        os.kill(os.getpid(), signal.SIGKILL)
    return lone_net(*arguments)
"""


def test_a_worker_that_dies_is_one_sentence(tmp_path):
    (tmp_path / "deadly.py").write_text(DEADLY)
    config = replace(
        tiny_grid(tmp_path, stacked=False, seeds=2, epochs=1), model=UsersName("deadly:make")
    )
    config.save(tmp_path / "config.yaml")
    code = (
        "import os\n"
        "os.environ['PARENT'] = str(os.getpid())\n"
        "from simloss.cli import main\n"
        "main(['run', 'config.yaml', '--out', 'run', '--workers', '2'])\n"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{os.getcwd()}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == 2, done.stderr
    assert "a process that trained cells has died" in done.stderr
    assert "Traceback" not in done.stderr


def test_lost_workers_are_named():
    class TerminatedWorkerError(RuntimeError):
        pass

    with (
        pytest.raises(RunFolderError, match="has died: .* --resume continues from there"),
        grid._lost_workers_named(),
    ):
        raise TerminatedWorkerError("a worker was killed")
    with pytest.raises(ZeroDivisionError), grid._lost_workers_named():
        1 / 0  # noqa: B018


def test_two_at_once_one_is_refused(tmp_path):
    """Two commands on one folder: one says who has it; when that one is dead, the other goes on."""
    config = tiny_grid(tmp_path, stacked=False, seeds=200, epochs=40)
    config.save(tmp_path / "config.yaml")
    command = [sys.executable, "-m", "simloss", "run", "config.yaml", "--out", "run", "--resume"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    first = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    try:
        while not RunFolder(tmp_path / "run").records() and first.poll() is None:
            time.sleep(0.05)
        with pytest.raises(RunFolderError, match=f"but process {first.pid} is writing to it"):
            run(Setup(config), RunFolder(tmp_path / "run"), resume=True)
    finally:
        first.kill()
        first.wait()
    before = len(RunFolder(tmp_path / "run").records())
    assert before > 0
    with RunFolder(tmp_path / "run").open_for_writing(config, resume=True):
        assert len(RunFolder(tmp_path / "run").records()) == before


def test_the_witness_notices(tmp_path):
    """The harness itself: what is lost, doubled or changed does not pass."""
    config = tiny_grid(tmp_path, stacked=False, seeds=2, epochs=1)
    whole = uninterrupted(config, tmp_path / "whole")
    folder = RunFolder(uninterrupted(config, tmp_path / "run"))
    content = folder.records_path.read_bytes()
    lines = content.splitlines(keepends=True)
    witness = Witness(config, folder, whole)
    witness.conclude()
    folder.records_path.write_bytes(b"".join(lines[1:]))
    with pytest.raises(AssertionError, match="is lost"):
        witness.look()
    folder.records_path.write_bytes(content + lines[0])
    with pytest.raises(AssertionError, match="recorded twice"):
        witness.look()
    folder.records_path.write_bytes(content.replace(b'"accuracy": 0.', b'"accuracy": 0.1', 1))
    with pytest.raises(AssertionError, match="is lost|other records"):
        Witness(config, folder, whole).conclude()
