"""`simloss tune`, as a user types it."""

import signal
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cli.failing import fails
from simloss.cli import main
from simloss.cli.tune import _planned
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config
from simloss.experiment.search.search_space import space_of

FEW = ["--trials", "3", "--search-seeds", "1", "--budget", "6"]
FEW += ["--seeds", "2", "--epochs", "2", "--workers", "1", "--rivals", "none"]


def refused(capsys, *arguments):
    return fails(capsys, "tune", *arguments)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMLOSS_CACHE", str(tmp_path / "cache"))


def test_searches_then_compares_and_says_so(capsys):
    main(["tune", "abalone", *FEW, "--loss", "soft-target"])
    output = capsys.readouterr()
    assert "trial 1: soft targets, r = 0.5: MAE" in output.err
    assert "trial 2: cross entropy: MAE" in output.err
    assert "Search: 3 trials" in output.out
    assert "\nCross entropy and soft targets, r = 0." in output.out
    assert ", with fresh seeds, on test data that the search has not seen:" in output.out
    assert "cannot tell whether training with similarity helps" in output.out
    assert "All runs are judged on the same test examples" in output.out
    report = Path(output.out.split("Report: ")[1].strip())
    records = RunFolder(report.parent).records()
    assert {record["seed"] for record in records} == {1000, 1001}
    assert {record["treatment"]["loss"] for record in records} == {"cross-entropy", "soft-target"}
    main(["tune", "abalone", *FEW, "--loss", "soft-target"])  # nothing left to do
    again = capsys.readouterr()
    assert again.out == output.out
    assert "3 trials" in again.err
    assert "trial 1" not in again.err


def test_the_comparison_is_not_written_through_a_link(capsys, tmp_path):
    command = ["tune", "abalone", *FEW, "--loss", "soft-target", "--out", "found"]
    main(command)
    (comparison,) = Path("found").glob("comparison-*")
    comparison.rename("elsewhere")
    comparison.symlink_to(tmp_path / "elsewhere")
    Path("elsewhere/report.html").unlink()
    with pytest.raises(SystemExit):
        main([*command, "--resume"])
    assert "must be a real folder, but it is a link." in capsys.readouterr().err
    assert not Path("elsewhere/report.html").exists()


@pytest.mark.parametrize(
    ("trials", "told"),
    [
        (4, "Search: 4 trials of 1 net each; a trial"),
        (40, "Search: 7 trials of 1 net each, cross entropy and each loss once, then"),
    ],
)
def test_the_budget_in_plain_words(trials, told):
    plan = SimpleNamespace(space=space_of("order"), seeds=(1,), budget=None, trials=trials)
    assert _planned(plan).startswith(told)


def test_a_table_of_their_own_with_a_metric_and_a_decision(capsys, tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 2))
    size = np.array(["low", "medium", "high"])[np.digitize(x.sum(1), [-1, 1])]
    lines = [f"{a:.4f},{b:.4f},{c}" for (a, b), c in zip(x, size, strict=True)]
    Path("mine.csv").write_text("\n".join(["a,b,size", *lines]))
    options = ["--target", "size", "--metric", "accuracy", "--decision", "argmax", "--out", "run"]
    main(["tune", "mine.csv", *options, *FEW])
    output = capsys.readouterr()
    assert "low < medium < high" in output.out
    assert "trial 2: cross entropy: Accuracy" in output.err
    assert "holds a search already; add --resume" in refused(capsys, "mine.csv", *options, *FEW)
    main(["tune", "mine.csv", *options, *FEW, "--resume"])


@pytest.mark.parametrize("similarity", [[], ["--similarity", "gaussian"]])
def test_a_metric_that_knows_no_better_mistakes_gives_the_verdict(capsys, similarity):
    main(["tune", "abalone", *FEW, "--loss", "soft-target", "--metric", "accuracy", *similarity])
    output = capsys.readouterr()
    assert "trial 2: cross entropy: Accuracy" in output.err
    assert "on validation data, answered by argmax" in output.out
    config = Config.load(next(Path("runs").glob("*/comparison-*/config.yaml")))
    assert (config.metrics, config.rules) == (("accuracy",), ("argmax",))
    if similarity:
        assert config.treatments[1].parameter == "width"


def test_mistakes(capsys, tmp_path):
    assert "`loss` must be one of" in refused(capsys, "abalone", "--loss", "hinge")
    assert "for cross entropy always takes part, but got 'cross-entropy' only" in refused(
        capsys, "abalone", "--loss", "cross-entropy"
    )
    assert "`trials` must be at least 2" in refused(capsys, "abalone", "--trials", "1")
    assert "`budget` must be at least 1" in refused(capsys, "abalone", "--budget", "0")
    assert "`--search-seeds` must be at least 1" in refused(
        capsys, "abalone", "--search-seeds", "0"
    )
    assert "`seeds` must be at least 1" in refused(capsys, "abalone", "--seeds", "0")
    assert "`metric` must be a known metric, but got 'speed'" in refused(
        capsys, "abalone", "--metric", "speed"
    )
    assert "`decision` must be one of" in refused(capsys, "abalone", "--decision", "tree")
    assert "`--target` is for your own files" in refused(capsys, "abalone", "--target", "rings")
    assert "`--data` must go with utkface" in refused(capsys, "abalone", "--data", "x")
    assert "nowhere.csv" in refused(capsys, "nowhere.csv", "--target", "y")
    assert not list(tmp_path.iterdir())  # nothing half-written


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_stopped_politely_and_resumed(tmp_path, capsys, started, stop):
    search = ("--epochs", "200", "--search-seeds", "20", "--out", "run")
    process = started("tune", "abalone", *search)
    while not (tmp_path / "run" / "search.json").exists():
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(stop)
    error = process.communicate(timeout=60)[1]
    assert process.returncode in (130, -stop, -signal.SIGINT)
    assert "Traceback" not in error
    assert f"This resumes it:\n  simloss tune abalone {' '.join(search)} --resume\n" in error
    assert "its 'seeds' was" in refused(
        capsys, "abalone", "--epochs", "200", "--out", "run", "--resume"
    )
