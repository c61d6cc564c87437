"""The disk: full at any byte, failing at any step, files cut at any length."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from simloss import data, similarity
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder, RunFolderError
from simloss.experiment.plan.config import Config
from simloss.experiment.saved.model import SavedModel
from simloss.report.write import report

from .forks import Child, warm
from .fuzz import is_sentence
from .grids import Witness, comparable, tables_of, tiny_grid, uninterrupted
from .kills import Figures
from .steps import Steps, broken_disk, no_space

Refused = (RunFolderError, data.DataError, ValueError, OSError)


@contextmanager
def full_at(size: int) -> Iterator[None]:
    """No file grows beyond `size` bytes: the kernel refuses the write, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def records_full_at_every_byte(folder: Path) -> int:
    """A record whose write fails at byte k, for every k; returns the number of k."""
    whole = RunFolder(uninterrupted(tiny_grid(folder, stacked=True, seeds=2), folder / "whole"))
    records = [{k: v for k, v in r.items() if k != "together"} for r in whole.records()]
    target = RunFolder(folder / "full")
    with target.open_for_writing(whole.config(), resume=False):
        target.append([(records[0], None)])
        before = target.records_path.read_bytes()
        target.append([(record, None) for record in records[1:3]])
        size = target.records_path.stat().st_size
        target.records_path.write_bytes(before)
        for end in range(len(before), size):
            with full_at(end):
                refusal(lambda: target.append([(record, None) for record in records[1:3]]))
            assert target.records_path.read_bytes() == before
        target.append([(record, None) for record in records[1:3]])
    assert [r["cell"] for r in target.records()] == [r["cell"] for r in records[:3]]
    return size - len(before)


def whole_files_full(folder: Path, step: int = 1) -> Figures:
    """Every file that is written whole, with a disk that is full at byte k."""
    counted: Figures = {}
    for name, write in writers(folder).items():
        path = folder / name
        write(path)
        old = path.read_bytes()
        for end in range(0, len(old), max(1, step * len(old) // 1000)):
            with full_at(end):
                refusal(lambda write=write, path=path: write(path))
            assert path.read_bytes() == old, f"{name} is damaged"
            assert not list(folder.glob(f".{name}*")), f"{name}: something is left behind"
            counted[name] = int(counted.get(name, 0)) + 1
    return counted


def writers(folder: Path) -> dict[str, Callable[[Path], Any]]:
    """File name -> what writes it."""
    config = tiny_grid(folder, stacked=True, seeds=2, epochs=1)
    S = similarity.matrix(torch.eye(9) * 0.5 + 0.5, names=list("abcdefghi"))
    whole = folder / "for-writers"
    if not whole.exists():
        uninterrupted(config, whole)
    from simloss.experiment.saved.train_one import train_and_save

    list(train_and_save(Setup(config), folder / "m.safetensors"))
    saved = SavedModel.load(folder / "m.safetensors")

    def write_report(path: Path) -> None:
        report(whole, path.parent)

    return {
        "config.yaml": config.save,
        "s.csv": S.save,
        "s.npz": S.save,
        "s.safetensors": S.save,
        "model.safetensors": saved.save,
        "table.csv": write_report,
    }


def refusal(act: Callable[[], Any]) -> str:
    """The error message with which an act is refused."""
    try:
        act()
    except Refused as error:
        assert isinstance(error, OSError) or is_sentence(error), repr(error)
        return str(error)
    raise AssertionError("a write to a full disk was taken for done")


def failing_steps(folder: Path, most: int | None = None) -> Figures:
    """A grid whose n-th step to the disk fails, for every n, with two kinds of failure."""
    config = tiny_grid(folder, stacked=False, seeds=2)
    warm(config)
    baseline = Child(lambda: uninterrupted(config, folder / "whole") and None, folder / "log")
    baseline.wait()
    assert baseline.code == 0, baseline.said()
    failures = 0
    for number, fault in enumerate((no_space, broken_disk)):
        at = 1
        while most is None or failures < most * (number + 1):
            target = RunFolder(folder / f"failing{number}-{at}")
            child = Child(lambda: _failing_run(config, target, at, fault), folder / "log")  # noqa: B023
            child.wait()
            witness = Witness(config, target, folder / "whole")
            witness.look()
            if child.code == 0 and "not reached" in child.said():
                break
            assert child.code in (0, 3), child.said()
            again = Child(lambda: run(Setup(config), target, resume=True) and None, folder / "log")  # noqa: B023
            again.wait()
            assert again.code == 0, again.said()
            witness.conclude()
            failures += 1
            at += 1
    return {"failing steps to the disk": failures}


def _failing_run(config: Config, target: RunFolder, at: int, fault: Callable[[], None]) -> None:
    steps = Steps(at, fault)
    try:
        with steps.counted():
            run(Setup(config), target, resume=True)
    except Refused as error:
        print(error)
        raise SystemExit(3) from None
    if steps.taken < at:
        print("not reached")


def truncations(folder: Path, step: int = 1) -> Figures:
    """Every kind of file cut at every length: it is repaired, or refused in a sentence."""
    counted: Figures = {}
    for name, (path, read) in _readers(folder).items():
        whole = path.read_bytes()
        expected = read()
        for length in range(0, len(whole), step):
            path.write_bytes(whole[:length])
            try:
                found = read()
            except Refused as error:
                assert is_sentence(error), f"{name} at {length}: {error!r}"
            else:
                assert found in (None, expected), f"{name} cut at {length} is read as another"
            counted[name] = int(counted.get(name, 0)) + 1
        path.write_bytes(whole)
    return counted


def _readers(folder: Path) -> dict[str, tuple[Path, Callable[[], Any]]]:
    """Name -> a file, and what reads it to something that can be compared."""
    made = writers(folder)
    for name in ("s.csv", "s.npz", "s.safetensors", "model.safetensors"):
        made[name](folder / name)
    whole = RunFolder(folder / "for-writers")
    first = whole.records()[0]["cell"]
    return {
        "config.yaml": (whole.config_path, whole.config),
        "classes.json": (whole.classes_path, whole.classes),
        "a cell's arrays": (
            whole.sidecar_path(first),
            lambda: {k: v.tobytes() for k, v in whole.sidecar(first).items()},
        ),
        "similarity, csv": (folder / "s.csv", lambda: similarity.load(folder / "s.csv")),
        "similarity, npz": (folder / "s.npz", lambda: similarity.load(folder / "s.npz")),
        "similarity, safetensors": (
            folder / "s.safetensors",
            lambda: similarity.load(folder / "s.safetensors"),
        ),
        "model": (folder / "model.safetensors", lambda: _model(folder / "model.safetensors")),
    }


def _model(path: Path) -> dict[str, Any]:
    return {k: v.tolist() for k, v in SavedModel.load(path).net.state_dict().items()}


def truncated_records(folder: Path, step: int = 1) -> int:
    """records.jsonl cut at every length: complete lines count, and the tables agree."""
    config = tiny_grid(folder, stacked=False, seeds=2, epochs=1)
    whole = RunFolder(uninterrupted(config, folder / "whole"))
    content = whole.records_path.read_bytes()
    expected = comparable(whole)
    tables: dict[int, dict[str, str]] = {}
    for length in range(0, len(content), step):
        whole.records_path.write_bytes(content[:length])
        found = comparable(whole)
        assert all(expected[cell] == record for cell, record in found.items())
        assert len(found) == content[:length].count(b"\n")
        if length % 97 == 0:
            assert tables.setdefault(len(found), tables_of(whole.path)) == tables_of(whole.path)
    return len(range(0, len(content), step))
