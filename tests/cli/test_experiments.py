"""compare, reproduce, run and train, as a user types them."""

import io
import os
import re
import signal
import tarfile
import time
from dataclasses import replace

import pytest
import torch
from PIL import Image

from cli.failing import fails
from simloss import data
from simloss.cli import main
from simloss.cli.data_options import DataOptions
from simloss.cli.running import folder_for
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config, DataConfig, TrainingConfig
from simloss.experiment.plan.presets import comparison
from simloss.experiment.saved.model import SavedModel


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMLOSS_CACHE", str(tmp_path / "cache"))


def face(age, number):
    buffer = io.BytesIO()
    image = torch.randint(256, (70, 70, 3), generator=torch.Generator().manual_seed(number))
    Image.fromarray(image.byte().numpy()).save(buffer, "JPEG")
    return f"UTKFace/{age}_0_0_2017{number:04}.jpg.chip.jpg", buffer.getvalue()


def archive(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def faces(tmp_path):
    return archive(tmp_path / "faces.tar.gz", [face(1 + n % 5, n) for n in range(40)])


FEW = ["--r", "0.5", "--seeds", "2", "--epochs", "1", "--workers", "1", "--rivals", "none"]


class TestCompare:
    @pytest.mark.parametrize(
        ("command", "option"),
        [("compare", "seeds"), ("compare", "workers"), ("tune", "seeds"), ("tune", "trials")],
    )
    def test_more_runs_than_anybody_can_wait_for(self, capsys, command, option):
        """They were listed, and filled the memory."""
        said = fails(capsys, command, "abalone", f"--{option}", "1000000000")
        assert f"`{option}` must be at most 100,000, but got 1,000,000,000." in said

    def test_prints_the_verdict_and_writes_the_report(self, capsys):
        main(["compare", "abalone", *FEW])
        output = capsys.readouterr().out
        assert "cannot tell whether training with similarity helps" in output
        assert "cross entropy" in output
        report = output.split("Report: ")[1].strip()
        assert os.path.getsize(report) > 100_000
        main(["compare", "abalone", *FEW])  # goes on where it stopped: nothing to do
        again = capsys.readouterr().out
        assert re.sub("About .*", "", again) == re.sub("About .*", "", output)  # a guess each time

    def test_both_tables_without_an_argument(self, capsys):
        main(["compare", *FEW, "--loss", "simloss", "--out", "mine"])
        output = capsys.readouterr().out
        for table in ("diamonds", "abalone"):
            assert f"\n{table}\n" in output
            assert len(RunFolder(data_path("mine", table)).records()) == 4

    def test_a_folder_that_holds_a_run(self, capsys):
        arguments = ["compare", "abalone", *FEW, "--loss", "simloss", "--out", "mine"]
        main(arguments)
        capsys.readouterr()
        assert "holds a run already; add --resume" in fails(capsys, *arguments)
        main([*arguments, "--resume"])

    def test_mistakes(self, capsys, tmp_path):
        assert "`r` must be in [0, 1), but got 1.5" in fails(capsys, "compare", "--r", "1.5")
        assert "`loss` must be one of" in fails(capsys, "compare", "--loss", "hinge")
        assert "`seeds` must be at least 1" in fails(capsys, "compare", "--seeds", "0")
        assert "Did you mean --seeds?" in fails(capsys, "compare", "--seds", "3")
        sentence = fails(capsys, "compare", "iris")
        assert "`source` must be diamonds, abalone, a table" in sentence  # as --help calls it
        assert "but nothing was found at 'iris'" in sentence
        assert not list(tmp_path.iterdir())  # nothing half-written

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"data": DataConfig("table", "t.csv", {"target": "y", "bin": 2})}, "takes no 'bin'"),
            ({"data": DataConfig("table", "t.csv")}, "path, target, class_order, bins, super"),
            ({"data": DataConfig("abalone", "t.csv")}, "`data` 'abalone' takes no settings, but: "),
            ({"model": "mpl"}, "`model` must be one of"),
            ({"model": "resnet"}, "takes inputs of shape (3, H, W)"),
            ({"training": TrainingConfig(stop_on="mea")}, "must be a known metric, but got 'mea'"),
            ({"training": TrainingConfig(stop_on="severity")}, "`tree` must be given"),
            ({"training": TrainingConfig(device="mps")}, "`device` 'mps' must be available"),
        ],
    )
    def test_a_configuration_that_cannot_run(self, capsys, tmp_path, change, sentence):
        replace(comparison("abalone", seeds=1, epochs=1), **change).save(tmp_path / "c.yaml")
        assert sentence in fails(capsys, "run", "c.yaml", "--out", "run")
        assert not (tmp_path / "run").exists()  # nothing half-written, to be taken for a run

    def test_the_name_in_a_configuration_leads_nowhere(self):
        config = replace(comparison("abalone"), name="../../x")
        assert folder_for(config, None).path.parent == data_path("runs")


def data_path(*parts):
    from pathlib import Path

    return Path(*parts)


class TestReproduce:
    def test_utkface_and_its_configuration_again(self, capsys, faces):
        few = ["--data", str(faces), "--r", "0", "0.8", "--seeds", "1", "--epochs", "1"]
        main(["reproduce", "utkface", *few, "--out", "run"])
        folder = RunFolder(data_path("run"))
        assert [r["treatment"]["label"] for r in folder.records()] == [
            "cross entropy",
            "SimLoss, r = 0.8",
        ]
        main(["run", "run/config.yaml", "--out", "again"])
        again = RunFolder(data_path("again")).records()
        assert [r["metrics"] for r in again] == [r["metrics"] for r in folder.records()]
        assert folder.config() == Config.load(data_path("again/config.yaml"))
        main(["reproduce", "utkface", *few, "--augment", "--out", "augmented"])
        augmented = RunFolder(data_path("augmented")).records()
        assert all(
            one["metrics"] != other["metrics"]
            for one, other in zip(augmented, folder.records(), strict=True)
        )

    def test_train_and_tune_augment_its_data_if_asked(self, faces):
        for asked in (True, None):
            own = {"decision": None, "epochs": 1, "device": "cpu", "used": ("augment",)}
            setup = DataOptions(augment=asked).preset("utkface", faces, **own)
            assert setup.config.training.augment is bool(asked)

    @pytest.mark.parametrize(
        ("task", "option"),
        [
            ("utkface", ["--lower-bound", "0.3"]),
            ("afad", ["--download"]),
            ("cifar100", ["--r", "0.3"]),
        ],
    )
    def test_an_option_of_another_task(self, capsys, faces, task, option):
        sentence = fails(capsys, "reproduce", task, "--data", str(faces), *option)
        assert f"`{option[0]}` does not apply to {task}" in sentence

    def test_bad_data(self, capsys, tmp_path, faces):
        def sentence(path):
            return fails(capsys, "reproduce", "utkface", "--data", str(path))

        assert "ask for UTKFace at" in fails(capsys, "reproduce", "utkface")
        assert "Nothing was found at" in sentence("nowhere.tar.gz")
        cut = tmp_path / "cut.tar.gz"
        cut.write_bytes(faces.read_bytes()[:20000])
        assert str(cut) in sentence(cut)
        empty = tmp_path / "empty"
        empty.mkdir()
        assert str(empty) in sentence(empty)
        text = archive(tmp_path / "text.tar.gz", [("3_0_0_1.jpg.chip.jpg", b"not an image")])
        assert str(text) in sentence(text)
        one = archive(tmp_path / "one.tar.gz", [face(3, 0)])
        assert "The validation part is empty" in sentence(one)
        assert not (tmp_path / "runs").exists()

    def test_a_folder_that_cannot_be_written(self, capsys, faces):
        arguments = ["--data", str(faces), "--epochs", "1", "--out", "/proc/self/run"]
        sentence = fails(capsys, "reproduce", "utkface", *arguments)
        assert "'/proc/self/run' cannot be written" in sentence

    def test_mistakes(self, capsys, tmp_path):
        assert 'Choose from: "utkface"' in fails(capsys, "reproduce", "mnist")
        (tmp_path / "bad.yaml").write_text("name: x")
        assert "must have a 'data', but it has none" in fails(capsys, "run", "bad.yaml")
        assert "none exists at 'gone.yaml'" in fails(capsys, "run", "gone.yaml")


class TestTrain:
    def test_saves_a_model_that_predicts(self, capsys):
        main(["train", "abalone", "--r", "0.5", "--decision", "median", "--epochs", "2"])
        output = capsys.readouterr().out
        assert "test: MAE" in output
        saved = SavedModel.load(data_path("model.safetensors"))
        assert saved.rule == "median"
        table = data.abalone()
        assert saved.class_names == table.class_names
        answers = saved.predict(table.inputs[:50])
        assert (answers - table.labels[:50]).abs().float().mean() < 6
        assert saved.probabilities(table.inputs[:3]).sum(1).tolist() == pytest.approx([1] * 3)
        with pytest.raises(ValueError, match=r"`inputs` must have shape \(N, 10\)"):
            saved.predict(torch.zeros(2, 9))

    def test_cross_entropy_on_images(self, capsys, faces):
        main(["train", "utkface", "--data", str(faces), "--loss", "cross-entropy", "--epochs", "1"])
        assert SavedModel.load(data_path("model.safetensors")).config.model == "age-cnn"

    def test_a_decision_that_the_papers_data_does_not_know(self, capsys, faces, tmp_path):
        few = ["--data", str(faces), "--epochs", "1", "--decision", "tree"]
        assert "'tree' needs superclasses" in fails(capsys, "train", "utkface", *few)
        assert not (tmp_path / "model.safetensors").exists()

    def test_mistakes(self, capsys, tmp_path):
        assert "`decision` must be one of" in fails(
            capsys, "train", "abalone", "--decision", "tree"
        )
        assert "must end in .safetensors" in fails(capsys, "train", "abalone", "--out", "x.pt")
        assert "an existing folder" in fails(capsys, "train", "abalone", "--out", "a/b.safetensors")
        broken = tmp_path / "broken.safetensors"
        broken.write_bytes(b"\x00" * 100)
        with pytest.raises(ValueError, match="must be a model saved by simloss"):
            SavedModel.load(broken)
        with pytest.raises(ValueError, match="Nothing was found at"):
            SavedModel.load(tmp_path / "gone.safetensors")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_stopped_politely_and_resumed(tmp_path, started, stop, workers):
    few = ("--r", "0.5", "--loss", "simloss", "--rivals", "none", "--seeds", "4")
    few += ("--workers", workers)
    process = started("compare", "abalone", *few, "--out", "run")
    while not (tmp_path / "run" / "running").exists():
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(stop)
    error = process.communicate(timeout=60)[1]
    # Python may end itself by the signal it has handled; a shell calls both 130.
    assert process.returncode in (130, -stop, -signal.SIGINT)
    assert "Traceback" not in error
    assert "Stopped. 0 of 8 cells are recorded in 'run'" in error
    command = f"compare abalone {' '.join(few)} --out run --resume"
    assert f". This resumes it:\n  simloss {command}\n" in error
