"""A grid is the same however it was run: at once, resumed, killed, in several processes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from simloss.experiment import UsersName
from simloss.experiment.grid import run as grid
from simloss.experiment.grid.run import cells_of, run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import cell_id
from simloss.experiment.plan.presets import comparison

CONFIG = comparison("abalone", r=[0.5], losses=["simloss"], seeds=3, epochs=2)
# A net that is not a plain chain is trained on its own, cell by cell.
ALONE = replace(CONFIG, model=UsersName("lone_net:make"))


@pytest.fixture(autouse=True)
def lone_net(tmp_path, monkeypatch):
    """A user's net in a module that worker processes can import."""
    (tmp_path / "lone_net.py").write_text(
        "from torch import nn\n"
        "def make(shape, classes):\n"
        "    return nn.Sequential(nn.Linear(shape[0], 8), nn.LayerNorm(8), nn.Linear(8, classes))\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.syspath_prepend(tmp_path)


def comparable(records):
    """Records without times, by cell."""
    aside = ("seconds", "threads")
    return {r["cell"]: {k: v for k, v in r.items() if k not in aside} for r in records}


@pytest.mark.parametrize("config", [CONFIG, ALONE], ids=["stacked", "alone"])
def test_every_cell_once_and_paired(tmp_path, config):
    folder = RunFolder(tmp_path / "run")
    records = run(Setup(config), folder)
    assert [r["cell"] for r in records] == [cell_id(config, *cell) for cell in cells_of(config)]
    assert all(r["status"] == "done" for r in records)
    assert all(folder.sidecar_path(r["cell"]).exists() for r in records)
    assert not (folder.path / "running").exists()


def test_resume_runs_nothing_twice(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path / "run")
    first = run(Setup(replace(ALONE, seeds=(0, 1))), folder)
    ran = []
    original = grid.run_cell
    monkeypatch.setattr(grid, "run_cell", lambda *a: ran.append(a[1:3]) or original(*a))
    whole = run(Setup(ALONE), folder, resume=True)
    assert ran == [(treatment, 2) for treatment in ALONE.treatments]
    assert whole[: len(first)] == first
    assert run(Setup(ALONE), folder, resume=True) == whole
    assert len(ran) == 2


def test_several_processes_give_the_same_records(tmp_path):
    here = run(Setup(ALONE), RunFolder(tmp_path / "one"))
    there = run(Setup(ALONE), RunFolder(tmp_path / "two"), workers=2)
    assert comparable(here).keys() == comparable(there).keys()
    for name, record in comparable(here).items():
        metrics = comparable(there)[name]["metrics"]["test"]["argmax"]
        assert metrics == pytest.approx(record["metrics"]["test"]["argmax"], rel=1e-3)


def start(folder, config_path):
    code = (
        "from pathlib import Path\n"
        "from simloss.experiment.plan.config import Config\n"
        "from simloss.experiment.grid.run import run\n"
        "from simloss.experiment.grid.store import RunFolder\n"
        "from simloss.experiment.grid.setup import Setup\n"
        "import torch; torch.set_num_threads(1)\n"
        f"config, folder = Path({str(config_path)!r}), Path({str(folder)!r})\n"
        "run(Setup(Config.load(config, named_by_user=True)), RunFolder(folder), resume=True)"
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("config", [CONFIG, ALONE], ids=["stacked", "alone"])
def test_killed_and_resumed_is_the_same_as_uninterrupted(tmp_path, config):
    config = replace(config, seeds=tuple(range(4)))
    config.save(tmp_path / "config.yaml")
    assert start(tmp_path / "whole", tmp_path / "config.yaml").wait(timeout=120) == 0
    whole = comparable(RunFolder(tmp_path / "whole").records())
    chance = random.Random(0)
    folder, seen = RunFolder(tmp_path / "killed"), {}
    for _ in range(4):
        shutil.rmtree(folder.path / "running", ignore_errors=True)
        process = start(folder.path, tmp_path / "config.yaml")
        while process.poll() is None and not (folder.path / "running").exists():
            time.sleep(0.02)  # until it is at work, not for the imports
        time.sleep(0.5 * chance.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
        if folder.exists():
            now = comparable(folder.records())
            assert all(now[name] == record for name, record in seen.items())  # nothing lost
            seen = now
    assert start(folder.path, tmp_path / "config.yaml").wait(timeout=120) == 0
    assert comparable(folder.records()) == whole
    lines = folder.records_path.read_text().splitlines()
    assert len(lines) == len(whole)  # one record a cell


def test_a_cluster_address_is_checked(tmp_path):
    with pytest.raises(ValueError, match="`cluster` must be dask://host:port, but got 'spark'"):
        run(Setup(CONFIG), RunFolder(tmp_path / "run"), cluster="spark")


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(grid, "_DASK_PATIENCE", "1s")
    with pytest.raises(ValueError, match="no Dask scheduler answers at 127.0.0.1:9"):
        run(Setup(CONFIG), RunFolder(tmp_path / "run"), cluster="dask://127.0.0.1:9")
