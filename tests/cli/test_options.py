"""Options that would change nothing, or cannot be what was meant: one sentence each."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cli.failing import fails
from simloss.cli import main, stopping
from simloss.data import abalone, table
from simloss.experiment.plan.comparison import comparison_on
from simloss.experiment.plan.config import DataConfig
from simloss.experiment.plan.propose import proposal
from simloss.experiment.plan.similarities import similarity_of
from simloss.experiment.train.splits import indices_of


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMLOSS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def mine():
    """A table of ordered classes."""
    x = np.random.default_rng(0).normal(size=(200, 2))
    size = np.array(["low", "medium", "high"])[np.digitize(x.sum(1), [-1, 1])]
    lines = [f"{a:.4f},{b:.4f},{c}" for (a, b), c in zip(x, size, strict=True)]
    Path("mine.csv").write_text("\n".join(["a,b,size", *lines]))
    return ["mine.csv", "--target", "size"]


@pytest.fixture
def animals():
    """A table of classes in no order."""
    lines = [f"{i % 7},{name}" for i, name in enumerate(["ant", "bee", "cat"] * 20)]
    Path("animals.csv").write_text("\n".join(["a,animal", *lines]))
    return ["animals.csv", "--target", "animal"]


class TestTrain:
    def test_data_is_that_of_the_paper(self, capsys, mine):
        for source in (["abalone"], mine):
            sentence = fails(capsys, "train", *source, "--data", "foo.csv")
            assert f"`--data` must go with utkface, afad, cifar100, but got '{source[0]}'" in (
                sentence
            )

    def test_cross_entropy_has_no_value(self, capsys, mine):
        plain = ["--loss", "cross-entropy"]
        for source in (["abalone"], mine):
            sentence = fails(capsys, "train", *source, *plain, "--value", "0.7")
            assert "`--value` is for a loss with similarity, but got --loss cross-entropy" in (
                sentence
            )
        sentence = fails(capsys, "train", "utkface", *plain, "--similarity", "order")
        assert "`--similarity` is for a loss with similarity" in sentence
        main(["train", *mine, *plain, "--similarity", "gaussian", "--epochs", "1"])  # it measures

    @pytest.mark.parametrize("command", ["train", "compare"])
    def test_a_table_is_not_augmented(self, capsys, mine, command):
        assert "`--augment` is for images, but mine is a table" in fails(
            capsys, command, *mine, "--augment"
        )

    def test_a_seed_beyond_what_torch_takes(self, capsys):
        sentence = fails(capsys, "train", "abalone", "--seed", "99999999999999999999")
        assert "`seed` must be below 2^62 in size, but got 99999999999999999999" in sentence


class TestCompare:
    def test_cross_entropy_alone_has_no_r(self, capsys, mine):
        for source in (["abalone"], mine):
            sentence = fails(capsys, "compare", *source, "--loss", "cross-entropy", "--r", "0.5")
            assert "`--r` is for a loss with similarity" in sentence

    @pytest.mark.parametrize("command", ["compare", "tune"])
    def test_no_worker_at_all(self, capsys, command):
        assert "`workers` must be at least 1, but got 0" in fails(
            capsys, command, "abalone", "--workers", "0"
        )

    def test_a_bell_needs_an_order_too(self, capsys, animals):
        for command in ("train", "compare", "tune"):
            sentence = fails(capsys, command, *animals, "--similarity", "gaussian")
            assert "`similarity` 'gaussian' needs an order" in sentence

    def test_an_unknown_metric_gets_the_list(self, capsys, mine):
        sentence = fails(capsys, "compare", *mine, "--metric", "qwk")
        assert "(did you mean 'quadratic_kappa'?); they are accuracy, " in sentence

    def test_a_name_without_a_vector(self, capsys):
        lines = [f"{i % 7},{name}" for i, name in enumerate(["ant", "bee", "qqzzx"] * 20)]
        Path("odd.csv").write_text("\n".join(["a,animal", *lines]))
        sentence = fails(
            capsys, "compare", "odd.csv", "--target", "animal", "--similarity", "words"
        )
        assert "rename the class with words that have one, or let it be like no other" in sentence


class TestPredict:
    def test_options_without_use(self, capsys, mine):
        main(["train", *mine, "--epochs", "1"])
        capsys.readouterr()

        def refused(*options):
            return fails(capsys, "predict", "model.safetensors", "mine.csv", *options)

        assert "`--image-column` is for a model of images" in refused("--image-column", "x")
        assert "`--net` is for a net of your own, but 'model.safetensors' has the net 'mlp'" in (
            refused("--net", "foo:bar")
        )
        assert "`abstain` must be a number to compare with, but got NaN" in refused(
            "--abstain", "nan"
        )

    def test_a_folder_has_no_columns(self, capsys):
        random = np.random.default_rng(0)
        for name in ("low", "high"):
            Path("images", name).mkdir(parents=True)
            for i in range(8):
                pixels = random.integers(0, 255, (8, 8, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(Path("images", name, f"{i}.png"))
        main(["train", "images", "--size", "32", "--epochs", "1"])
        capsys.readouterr()
        sentence = fails(capsys, "predict", "model.safetensors", "images", "--image-column", "x")
        assert "`--image-column` is for a table of images, but got 'images'" in sentence


class TestTrainByAPlainMetric:
    def test_it_answers_by_argmax_unless_told_otherwise(self, capsys, mine):
        command = ["train", *mine, "--epochs", "1", "--metric", "accuracy"]
        main(command)
        assert "answered by argmax" in capsys.readouterr().out
        main([*command, "--decision", "median"])
        assert "answered by median" in capsys.readouterr().out


class TestSimilarity:
    def test_a_figure_is_a_page(self, capsys):
        command = ("similarity", "order", "--classes", "3", "--r", "0.5")
        assert "`--figure` must end in .html, but got 'x.png'" in fails(
            capsys, *command, "--figure", "x.png"
        )
        assert not Path("x.png").exists()

    @pytest.mark.parametrize(
        ("kind", "text"),
        [
            (["load"], ";low;mid\nlow;1;0,5\nmid;0,5;1\n"),
            (["load"], "1;0,5\n0,5;1\n"),
            (["cost"], ";low;mid\nlow;0;1,5\nmid;2;0\n"),
            (["geo", "--scale-km", "9"], "Ulm;48,4;9,99\nBonn;50,7;7,1\n"),
        ],
    )
    def test_a_spreadsheet_with_semicolons_is_told_apart(self, capsys, kind, text):
        Path("s.csv").write_text(text)
        sentence = fails(capsys, "similarity", kind[0], "s.csv", *kind[1:])
        assert "s.csv must use commas between cells and points in numbers" in sentence


@pytest.mark.parametrize("command", ["compare", "train", "tune", "reproduce"])
def test_the_help_lists_what_an_unknown_name_is_told(capsys, monkeypatch, mine, command):
    monkeypatch.setenv("COLUMNS", "200")
    source = ["utkface", "--data", "."] if command == "reproduce" else mine
    main([command, "--help"])
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    with pytest.raises(ValueError, match="one of") as unknown:
        similarity_of("hinge", None, abalone())
    assert "'gaussian'" in str(unknown.value)
    for option, sentence in (
        ("--similarity", str(unknown.value)),
        ("--loss", fails(capsys, command, *source, "--loss", "hinge")),
    ):
        about = shown.partition(f"{option} NAME")[2].partition(" --")[0]
        for name in re.findall("'([a-z:-]+)'", sentence.partition(", but")[0]):
            assert name in about or name == "cross-entropy"


@pytest.mark.parametrize("name", ["hinge", "", "."])
def test_an_unknown_similarity_is_refused_before_it_is_described(capsys, mine, name):
    with pytest.raises(SystemExit):
        main(["train", *mine, "--similarity", name])
    output = capsys.readouterr()
    assert "`similarity` must be one of 'order', 'values'" in output.err
    assert f"but got '{name}'" in output.err
    assert output.out == ""


@pytest.mark.parametrize("option", ["--r", "--loss", "--drop"])
def test_an_option_without_its_values_is_not_ignored(capsys, mine, option):
    assert f"{option} requires at least 1 element" in fails(capsys, "compare", *mine, option)


def test_the_help_of_train_says_what_the_seed_changes(capsys, monkeypatch, mine):
    monkeypatch.setenv("COLUMNS", "300")
    main(["train", "--help"])
    about = capsys.readouterr().out.partition("--seed INT")[2].partition("--device")[0]
    assert "which examples are for training, validation and test" in about
    data = table("mine.csv", target="size")
    split = comparison_on(DataConfig("table"), data, proposal(data)).split
    assert len({tuple(indices_of(data, split, seed)["test"].tolist()) for seed in (0, 1)}) == 2


def test_the_help_of_tune_says_what_the_budget_does_not_limit(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    main(["tune", "--help"])
    about = capsys.readouterr().out.partition("--budget INT")[2].partition("--search-seeds")[0]
    assert "but for the first two trials" in about


def test_an_empty_table_and_a_run_folder_that_is_a_file(capsys):
    Path("empty.csv").write_text("")
    sentence = fails(capsys, "compare", "empty.csv", "--target", "a")
    assert "must hold a heading and rows, but it is empty" in sentence
    sentence = fails(capsys, "compare", "abalone", "--out", "empty.csv")
    assert "`--out` must be a folder, but 'empty.csv' is a file" in sentence


@pytest.mark.parametrize(
    ("given", "resuming"),
    [
        (["compare", "my table.csv"], "simloss compare 'my table.csv'"),
        (["compare", "t.csv", "--out", "r"], "simloss compare t.csv --out r --resume"),
        (["compare", "t.csv", "--out=r", "--resume"], "simloss compare t.csv --out=r --resume"),
    ],
)
def test_the_command_that_resumes(given, resuming, capsys):
    token = stopping.GIVEN.set(given)
    with pytest.raises(SystemExit), stopping.stopped_politely(lambda: "Nothing is lost"):
        raise KeyboardInterrupt
    stopping.GIVEN.reset(token)
    assert (
        capsys.readouterr().err == f"\nStopped. Nothing is lost. This resumes it:\n  {resuming}\n"
    )


@pytest.mark.parametrize("command", ["train", "compare", "tune"])
def test_a_loss_that_is_misspelt(command, capsys):
    sentence = fails(capsys, command, "abalone", "--loss", "blend")
    assert "`loss` must be one of " in sentence
    assert "'module:class', but got 'blend' (did you mean 'blended'?)." in sentence


@pytest.mark.parametrize("order", [["--class-order", "1,2"], ["--class-order=1,2"]])
def test_an_option_is_called_as_it_was_typed(order, capsys):
    Path("t.csv").write_text("x,y\n" + "1,1\n2,2\n3,3\n" * 9)
    sentence = fails(capsys, "train", "t.csv", "--target", "y", *order)
    assert "`--class-order` must name all 3 classes, but '3' is missing." in sentence


def test_a_model_that_is_replaced_is_said(capsys):
    Path("t.csv").write_text("x,y\n" + "1,1\n2,2\n3,3\n" * 9)
    for end in ("", " (replaced)"):
        main(["train", "t.csv", "--target", "y", "--epochs", "1"])
        assert capsys.readouterr().out.endswith(f"\nModel: model.safetensors{end}\n")


def test_one_name_without_a_vector(capsys):
    rows = "".join(f"{i % 7},{('rose', 'tulip', 'xyzzyq')[i % 3]}\n" for i in range(60))
    Path("t.csv").write_text("x,y\n" + rows)
    sentence = fails(capsys, "compare", "t.csv", "--target", "y")
    assert "As words they were not compared, because `names` must have vectors" in sentence
    assert "but 'xyzzyq' has none" in sentence
    named = ["--target", "y", "--missing", "alone"]
    main(["train", "t.csv", *named, "--loss", "simloss", "--epochs", "1"])
    said = capsys.readouterr().out
    assert "Similarity: words-angle-alone, because the class names are words" in said
    assert "'xyzzyq' is like no other class: 'xyzzyq' has no vector" in said
    assert "Model: model.safetensors" in said
    few = ["--seeds", "1", "--value", "0.4", "--workers", "1", "--rivals", "none", "--epochs", "1"]
    main(["compare", "t.csv", *named, "--similarity", "words", *few, "--loss", "simloss"])
    assert "Similarity: words-alone, because you asked for it" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["compare", "train", "tune"])
def test_missing_names_are_those_of_words(command, capsys):
    sentence = fails(capsys, command, "abalone", "--missing", "alone")
    assert "`--missing` is for classes compared as words, but the similarity is 'order'" in sentence
    Path("t.csv").write_text("x,y\n" + "1,tv\n2,ab\n3,xy\n" * 20)
    sentence = fails(capsys, command, "t.csv", "--target", "y")
    assert "As words they were not compared, because 'ab' has no word of three letters" in sentence


@pytest.mark.parametrize(
    "order", [["low,medium,high"], ["low", "medium", "high"], ["low, medium", "high"]]
)
def test_lists_have_commas_or_spaces(order, capsys, mine):
    main(["train", *mine, "--class-order", *order, "--drop", "b", "--epochs", "1"])
    assert "in this order: low < medium < high" in capsys.readouterr().out
    assert "Invalid value for --r: 'x' is not a number" in fails(
        capsys, "compare", *mine, "--r", "0.3,x"
    )


def test_a_list_that_begins_with_a_minus_sign_and_names_with_commas(capsys):
    Path("t.csv").write_text('"a,b",x,y\n' + "1,2,-1\n2,3,0\n3,1,1\n" * 20)
    given = ["--target", "y", "--class-order", "-1,0,1", "--drop", '"a,b"', "--epochs", "1"]
    main(["train", "t.csv", *given])
    said = capsys.readouterr().out
    assert "in this order: -1 < 0 < 1" in said
    assert "1 column to predict from" in said


def test_what_a_run_brings_is_not_given_again(capsys):
    for given in (["--epochs", "3"], ["--target", "y"], ["--seed", "1"], ["--loss", "simloss"]):
        sentence = fails(capsys, "train", "--from", "runs", *given)
        assert f"brings its own data and settings, but got {given[0]} as well" in sentence


def test_run_takes_a_device(capsys, mine):
    few = ["--seeds", "1", "--r", "0.5", "--loss", "simloss", "--rivals", "none"]
    main(["compare", *mine, *few, "--workers", "1", "--epochs", "1", "--out", "first"])
    capsys.readouterr()
    sentence = fails(capsys, "run", "first/config.yaml", "--device", "abacus")
    assert "`device` must be one of 'auto', 'cpu', 'cuda', 'mps', but got 'abacus'" in sentence


@pytest.mark.parametrize("command", ["compare", "train", "tune"])
def test_every_command_that_trains_takes_a_source_and_a_device(command, capsys):
    main([command, "--help"])
    said = capsys.readouterr().out
    assert "--device" in said
    assert "SOURCE" in said
    assert "`device`" in fails(capsys, command, "abalone", "--device", "abacus")


@pytest.mark.parametrize(
    "verb", ["compare", "train", "tune", "run", "reproduce", "report", "predict", "decide"]
)
def test_the_help_of_a_command_fits_a_screen(capsys, monkeypatch, verb):
    """A screen is 100 columns and 60 lines."""
    monkeypatch.setenv("COLUMNS", "100")
    main([verb, "--help"])
    shown = capsys.readouterr().out
    assert shown.count("\n") <= 60
    assert "USERSNAME" not in shown


@pytest.mark.parametrize("verb", ["compare", "train", "tune"])
def test_options_stand_in_groups(capsys, verb):
    main([verb, "--help"])
    shown = capsys.readouterr().out
    groups = ("Data", "Similarity and losses", "Training", "Output")
    places = [shown.index(f"─ {group} ─") for group in groups]
    assert places == sorted(places)
