"""compare, train and predict on a user's own files, as a new user types them."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cli.failing import fails
from simloss import similarity
from simloss.cli import main
from simloss.data import memory
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan import sources
from simloss.experiment.saved.model import SavedModel

FEW = ["--seeds", "1", "--epochs", "2", "--workers", "1", "--loss", "simloss", "--r", "0.5"]
FEW += ["--rivals", "none"]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMLOSS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def ages(tmp_path):
    """An image folder with classes 1 to 12."""
    rng = np.random.default_rng(0)
    for age in range(1, 13):
        (tmp_path / "ages" / str(age)).mkdir(parents=True)
        for i in range(6):
            pixels = rng.integers(0, 60, (14, 14, 3))
            pixels[:age] += 150
            Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / f"ages/{age}/{i}.png")
    return "ages"


@pytest.fixture
def credit(tmp_path):
    """A table with low, medium and high, words, dates and gaps."""
    rng = np.random.default_rng(0)
    n = 120
    income, region = rng.normal(size=n), rng.choice(["north", "south"], n)
    score = income + (region == "north") + 0.5 * rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "customer": [f"C{i:05}" for i in range(n)],
            "income": 3000 + 1000 * income,
            "region": region,
            "joined": rng.choice(pd.date_range("2020-01-01", periods=500), n),
            "nothing": [None] * n,
            "risk": np.array(["low", "medium", "high"])[np.digitize(score, [0, 1])],
        }
    )
    frame.loc[rng.choice(n, 20, replace=False), "income"] = None
    frame.loc[rng.choice(n, 10, replace=False), "region"] = None
    frame.to_csv(tmp_path / "credit.csv", index=False)
    return "credit.csv"


@pytest.fixture
def things(tmp_path):
    """A parquet file whose classes have names."""
    rng = np.random.default_rng(0)
    thing = np.array(["truck", "bus", "cat", "lion"] * 20)
    wheels = np.isin(thing, ["truck", "bus"]) * 4 + rng.normal(size=80)
    size = (thing != "cat") + rng.normal(size=80)
    frame = pd.DataFrame({"wheels": wheels, "size": size, "thing": thing})
    frame.to_parquet(tmp_path / "things.parquet")
    return "things.parquet"


class TestCompare:
    def test_an_image_folder(self, capsys, ages, tmp_path):
        main(["compare", ages, *FEW, "--size", "8", "--out", "run"])
        output = capsys.readouterr().out
        assert "12 classes, in this order: 1 < 2 < 3 < 4 < 5 < 6 < 7 < 8 < 9 < 10 < 11" in output
        assert "Similarity: order, because the classes are equally spaced numbers" in output
        assert "MAE" in output
        assert "median" in output
        config = RunFolder(tmp_path / "run").config()
        assert (config.model, config.training.augment) == ("small-cnn", False)
        assert (tmp_path / "run" / "report.html").stat().st_size > 100_000

    def test_a_table_with_gaps(self, capsys, credit, tmp_path):
        main(["compare", credit, "--target", "risk", *FEW, "--out", "run"])
        output = capsys.readouterr().out
        assert "credit: 120 examples, 3 columns to predict from" in output
        assert "column 'customer' is not used: almost every value is different" in output
        assert "column 'nothing' is not used: empty" in output
        assert "3 classes, in this order: low < medium < high" in output
        assert "Similarity: order, because the class names are words with an order" in output
        records = RunFolder(tmp_path / "run").records()
        assert [record["status"] for record in records] == ["done", "done"]
        # What was started with one file is not resumed with another.
        with open(credit, "a") as file:
            file.write("C9,1,north,2020-01-01,,low\n")
        again = ["compare", credit, "--target", "risk", *FEW, "--out", "run", "--resume"]
        assert "must hold the same experiment" in fails(capsys, *again)
        sources._dataset.cache_clear()  # as in a new process
        assert "its content has changed" in fails(capsys, "run", "run/config.yaml", "--out", "r2")

    def test_a_parquet_file_with_names(self, capsys, things, tmp_path):
        main(["compare", things, "--target", "thing", *FEW, "--out", "run"])
        output = capsys.readouterr().out
        assert "4 classes, in no order: bus, cat, lion, truck" in output
        assert "Similarity: words-angle, because the class names are words; --sim" in output
        assert "; if the classes have an order, name it with --class-order\n" in output
        assert "similarity" in output
        record = RunFolder(tmp_path / "run").records()[0]
        assert set(record["metrics"]["test"]) == {"argmax", "similarity"}
        assert "mean_similarity" in record["metrics"]["test"]["similarity"]

    def test_choices(self, capsys, credit, tmp_path):
        chosen = ["--metric", "quadratic_kappa", "--decision", "mean", "--bins", "3"]
        main(["compare", credit, "--target", "income", *chosen, *FEW, "--out", "run"])
        output = capsys.readouterr().out
        assert "20 rows without a class are left out" in output
        assert "3 classes, in this order: " in output
        config = RunFolder(tmp_path / "run").config()
        assert (config.metrics[0], config.training.stop_on) == ("quadratic_kappa",) * 2
        assert config.rules == ("argmax", "mean")
        assert config.cost == "values"

    def test_a_saved_similarity(self, capsys, things, tmp_path):
        names = ["lion", "cat", "truck", "bus"]
        similarity.order(4, 0.5, names=names).save(tmp_path / "s.csv")
        main(
            ["compare", things, "--target", "thing", "--similarity", "s.csv", *FEW, "--out", "run"]
        )
        assert "s.csv, because you asked for it" in capsys.readouterr().out
        assert RunFolder(tmp_path / "run").config().cost == str(tmp_path / "s.csv")

    def test_asks_on_a_terminal(self, capsys, tmp_path, monkeypatch):
        (tmp_path / "odd.csv").write_text("x,y\n" + "1,zq\n2,k1x\n3,pp7\n" * 9)
        said = iter(["order", "k1x, zq, pp7"])
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", lambda question: next(said))
        main(["compare", "odd.csv", "--target", "y", *FEW])
        output = capsys.readouterr().out
        assert "Their names do not tell how alike they are" in output
        assert "3 classes, in this order: k1x < zq < pp7" in output

    @pytest.mark.parametrize("said", [[], ["order"]])
    def test_the_end_of_the_input_is_no_answer(self, capsys, tmp_path, monkeypatch, said):
        def answered(question):
            if not said:
                raise EOFError
            return said.pop()

        (tmp_path / "odd.csv").write_text("x,y\n" + "1,zq\n2,k1x\n3,pp7\n" * 9)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", answered)
        assert "`similarity` must be chosen" in fails(capsys, "compare", "odd.csv", "--target", "y")

    def test_a_table_of_images(self, capsys, ages, tmp_path):
        rows = "".join(f"{age}/{i}.png,{age}\n" for age in (1, 2, 10) for i in range(6))
        (tmp_path / "ages" / "list.csv").write_text("file,age\n" + rows)
        arguments = ["--target", "age", "--image-column", "file", "--size", "8"]
        main(["compare", "ages/list.csv", *arguments, *FEW, "--out", "run"])
        output = capsys.readouterr().out
        assert "list: 18 examples of 3 x 8 x 8" in output
        assert "3 classes, in this order: 1 < 2 < 10" in output
        assert "Similarity: values, because the classes are numbers at unequal" in output
        main(["train", "ages/list.csv", *arguments, "--epochs", "1"])
        main(["predict", "model.safetensors", "ages/list.csv"])
        assert "1/0.png" in capsys.readouterr().out

    def test_rare_and_missing_classes_are_named(self, capsys, credit):
        with open(credit, "a") as file:
            file.write("C9,1,north,2020-01-01,,very high\n")
        main(["compare", credit, "--target", "risk", *FEW])
        output = capsys.readouterr().out
        assert "rare, fewer than 3 examples: very high (1)" in output
        assert "no example in the validation part of some split: very high" in output

    def test_what_makes_a_test_look_too_good_or_tell_nothing_is_said(self, capsys, tmp_path):
        lines = [
            f"{n % 50 / 7:.3f},{'abc'[n % 50 % 3]},{('low', 'mid', 'high')[n % 50 % 3]}"
            for n in range(100)
        ]
        (tmp_path / "t.csv").write_text("x,code,grade\n" + "\n".join(lines))
        main(["compare", "t.csv", "--target", "grade", *FEW])
        output = capsys.readouterr().out
        assert "column 'code' tells the class by itself; if it is known only after" in output
        assert "leave it out: --drop code" in output
        assert "column 'x'" not in output
        assert " of 20 examples to test with are in the training part, too" in output
        main(["train", "t.csv", "--target", "grade", "--epochs", "1", "--drop", "code"])
        output = capsys.readouterr().out
        assert "tells the class" not in output
        assert " of 20 examples to test with are in the training part, too" in output

    def test_a_table_of_five_rows_is_said_to_tell_nothing(self, capsys, tmp_path):
        (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n")
        main(["compare", "t.csv", "--target", "y", "--similarity", "order", *FEW])
        assert "only 1 to test with, of 5: so few can tell nothing" in capsys.readouterr().out


class TestPredict:
    @pytest.fixture
    def model(self, credit, capsys):
        main(["train", credit, "--target", "risk", "--epochs", "30", "--r", "0.3"])
        output = capsys.readouterr().out
        assert "low < medium < high" in output
        assert "answered by median" in output
        return "model.safetensors"

    def test_answers_for_new_rows(self, capsys, model, tmp_path):
        new = pd.DataFrame(
            {
                "joined": ["2021-01-01", None, "2021-05-05"],
                "region": ["north", "=west()", None],
                "income": [5000, None, 500],
            }
        )
        new.to_csv("new.csv", index=False)
        main(["predict", model, "new.csv", "--out", "answers.csv", "--all"])
        output = capsys.readouterr()
        assert "Answers: answers.csv (3 examples)" in output.out
        assert "1 row has a 'region' the model has never seen" in output.err
        assert "1 row has no 'joined', which no training row lacked" in output.err
        answers = pd.read_csv("answers.csv")
        assert list(answers.columns) == [
            *("row", "answer", "probability", "expected_cost", "outside"),
            *("p(low)", "p(medium)", "p(high)"),
        ]
        assert answers["answer"].tolist()[::2] == ["high", "low"]
        p = answers.filter(like="p(").to_numpy()
        np.testing.assert_allclose(p.sum(1), 1, atol=1e-5)
        for row, answer, cost in zip(p, answers["answer"], answers["expected_cost"], strict=True):
            costs = [sum(q * abs(k - c) for k, q in enumerate(row)) for c in range(3)]
            assert cost == pytest.approx(min(costs), abs=1e-5)
            assert ["low", "medium", "high"][int(np.argmin(costs))] == answer

    def test_abstains_and_writes_parquet(self, capsys, model, credit):
        main(["predict", model, credit, "--out", "a.parquet", "--abstain", "0.3"])
        output = capsys.readouterr().out
        answers = pd.read_parquet("a.parquet")
        assert (answers["abstained"] == (answers["expected_cost"] > 0.3)).all()
        assert answers["answer"].isna().equals(answers["abstained"])
        count = int(answers["abstained"].sum())
        assert 0 < count < len(answers)
        assert f"No answer for {count} of 120 examples" in output
        assert "whose class is known" in output

    def test_without_a_file_it_shows_some(self, capsys, model, credit):
        main(["predict", model, credit, "--decision", "argmax"])
        output = capsys.readouterr().out
        assert "... and 110 more; --out answers.csv writes them all" in output
        share = float(output.split("(")[-1].split(" %")[0])
        assert share > 50  # it has learnt something

    def test_right_answers_for_training_data_are_said_to_be_such(self, capsys, model, credit):
        main(["predict", model, str(Path(credit).resolve())])
        said = "The model was trained on examples of this data"
        assert said in capsys.readouterr().out.splitlines()[-1]
        pd.read_csv(credit).head(40).to_csv("new.csv", index=False)
        main(["predict", model, "new.csv"])
        assert said not in capsys.readouterr().out

    def test_images(self, capsys, ages):
        main(["train", ages, "--size", "8", "--epochs", "1", "--loss", "cross-entropy"])
        assert SavedModel.load("model.safetensors").input_shape == (3, 8, 8)
        main(["predict", "model.safetensors", ages, "--out", "a.csv"])
        answers = pd.read_csv("a.csv")
        assert len(answers) == 72
        assert answers["file"][0] == "1/0.png"
        assert set(answers["answer"]) <= set(range(1, 13))

    def test_by_similarity(self, capsys, things, tmp_path):
        path = tmp_path / "s.csv"
        similarity.order(4, 0.5, names=["lion", "cat", "truck", "bus"]).save(path)
        main(["train", things, "--target", "thing", "--similarity", "s.csv", "--epochs", "5"])
        assert "Similarity: s.csv, because you asked for it" in capsys.readouterr().out
        path.unlink()  # the model keeps what it needs
        main(["predict", "model.safetensors", things, "--out", "a.parquet", "--all"])
        answers = pd.read_parquet("a.parquet")
        names = ["bus", "cat", "lion", "truck"]
        place = {"lion": 0, "cat": 1, "truck": 2, "bus": 3}
        p = answers[[f"p({name})" for name in names]].to_numpy()
        told = zip(p, answers["answer"], answers["expected_cost"], strict=True)
        for row, answer, cost in told:
            expected = sum(
                q * (1 - 0.5 ** abs(place[k] - place[answer]))
                for k, q in zip(names, row, strict=True)
            )
            assert cost == pytest.approx(expected, abs=1e-5)

    def test_a_report_of_the_model(self, capsys, model, credit):
        main(["report", model, "--data", credit])
        said = capsys.readouterr().out
        assert said.startswith("One model, blended proper SimLoss, r = 0.3: the mean error is ")
        assert "We would use" not in said
        rows = pd.read_csv("model-report/table.csv")
        assert set(rows["part"]) == {"validation", "test"}  # what it learned from is not judged
        assert Path("model-report/report.html").stat().st_size > 1_000_000

    def test_a_report_on_other_data(self, capsys, model, credit):
        new = pd.read_csv(credit)
        new = new[new["risk"] != "high"].head(40)
        new.loc[new.index[:4], "risk"] = "enormous"  # not a class of the model
        new.to_csv("new.csv", index=False)
        main(["report", model, "--data", "new.csv", "--out", "there"])
        capsys.readouterr()
        rows = pd.read_csv("there/table.csv")
        main(["predict", model, "new.csv", "--out", "a.csv", "--decision", "argmax"])
        answers = pd.read_csv("a.csv")["answer"]
        known = new["risk"].isin(["low", "medium", "high"]).to_numpy()
        expected = (answers.to_numpy() == new["risk"].to_numpy())[known].mean()
        at = (rows["part"] == "test") & (rows["rule"] == "argmax")
        found = rows[at & (rows["metric"] == "accuracy")]["mean"]
        assert found.to_list() == [pytest.approx(expected)]

    def test_a_report_on_images(self, capsys, ages):
        main(["train", ages, "--size", "8", "--epochs", "1", "--loss", "cross-entropy"])
        shutil.copytree(ages, "copy")
        shutil.rmtree("copy/12")
        main(["report", "model.safetensors", "--data", "copy"])
        assert "One model, cross entropy: " in capsys.readouterr().out

    def test_mistakes_in_a_report(self, capsys, model, things, tmp_path):
        assert "`--data` must name examples" in fails(capsys, "report", model)
        (tmp_path / "run").mkdir()
        assert "`--data` must go with a saved model" in fails(
            capsys, "report", "run", "--data", "x.csv"
        )
        assert "it has no 'income'" in fails(capsys, "report", model, "--data", things)
        unknown = pd.DataFrame({"joined": ["2021-01-01"], "region": ["north"], "income": [1]})
        unknown.to_csv("unknown.csv", index=False)
        assert "must say the class of its examples by one of the model's 3 names" in fails(
            capsys, "report", model, "--data", "unknown.csv"
        )

    def test_formulas_are_defused(self, capsys, tmp_path):
        rows = "".join(f"{i % 2},{'=1+1' if i % 2 else '-x'}\n" for i in range(40))
        (tmp_path / "f.csv").write_text("x,y\n" + rows)
        order = ["--class-order", "-x,=1+1"]
        main(["train", "f.csv", "--target", "y", *order, "--epochs", "3"])
        main(["predict", "model.safetensors", "f.csv", "--out", "a.csv", "--all"])
        for line in (tmp_path / "a.csv").read_text().splitlines():
            assert not any(cell.startswith(("=", "-x")) for cell in line.split(","))

    def test_mistakes(self, capsys, model, credit, things):
        assert "must be a model saved by simloss" in fails(capsys, "predict", credit, credit)
        gone = fails(capsys, "predict", "gone.safetensors", credit)
        assert "Nothing was found at 'gone.safetensors'" in gone
        assert "it has no 'income'" in fails(capsys, "predict", model, things)
        assert "Nothing was found at" in fails(capsys, "predict", model, "gone.csv")
        assert "must end in .csv or .parquet" in fails(
            capsys, "predict", model, credit, "--out", "a.xls"
        )
        assert "must be in an existing folder, but 'gone' does not exist" in fails(
            capsys, "predict", model, credit, "--out", "gone/a.csv"
        )
        assert "it knows no tree" in fails(capsys, "predict", model, credit, "--decision", "tree")


class TestMistakes:
    """One sentence and exit code 2 each."""

    def sentence(self, capsys, *arguments):
        return fails(capsys, "compare", *arguments)

    def test_tables(self, capsys, credit, tmp_path, monkeypatch):
        assert "`--target` must name the column" in self.sentence(capsys, credit)
        sentence = self.sentence(capsys, credit, "--target", "rsik")
        assert "it has no 'rsik' (did you mean 'risk'?)" in sentence
        assert "column 'nothing' is empty" in self.sentence(capsys, credit, "--target", "nothing")
        assert "--bins 10 cuts" in self.sentence(capsys, credit, "--target", "income")
        order = ["--target", "risk", "--class-order", "low,high"]
        assert "all 3 classes, but 'medium' is missing" in self.sentence(capsys, credit, *order)
        assert "does not apply to a table" in self.sentence(capsys, credit, "--size", "8")
        (tmp_path / "one.csv").write_text("x,y\n1,a\n2,a\n")
        assert "at least two classes" in self.sentence(capsys, "one.csv", "--target", "y")
        (tmp_path / "t.xlsx").write_text("x")
        assert "its name ends in '.xlsx'" in self.sentence(capsys, "t.xlsx", "--target", "y")
        monkeypatch.setattr(memory, "available_memory", lambda: 1000)
        assert "of memory, but" in self.sentence(capsys, credit, "--target", "risk")
        assert not (tmp_path / "runs").exists()  # nothing half-written

    def test_images(self, capsys, ages, tmp_path):
        (tmp_path / "ages" / "3" / "x.png").write_bytes(b"no picture")
        assert "3/x.png (not an image)" in self.sentence(capsys, ages)
        assert "does not apply to an image folder" in self.sentence(capsys, ages, "--bins", "3")

    def test_choices(self, capsys, things, credit, tmp_path):
        target = ["--target", "thing"]
        assert "'tree' needs superclasses" in self.sentence(
            capsys, things, *target, "--similarity", "tree"
        )
        assert "`similarity` must be one of" in self.sentence(
            capsys, things, *target, "--similarity", "ordr"
        )
        assert "give it with --class-order" in self.sentence(
            capsys, things, *target, "--similarity", "order"
        )
        assert "`metric` 'mae' needs order" in self.sentence(
            capsys, things, *target, "--metric", "mae"
        )
        assert "takes inputs of shape (3, H, W)" in self.sentence(
            capsys, things, *target, "--model", "resnet"
        )
        stray = fails(capsys, "compare", "odd.csv", "y")
        assert "'y' is one word too many; a value follows its option, as in --target NAME" in stray
        assert "SOURCE must be the table" in fails(capsys, "compare", "--target", "y")
        assert "is for your own files; abalone needs none" in self.sentence(
            capsys, "abalone", "--target", "x"
        )
        (tmp_path / "odd.csv").write_text("x,y\n" + "1,k1x\n2,zq\n3,pp7\n" * 9)
        assert "`similarity` must be chosen" in self.sentence(capsys, "odd.csv", "--target", "y")


class TestWhatWasSwallowed:
    def test_cells_that_are_no_number_are_counted(self, capsys, tmp_path):
        cells = ["8,122" if i < 3 else "1,5" if i == 3 else str(i * i % 31) for i in range(40)]
        frame = pd.DataFrame({"price": cells, "y": ["low", "high"] * 20})
        frame.to_csv(tmp_path / "t.csv", index=False)
        main(["train", "t.csv", "--target", "y", "--epochs", "1"])
        said = "cells of 'price' that are not numbers count as missing: 4, such as '8,122'"
        assert said in capsys.readouterr().out

    def test_bins_of_values_that_repeat(self, capsys, tmp_path):
        rows = "".join(f"{i % 7},{(0, 0, 0, 1, 5)[i % 5]}\n" for i in range(60))
        (tmp_path / "t.csv").write_text("x,y\n" + rows)
        main(["train", "t.csv", "--target", "y", "--bins", "10", "--epochs", "1"])
        assert "--bins 10 gives 3 classes, because values repeat" in capsys.readouterr().out
        saved = SavedModel.load("model.safetensors")
        assert len(saved.edges) == len(saved.class_names) + 1 == 4
        main(["predict", "model.safetensors", "t.csv"])
        assert "of 60 whose class is known" in capsys.readouterr().out

    def test_ranges_of_negative_numbers_are_no_formulas(self, tmp_path):
        rows = "".join(f"{i % 11},{i % 11 - 10.25}\n" for i in range(66))
        (tmp_path / "t.csv").write_text("x,y\n" + rows)
        main(["train", "t.csv", "--target", "y", "--bins", "3", "--epochs", "1"])
        main(["predict", "model.safetensors", "t.csv", "--out", "a.csv"])
        names = SavedModel.load("model.safetensors").class_names
        assert names[0].startswith("-10.25–-")
        assert set(pd.read_csv("a.csv")["answer"]) <= set(names)

    def test_codes_as_a_class_order(self, capsys, tmp_path):
        (tmp_path / "t.csv").write_text("x,y\n" + "1,01\n2,02\n3,10\n" * 9)
        order = ["--class-order", "02,01,10"]
        main(["train", "t.csv", "--target", "y", *order, "--epochs", "1"])
        assert "3 classes, in this order: 02 < 01 < 10" in capsys.readouterr().out

    def test_rows_without_an_image_are_counted(self, capsys, ages, tmp_path):
        rows = "".join(f"{age}/{i}.png,{age}\n" for age in (1, 2) for i in range(6))
        (tmp_path / "ages" / "list.csv").write_text("file,age\n" + rows + ",1\n,2\n")
        arguments = ["--target", "age", "--image-column", "file", "--size", "8"]
        main(["train", "ages/list.csv", *arguments, "--epochs", "1"])
        assert "2 rows without an image are left out" in capsys.readouterr().out
        main(["predict", "model.safetensors", "ages/list.csv"])
        assert "Note: 2 rows without an image are left out." in capsys.readouterr().err
        (tmp_path / "ages" / "3" / "phone.heic").write_bytes(b"?")
        main(["predict", "model.safetensors", "ages/3"])
        told = capsys.readouterr().err
        assert "1 file is left out (an unknown format; save them as .png or" in told
        assert "phone.heic" in told

    def test_rows_that_are_cut_short_are_counted(self, capsys, tmp_path):
        (tmp_path / "t.csv").write_text("x,z,y\n" + "1,2,1\n2,5,2\n3,4,3\n" * 9 + "4,3\n")
        main(["train", "t.csv", "--target", "y", "--epochs", "1"])
        told = capsys.readouterr().out
        assert "\n  1 row has fewer cells than the heading; those it lacks count as empty" in told
        assert "\n  1 row without a class is left out" in told

    def test_the_target_twice_is_refused(self, capsys, tmp_path):
        path = tmp_path / "twice.csv"
        path.write_text("x,grade,grade\n" + "1,2,2\n3,4,4\n" * 20)
        with pytest.raises(SystemExit):
            main(["compare", str(path), "--target", "grade"])
        assert "distinct headings, but 'grade' occurs twice" in capsys.readouterr().err

    def test_no_epochs_are_refused(self, capsys):
        with pytest.raises(SystemExit):
            main(["compare", "abalone", "--epochs", "0"])
        assert "epochs" in capsys.readouterr().err
