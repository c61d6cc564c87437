import json
import multiprocessing
import resource
from pathlib import Path

import numpy as np
import pytest

from simloss import data
from simloss.experiment.grid.store import RunFolder, RunFolderError, write_whole
from simloss.experiment.plan.presets import comparison


def record(cell, status="done", **more):
    words = {"label": "cross entropy", "family": "cross entropy"}
    made = {"cell": cell, "status": status, "treatment": {"loss": "cross-entropy", **words}}
    return {**made, "seed": 0, "metrics": {}, **more}


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path / "run")


def test_what_is_appended_is_read(folder):
    with folder.open_for_writing(comparison("abalone"), resume=False):
        folder.append([(record("a", seed=1), {"counts": np.arange(3)})])
        folder.append([(record("b", "failed", error="NaN"), None)])
    assert [r["cell"] for r in folder.records()] == ["a", "b"]
    assert folder.records()[0]["format"] == 1
    assert folder.sidecar("a")["counts"].tolist() == [0, 1, 2]
    assert folder.config() == comparison("abalone")


def test_cut_at_every_length_loses_only_the_last_record(folder):
    config = comparison("abalone", r=[0.5], losses=["simloss"])
    with folder.open_for_writing(config, resume=False):
        for cell in "abc":
            folder.append([(record(cell), None)])
    whole = folder.records_path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(len(whole) + 1):
        folder.records_path.write_bytes(whole[:length])
        complete = sum(end <= length for end in ends)
        assert len(folder.records()) == complete
        with folder.open_for_writing(config, resume=True):
            folder.append([(record("z"), None)])
        assert [r["cell"] for r in folder.records()] == [*"abc"[:complete], "z"]


def test_cells_of_one_stack_count_together_or_not_at_all(folder):
    with folder.open_for_writing(comparison("abalone"), resume=False):
        folder.append([(record("a"), None)])
        folder.append([(record(cell), None) for cell in "bcd"])
    whole = folder.records_path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(first, len(whole)):
        folder.records_path.write_bytes(whole[:length])
        assert [r["cell"] for r in folder.records()] == ["a"]
    with folder.open_for_writing(comparison("abalone"), resume=True):
        assert folder.records_path.read_bytes() == whole[:first]


def test_a_damaged_line_is_named(folder):
    with folder.open_for_writing(comparison("abalone"), resume=False):
        folder.append([(record("a"), None)])
    for damage in (b"{not json}\n", b"[]\n", b'{"cell": "x"}\n', b"[" * 100000 + b"\n"):
        folder.records_path.write_bytes(folder.records_path.read_bytes()[:0] + damage)
        with pytest.raises(RunFolderError, match="one record per line, but line 1 is not"):
            folder.records()


def test_a_damaged_sidecar_is_named(folder):
    with folder.open_for_writing(comparison("abalone"), resume=False):
        folder.append([(record("a"), {"counts": np.arange(300)})])
    path = folder.sidecar_path("a")
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(RunFolderError, match="must be a whole npz file"):
            folder.sidecar("a")
    np.savez(path, counts=np.array([{"a": 1}], dtype=object))
    with pytest.raises(RunFolderError, match="must be a whole npz file"):
        folder.sidecar("a")


def test_one_record_a_cell_and_done_wins(folder):
    with folder.open_for_writing(comparison("abalone"), resume=False):
        folder.append([(record("a", "failed", error="NaN"), None)])
        folder.append([(record("a"), None)])
        folder.append([(record("a", "failed", error="NaN"), None)])
    assert [r["status"] for r in folder.records()] == ["done"]


def test_another_experiment_is_refused(folder):
    with folder.open_for_writing(comparison("abalone"), resume=False):
        pass
    with (
        pytest.raises(RunFolderError, match="holds a run already; add --resume"),
        folder.open_for_writing(comparison("abalone"), resume=False),
    ):
        pass
    with (
        pytest.raises(RunFolderError, match="but its 'source' was abalone and is now diamonds;"),
        folder.open_for_writing(comparison("diamonds"), resume=True),
    ):
        pass
    with (
        pytest.raises(RunFolderError, match="resumed, but its 'epochs' was 200 and is now 3;"),
        folder.open_for_writing(comparison("abalone", epochs=3), resume=True),
    ):
        pass
    # More seeds or treatments are the same experiment, going on.
    with folder.open_for_writing(comparison("abalone", seeds=20, r=[0.1]), resume=True):
        pass
    assert len(folder.config().seeds) == 20


def test_a_name_too_long_is_said_of_the_file_that_was_named():
    name = "x" * 300
    with pytest.raises(
        RunFolderError, match=rf"'/tmp/{name}' cannot be written: File name too long"
    ):
        write_whole(Path("/tmp", name), b"1")


def test_records_of_an_unknown_experiment_are_not_mixed_in(folder):
    with folder.open_for_writing(comparison("abalone"), resume=True):
        folder.append([(record("a"), None)])
    folder.config_path.unlink()
    with (
        pytest.raises(RunFolderError, match=r"must have a config.yaml beside its records"),
        folder.open_for_writing(comparison("diamonds"), resume=True),
    ):
        pass


def test_other_treatments_and_seeds_are_added(folder):
    first = comparison("abalone", r=[0.5], losses=["simloss"], seeds=3)
    then = comparison("abalone", r=[0.8], losses=["proper"], seeds=2)
    for config in (first, then):
        with folder.open_for_writing(config, resume=True):
            pass
    kept = folder.config()
    assert [t.label for t in kept.treatments] == [
        *("cross entropy", "SimLoss, r = 0.5", "proper SimLoss, r = 0.8")
    ]
    assert kept.seeds == (0, 1, 2)


def test_no_run_folder(tmp_path):
    with pytest.raises(RunFolderError, match="must be a run folder with a config.yaml"):
        RunFolder(tmp_path).config()


def hold(path, ready, done):
    with RunFolder(path).open_for_writing(comparison("abalone"), resume=True):
        ready.set()
        done.wait()


def test_one_writer_at_a_time_and_no_stale_lock(folder):
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    process = context.Process(target=hold, args=(folder.path, ready, done))
    process.start()
    ready.wait()
    with (
        pytest.raises(RunFolderError, match=f"one writer at a time, but process {process.pid} is"),
        folder.open_for_writing(comparison("abalone"), resume=True),
    ):
        pass
    process.kill()  # without a chance to tidy up
    process.join()
    with folder.open_for_writing(comparison("abalone"), resume=True):
        folder.append([(record("a"), None)])


def test_a_folder_of_something_else_is_left_alone(folder):
    folder.path.mkdir(exist_ok=True)
    (folder.path / ".gitkeep").touch()
    (folder.path / "thesis.tex").touch()
    for resume in (False, True):
        with (
            pytest.raises(RunFolderError, match="new or empty folder, or a run, but it holds 'the"),
            folder.open_for_writing(comparison("abalone"), resume=resume),
        ):
            pass
    assert len(list(folder.path.iterdir())) == 2
    (folder.path / "thesis.tex").unlink()
    with folder.open_for_writing(comparison("abalone"), resume=False):
        (folder.path / "thesis.tex").touch()
    with folder.open_for_writing(comparison("abalone"), resume=True):
        pass


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder even root cannot write")
def test_a_folder_that_cannot_be_written():
    with (
        pytest.raises(RunFolderError, match="'/proc/self/run' cannot be written"),
        RunFolder(Path("/proc/self/run")).open_for_writing(comparison("abalone"), resume=False),
    ):
        pass


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "run").write_text("")
    with (
        pytest.raises(RunFolderError, match="cannot be written"),
        RunFolder(tmp_path / "run").open_for_writing(comparison("abalone"), resume=False),
    ):
        pass


def fill(path, limit, results):
    """Append until the disk, as this process sees it, is full."""
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    folder = RunFolder(path)
    written = 0
    with folder.open_for_writing(comparison("abalone"), resume=True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            for number in range(100):
                folder.append([(record(f"cell{number}"), None)])
                written += 1
        except RunFolderError as error:
            results.put((written, str(error)))


@pytest.mark.parametrize("limit", [5000, 5040, 5077, 5093])
def test_a_full_disk_loses_nothing_that_was_recorded(folder, limit):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=fill, args=(folder.path, limit, results))
    process.start()
    written, message = results.get(timeout=120)
    process.join()
    assert "File too large; what was recorded before is safe" in message
    assert len(folder.records()) == written > 10
    assert folder.records_path.read_bytes().endswith(b"\n")


def test_write_whole_leaves_nothing_behind(tmp_path):
    write_whole(tmp_path / "a", b"1")
    write_whole(tmp_path / "a", b"22")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"22"
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunFolderError, match=r"cannot be written: Is a directory\.$"):
        write_whole(tmp_path / "folder", b"")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "folder"]


def test_records_hold_no_nan(folder):
    with (
        folder.open_for_writing(comparison("abalone"), resume=False),
        pytest.raises(ValueError, match="not JSON compliant"),
    ):
        folder.append([(record("a", value=float("nan")), None)])
    assert json.loads("[]") == folder.records()


def test_the_classes_are_described(folder):
    assert folder.classes() is None
    with folder.open_for_writing(comparison("abalone"), resume=False):
        folder.describe(data.abalone())
    about = folder.classes()
    assert about["names"] == list(data.abalone().class_names)
    assert about["unit"] == "rings"
    assert about["superclasses"] is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"names": 3}', '{"names": [1]}'])
def test_damaged_classes_are_named(folder, content):
    with folder.open_for_writing(comparison("abalone"), resume=False):
        folder.classes_path.write_text(content)
    with pytest.raises(RunFolderError, match="must name the classes"):
        folder.classes()


def test_keys_can_be_left_out(folder):
    with folder.open_for_writing(comparison("abalone"), resume=False):
        folder.append([(record("a", history=[{"epoch": 1}]), None)])
    assert "history" in folder.records()[0]
    assert "history" not in folder.records(without=("history",))[0]
