import io
import json

import pytest
from rich.console import Console

from simloss.experiment.grid.progress import LiveProgress, PlainProgress, Progress, progress_for


def done(cell="a", status="done"):
    return {"cell": cell, "status": status, "error": "the loss became nan in epoch 2, batch 4."}


def test_plain_lines(tmp_path, capsys):
    progress = PlainProgress()
    with progress.run("ages", 5, 2, tmp_path / "beats"):
        progress.finished([done()])
        progress.finished([done("b", "failed"), done("c")])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "ages: 5 cells, each a treatment with a seed, 2 of them recorded already"
    assert lines[1].startswith("ages: 3 of 5 cells, about 0 s left")
    assert lines[2] == "b failed: the loss became nan in epoch 2, batch 4."
    assert lines[3] == "ages: 5 of 5 cells, about 0 s left"
    assert not (tmp_path / "beats").exists()


def test_a_name_commands_no_terminal(tmp_path):
    console = Console(file=io.StringIO(), width=300)
    progress = LiveProgress(io.StringIO())
    with progress.run("\x1b]0;owned\x07" + "x" * 10_000, 4, 0, tmp_path / "beats"):
        console.print(progress)
    said = console.file.getvalue()
    assert "]0;owned" in said
    assert "\x1b]0" not in said
    assert "x" * 300 not in said


def test_live_display(tmp_path):
    progress = LiveProgress(io.StringIO())
    console = Console(file=io.StringIO(), width=100)
    with progress.run("ages", 4, 0, tmp_path / "beats"):
        beat = {"label": "SimLoss, seed 1", "epoch": 7, "validation": {"argmax": 7.0123}}
        (tmp_path / "beats" / "1.json").write_text(json.dumps(beat))
        stack = {"label": "40 nets together", "epoch": 3, "training": 12}
        (tmp_path / "beats" / "2.json").write_text(json.dumps(stack))
        (tmp_path / "beats" / "3.json").write_text("half a li")
        progress.finished([done("a", "failed")])
        console.print(progress)
    text = console.file.getvalue()
    assert "1 of 4 cells, 1 failed, about" in text
    assert "SimLoss, seed 1: epoch 7, argmax 7.012" in text
    assert "40 nets together: epoch 3, 12 still learning" in text


@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [(10, "about 30 s left"), (100, "about 5 min left"), (3600, "about 3.0 h left")],
)
def test_time_left(tmp_path, monkeypatch, elapsed, expected):
    progress = Progress()
    with progress.run("ages", 4, 0, tmp_path / "beats"):
        assert progress.time_left() == "time left unknown"
        progress.finished([done()])
        progress.started -= elapsed
        assert progress.time_left() == expected


def test_where_nobody_looks():
    assert isinstance(progress_for(io.StringIO()), PlainProgress)
