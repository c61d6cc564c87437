"""New examples that are not written quite as the training data was."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli.failing import fails
from simloss.cli import main
from simloss.experiment.saved.model import SavedModel
from simloss.experiment.saved.new_data import new_data


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def table(target, rows=120):
    """A column that tells the target, one of numbers with gaps, one of ordered words."""
    x = np.random.default_rng(0).normal(size=rows).round(3)
    frame = pd.DataFrame({"x": x, "size": ["low", "high"] * (rows // 2)})
    frame["age"] = [str(i) if i % 7 else "" for i in range(rows)][::-1]
    return frame.assign(y=target(x))


def known(capsys, data):
    """How many examples `predict` and `report --data` have the class of."""
    main(["predict", "model.safetensors", data])
    right = capsys.readouterr().out.split("Right: ")[1]
    main(["report", "model.safetensors", "--data", data, "--out", "there"])
    capsys.readouterr()
    rows = pd.read_csv("there/table.csv")
    at = (rows["part"] == "test") & (rows["rule"] == rows["rule"].iloc[-1])
    accuracy = float(rows[at & (rows["metric"] == "accuracy")]["mean"].iloc[0])
    return right, accuracy


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (lambda x: np.where(x > 0, "2", "1"), []),
        (lambda x: np.where(x > 0, "true", "false"), []),
        (lambda x: x.astype(str), ["--bins", "3"]),
    ],
    ids=["numbers", "booleans", "bins"],
)
def test_a_class_is_known_in_a_table_with_gaps_in_its_target(capsys, target, options):
    old = table(target)
    old.to_csv("old.csv", index=False)
    main(
        ["train", "old.csv", "--target", "y", "--epochs", "30", "--loss", "cross-entropy", *options]
    )
    new = old.head(60).copy()
    new.loc[:9, "y"] = None
    new.to_csv("new.csv", index=False)
    right, accuracy = known(capsys, "new.csv")
    assert "of 50 whose class is known" in right
    assert accuracy == pytest.approx(int(right.split()[0]) / 50)
    assert accuracy > 0.8  # the classes are the right ones, too


def test_classes_that_are_left_out_of_a_report_are_counted(capsys):
    table(lambda x: np.where(x > 0, "2", "1")).to_csv("old.csv", index=False)
    main(["train", "old.csv", "--target", "y", "--epochs", "1"])
    new = table(lambda x: np.where(x > 0, "2", "9"))
    new.to_csv("new.csv", index=False)
    count = int((new["y"] == "9").sum())
    for command in (["report", "model.safetensors", "--data"], ["predict", "model.safetensors"]):
        main([*command, "new.csv"])
        told = capsys.readouterr()
        assert f"Note: {count} of 120 examples have no class the model knows." in told.err
        assert "None" not in told.out  # in a column of which nothing is known, as 'outside'


def test_cells_that_cannot_be_read_are_named(capsys):
    old = table(lambda x: np.where(x > 0, "2", "1"))
    old.to_csv("old.csv", index=False)
    main(["train", "old.csv", "--target", "y", "--epochs", "1"])
    new = old.head(10).astype(str)
    new.loc[0, "x"] = "1.5 m"
    new.loc[1:2, "size"] = "huge"
    new.loc[3, "age"] = "unknown"  # a column that had gaps in training, too
    new.to_csv("new.csv", index=False)
    main(["predict", "model.safetensors", "new.csv"])
    told = capsys.readouterr().err
    assert "cells of 'x' that are not numbers count as missing: 1, such as '1.5 m'" in told
    assert "cells of 'size' that are not words the model knows count as missing: 2" in told
    assert "cells of 'age' that are not numbers count as missing: 1, such as 'unknown'" in told
    assert "have no" not in told


def test_thousands_are_read_as_in_training(capsys):
    """One new row need not show that its commas are those of fractions."""
    rows = "".join(
        f"{1 + i % 9}.250;{i % 5},5;{'high' if i % 9 > 4 else 'low'}\n" for i in range(90)
    )
    Path("old.csv").write_text("x;z;y\n" + rows)
    main(["train", "old.csv", "--target", "y", "--epochs", "1"])
    saved = SavedModel.load(Path("model.safetensors"))
    assert saved.encoder.columns[0].form == ","
    for text in ("x;z\n3.250;2\n", "x;z\n3.250;2,0\n", "x;z\n3250;2\n", "x,z\n3250.0,2\n"):
        Path("new.csv").write_text(text)
        assert new_data(saved, "new.csv").inputs.tolist() == [[3250.0, 2.0]]
        assert new_data(saved, "new.csv").notes == ()
    pd.DataFrame({"x": [3250], "z": [2.0]}).to_parquet("new.parquet")
    assert new_data(saved, "new.parquet").inputs.tolist() == [[3250.0, 2.0]]


def test_classes_with_decimal_commas_are_known(capsys):
    rows = "".join(f"{i % 10},25;{i % 10},5\n" for i in range(60))
    Path("old.csv").write_text("x;y\n" + rows)
    main(["train", "old.csv", "--target", "y", "--bins", "3", "--epochs", "1"])
    for text in ("x;y\n1;2,5\n3;4,5\n", "x,y\n1,2.5\n3,4.5\n"):
        Path("new.csv").write_text(text)
        capsys.readouterr()
        main(["predict", "model.safetensors", "new.csv"])
        assert "of 2 whose class is known" in capsys.readouterr().out


def test_columns_that_lack_are_named(capsys):
    old = table(lambda x: np.where(x > 0, "2", "1"))
    old.to_csv("old.csv", index=False)
    main(["train", "old.csv", "--target", "y", "--epochs", "1"])
    capsys.readouterr()
    old[["x"]].to_csv("new.csv", index=False)
    sentence = fails(capsys, "predict", "model.safetensors", "new.csv")
    assert "'new.csv' must have the columns the model was trained on, but it has no" in sentence
    assert "'size', 'age'" in sentence


class TestWhatARowSays:
    @pytest.fixture
    def trained(self):
        frame = table(lambda x: np.where(x > 0, "2", "1")).assign(
            number=[f"A{i:03}" for i in range(120)],
            day=[f"2024-03-{i % 28 + 1:02}" for i in range(120)],
            town=["Bonn", "Bern", "Bari"] * 40,
        )
        frame.to_csv("old.csv", index=False)
        main(["train", "old.csv", "--target", "y", "--epochs", "1", "--loss", "cross-entropy"])
        return frame

    def answers(self, frame):
        frame.to_csv("new.csv", index=False)
        main(["predict", "model.safetensors", "new.csv", "--out", "a.csv"])
        return pd.read_csv("a.csv", keep_default_na=False)

    def test_values_far_outside_the_training_data_are_told(self, trained, capsys):
        new = trained.head(5).copy()
        new.loc[0, "x"] = 200.0
        new.loc[1, "day"] = "3000-01-01"
        new.loc[2, "town"] = "Ulm"
        low, high = trained["x"].min(), trained["x"].max()
        new.loc[3, "x"] = high + 0.01 * (high - low)  # hardly beyond
        found = self.answers(new)
        assert found["outside"][0].startswith("x 200.0 (trained on ")
        assert found["outside"][1] == "day 3000-01-01 (trained on 2024-03-01 to 2024-03-28)"
        assert found["outside"][2] == "town Ulm (never seen)"
        assert found["outside"].tolist()[3:] == ["", ""]
        said = capsys.readouterr().err
        assert "Note: 3 of 5 rows lie outside the training data; see 'outside'." in said

    def test_identifiers_are_carried_through(self, trained):
        found = self.answers(trained.tail(7))
        assert found["number"].tolist() == trained["number"].tail(7).tolist()
        assert found.columns[:3].tolist() == ["row", "number", "answer"]
        assert not {"y", "town"} & set(found)

    def test_an_identifier_called_like_an_answer(self, trained):
        found = self.answers(trained.tail(7).rename(columns={"number": "answer"}))
        assert found["answer (data)"].tolist() == trained["number"].tail(7).tolist()

    def test_a_model_of_before_knows_no_ranges(self, trained):
        saved = SavedModel.load(Path("model.safetensors"))
        saved.encoder = replace(saved.encoder, ranges=())
        saved.save(Path("model.safetensors"))
        assert "outside" not in self.answers(trained.tail(7))


class TestBins:
    def test_a_bin_is_answered_in_the_unit_of_the_target(self, capsys):
        frame = table(lambda x: np.exp(np.arange(len(x)) / 20))
        frame.to_csv("old.csv", index=False)
        main(["train", "old.csv", "--target", "y", "--bins", "3", "--epochs", "1"])
        said = capsys.readouterr().out
        values = np.sort(frame["y"].to_numpy()).reshape(3, 40)
        medians = np.median(values, axis=1)
        listed = ", ".join(f"{each:.6g}" for each in medians)
        assert f"each bin stands for the median of its rows: {listed}" in said
        main(["predict", "model.safetensors", "old.csv", "--out", "a.csv"])
        found = pd.read_csv("a.csv")
        names = SavedModel.load(Path("model.safetensors")).class_names
        wanted = [medians[names.index(answer)] for answer in found["answer"]]
        assert found["value"].tolist() == pytest.approx(wanted)
        # Distances, too, are between these numbers.
        judge = SavedModel.load(Path("model.safetensors")).judge()
        assert judge.positions.tolist() == pytest.approx(medians.tolist())


def test_the_page_of_one_model_has_nothing_that_does_not_apply(capsys):
    table(lambda x: np.digitize(x, [-0.5, 0.5]).astype(str)).to_csv("old.csv", index=False)
    how = ("--epochs", "2", "--loss", "blended")
    main(["train", "old.csv", "--target", "y", *how])
    main(["report", "model.safetensors", "--data", "old.csv", "--out", "there"])
    said = capsys.readouterr().out
    assert "change" not in said
    text = Path("there/report.html").read_text(encoding="utf-8")
    shown = text[: text.index('<script type="application/json"')]
    assert '<section id="confusion">' in shown
    for not_there in ("Trade-off", "config.yaml", "of training in all", "Lower r", "Verdict</h2>"):
        assert not_there not in shown.split("<script>")[0], not_there
