"""Links, pipes and devices in what somebody sent: nothing waits, nothing is read or written there.

A run folder, a cache or a data folder may hold anything that has a name.
"""

import os
import shutil
import signal
import socket
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import torch
from PIL import Image
from torture.fuzz import limits, tried
from torture.grids import tiny_grid, uninterrupted
from torture.readers import NAMES, readers

from simloss import data
from simloss.cli import main
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.saved.train_one import train_and_save
from simloss.experiment.train.checkpoint import Checkpoint

SECRET = "what is outside"
# As good as none: made anew.
MADE_ANEW = ("checkpoint", "image cache")
# In a folder of ours; the others are named by the user, who may use links.
OF_A_FOLDER = (
    *("records, JSONL", "a report's tables", "a report's page", "a cell's arrays, npz", "search"),
    *MADE_ANEW,
)


@contextmanager
def soon(seconds=20):
    """Not even a file that never begins holds anything up."""

    def stop(*_):
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pipe(path):
    os.mkfifo(path)


def bound_socket(path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


def link_to(target):
    return lambda path: path.symlink_to(target)


SPECIAL = {
    "pipe": pipe,
    "socket": bound_socket,
    "folder": Path.mkdir,
    "link to nothing that ends": link_to("/dev/zero"),
    "link to what waits": link_to("/proc/kmsg"),
    "link to what claims no size": link_to("/proc/self/pagemap"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to nothing": link_to("nothing"),
}


@pytest.fixture(scope="module")
def all_readers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readers")
    return {reader.name: reader for reader in readers(folder)}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("name", NAMES)
def test_every_reader_refuses_what_is_no_file(all_readers, tmp_path, monkeypatch, name, kind):
    monkeypatch.chdir(tmp_path)
    reader = all_readers[name]
    path = Path(reader.file)
    reader.write(tmp_path, reader.seeds[0])
    path.unlink()
    SPECIAL[kind](path)
    if kind == "folder" and name.startswith(("UTKFace", "AFAD", "image folder", "CIFAR")):
        pytest.skip("where such data may be, too")
    with soon(), limits():
        problem = refused(reader, tmp_path if reader.in_folder else path)
    assert problem is None if name in MADE_ANEW else problem == "", problem


def refused(reader, path):
    """As `tried` says it, for which a file that is not there is one more kind of sentence."""
    try:
        reader.read(path)
    except OSError as error:
        if isinstance(error, ValueError):
            return tried(reader, path)
        return "" if error.strerror or str(error).endswith(".") else str(error)
    except ValueError:
        return tried(reader, path)
    return None if reader.name in MADE_ANEW else tried(reader, path)


@pytest.mark.parametrize("name", OF_A_FOLDER)
def test_links_out_of_a_folder_are_not_followed(all_readers, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    reader = all_readers[name]
    (tmp_path / "sent").mkdir()
    read = reader.write(tmp_path / "sent", reader.seeds[0])
    path = tmp_path / "sent" / reader.file
    path.rename(tmp_path / "outside")
    path.symlink_to(tmp_path / "outside")
    if name == "image cache":
        assert reader.read(read) is None
    elif name == "checkpoint":
        assert Checkpoint(path).load() is None
    else:
        assert tried(reader, read) == ""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    place = tmp_path_factory.mktemp("finished")
    config = tiny_grid(place, stacked=True, seeds=1, epochs=1)
    return config, uninterrupted(config, place / "run")


@pytest.fixture
def received(finished, tmp_path):
    """A run folder as it may have been sent, and a file and a folder of the user's own."""
    config, folder = finished
    (tmp_path / "outside").write_text(SECRET)
    (tmp_path / "elsewhere").mkdir()
    more = tiny_grid(Path(config.data.path).parent, stacked=True, seeds=2, epochs=1)
    return more, RunFolder(Path(shutil.copytree(folder, tmp_path / "received")))


@pytest.mark.parametrize(
    "name", ["lock", "records.jsonl", "config.yaml", "classes.json", "cells", "running"]
)
@pytest.mark.parametrize("target", ["outside", "elsewhere"])
def test_a_received_run_writes_nothing_outside_itself(received, tmp_path, name, target):
    config, folder = received
    path = folder.path / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / target)
    with soon(), suppress(ValueError):
        run(Setup(config), folder, resume=True)
    assert (tmp_path / "outside").read_text() == SECRET
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_links_to_a_lock_are_refused_in_a_sentence(received, tmp_path, capsys):
    config, folder = received
    config.save(tmp_path / "config.yaml")
    (folder.path / "lock").unlink()
    (folder.path / "lock").symlink_to(tmp_path / "outside")
    with pytest.raises(SystemExit) as exit:
        main(["run", str(tmp_path / "config.yaml"), "--out", str(folder.path), "--resume"])
    assert exit.value.code == 2
    assert "lock' must be a regular file, but it is a link." in capsys.readouterr().err


def test_a_report_replaces_links(received, tmp_path):
    for name in ("report.html", "table.md", "table.tex", "table.csv"):
        (received[1].path / name).symlink_to(tmp_path / "outside")
    main(["report", str(received[1].path)])
    assert (tmp_path / "outside").read_text() == SECRET
    assert not (received[1].path / "report.html").is_symlink()


def test_a_report_of_a_model_follows_only_a_link_that_was_named(tmp_path, capsys):
    config = tiny_grid(tmp_path, stacked=True, seeds=1, epochs=1)
    list(train_and_save(Setup(config), tmp_path / "m.safetensors"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "m-report").symlink_to(tmp_path / "elsewhere")
    command = ["report", str(tmp_path / "m.safetensors"), "--data", config.data.path]
    with pytest.raises(SystemExit):
        main(command)
    assert "m-report' must be a real folder, but it is a link." in capsys.readouterr().err
    assert list((tmp_path / "elsewhere").iterdir()) == []
    main([*command, "--out", str(tmp_path / "m-report")])
    assert (tmp_path / "elsewhere" / "report.html").exists()


def test_states_are_not_written_through_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "unfinished").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="unfinished' must be a real folder"):
        Checkpoint(tmp_path / "unfinished" / "a.pt", every=0).save_if_due(dict)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_download_is_not_written_through_a_link(tmp_path):
    from simloss.data.download import _Fetch

    (tmp_path / "outside").write_text(SECRET)
    (tmp_path / "a.part").symlink_to(tmp_path / "outside")

    class Answer:
        status, headers = 200, {}

        def read(self, size):
            return b""

    with pytest.raises(ValueError, match="must be a regular file, but it is a link"):
        _Fetch("http://x", tmp_path / "a.part", None, 1, 0.0, 1.0)._receive(Answer(), 0)
    assert (tmp_path / "outside").read_text() == SECRET


@pytest.fixture
def pictures(tmp_path):
    for name in ("low", "mid", "high"):
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for place in range(3):
            colour = (30 * place, len(name) * 20, 7)
            Image.new("RGB", (8, 8), colour).save(tmp_path / "pictures" / name / f"{place}.png")
    return tmp_path / "pictures"


def test_links_in_a_data_folder_are_left_out_and_said(pictures, tmp_path):
    before = data.image_folder(pictures, size=8, cache=False)
    Image.new("RGB", (8, 8), (1, 2, 3)).save(tmp_path / "private.png")
    (pictures / "low" / "x.png").symlink_to(tmp_path / "private.png")
    (pictures / "low" / "y.png").symlink_to("/dev/zero")
    os.mkfifo(pictures / "low" / "z.png")
    with soon():
        after = data.image_folder(pictures, size=8, cache=False)
    assert torch.equal(before.inputs, after.inputs)
    (reason,) = after.notes["left_out"]
    assert reason == "a link, which is not followed; replace it with the file itself"
    assert after.notes["left_out"][reason] == {"count": 2, "names": ["low/x.png", "low/y.png"]}


def test_a_data_folder_of_links_only_is_told_why(pictures, tmp_path):
    for path in [*pictures.rglob("*.png")]:
        path.rename(tmp_path / f"{path.parent.name}-{path.name}")
        path.symlink_to(tmp_path / f"{path.parent.name}-{path.name}")
    with pytest.raises(data.DataError, match="9 left out: a link, which is not followed"):
        data.image_folder(pictures, size=8, cache=False)


def test_links_in_a_cache_are_made_anew(pictures, tmp_path):
    first = data.image_folder(pictures, size=8, cache=tmp_path / "cache").inputs.clone()
    for path in [*(tmp_path / "cache").iterdir()]:
        path.rename(tmp_path / f"outside{path.suffix}")
        path.symlink_to(tmp_path / f"outside{path.suffix}")
    kept = {p: p.read_bytes() for p in tmp_path.glob("outside*")}
    assert torch.equal(data.image_folder(pictures, size=8, cache=tmp_path / "cache").inputs, first)
    assert not any(path.is_symlink() for path in (tmp_path / "cache").iterdir())
    assert kept == {p: p.read_bytes() for p in tmp_path.glob("outside*")}


def test_a_search_is_not_written_through_a_link(tmp_path):
    from simloss.experiment.plan.presets import comparison
    from simloss.experiment.search.search import search
    from simloss.experiment.search.search_space import SearchSpace
    from simloss.experiment.search.trials import plan

    made = plan(comparison("abalone", epochs=1), SearchSpace(("simloss",), "order"), trials=2)
    (tmp_path / "outside").write_text(SECRET)
    for name in ("search.json", "lock"):
        folder = tmp_path / f"search-{name}"
        folder.mkdir()
        (folder / name).symlink_to(tmp_path / "outside")
        with pytest.raises(ValueError, match="must be|must hold"):
            search(made, folder)
        assert (tmp_path / "outside").read_text() == SECRET


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[" * 200_000,
        '{"settings": 1, "trials": 2}',
        '{"settings": {}, "trials": {}}',
        "no json",
    ],
)
def test_a_hostile_search_is_one_sentence(tmp_path, line):
    from simloss.experiment.plan.presets import comparison
    from simloss.experiment.search.search import search
    from simloss.experiment.search.search_space import SearchSpace
    from simloss.experiment.search.trials import plan

    made = plan(comparison("abalone", epochs=1), SearchSpace(("simloss",), "order"), trials=2)
    (tmp_path / "search.json").write_text(line)
    with pytest.raises(ValueError, match=r"must hold the [^\n]*\.$"):
        search(made, tmp_path)
