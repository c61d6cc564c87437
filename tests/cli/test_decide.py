"""`simloss decide` as it is typed: answers, a judgement, and one sentence where it cannot be."""

import numpy as np
import pandas as pd
import pytest

import simloss
from simloss.cli import main

NAMES = ["1", "2", "3", "4"]


def table(count=200, seed=0, names=NAMES):
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.full(len(names), 0.7), count)
    truth = [names[random.choice(len(names), p=row)] for row in p]
    return pd.DataFrame(p, columns=names), truth


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame, truth = table()
    frame.to_csv("plain.csv", index=False)
    frame.assign(quality=truth).to_csv("p.csv", index=False)
    return tmp_path


def test_answers_without_a_truth(folder, capsys):
    frame, _ = table()
    frame.insert(0, "wine", [f"w{i}" for i in range(200)])
    frame.to_csv("named.csv", index=False)
    main(["decide", "named.csv", "--abstain", "0.6", "--out", "answers.csv"])
    found = pd.read_csv("answers.csv")
    p = frame[NAMES].to_numpy()
    answers = simloss.decide(p, "absolute", abstain=0.6)
    assert found["wine"].tolist() == frame["wine"].tolist()
    assert found["answer"].fillna(0).astype(int).tolist() == (answers + 1).tolist()
    assert found["abstained"].tolist() == (answers < 0).tolist()
    expected = simloss.expected_cost(p, simloss.decide(p, "absolute"), "absolute")
    np.testing.assert_allclose(found["expected_cost"], expected, rtol=1e-5)
    said = capsys.readouterr().out
    assert "4 classes, in this order: 1 < 2 < 3 < 4" in said
    assert "Cost: absolute, because the classes are in an order" in said
    assert f"No answer for {int((answers < 0).sum())} of 200 rows" in said


def test_the_first_rows_are_shown_where_nothing_is_written(folder, capsys):
    main(["decide", "plain.csv"])
    said = capsys.readouterr().out
    assert "... and 190 more; --out answers.csv writes them all" in said
    assert "is expected to be" in said
    assert {path.name for path in folder.iterdir()} == {"plain.csv", "p.csv"}


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_both_kinds_of_tables_come_out_alike(folder, ending):
    main(["decide", "plain.csv", "--out", f"a{ending}", "--temperature", "2"])
    read = pd.read_csv if ending == ".csv" else pd.read_parquet
    found = read(folder / f"a{ending}")
    p = simloss.calibration.tempered(table()[0].to_numpy(), 2.0)
    wanted = (simloss.decide(p, "absolute") + 1).tolist()
    assert found["answer"].astype(int).tolist() == wanted
    np.testing.assert_allclose(found["probability"], p[np.arange(200), np.array(wanted) - 1], 1e-5)


def test_a_judgement_with_the_truth(folder, capsys):
    main(["decide", "p.csv", "--truth", "quality", "--out", "answers.csv"])
    said = capsys.readouterr().out
    assert "the most probable class" in said
    assert "the median" in said
    assert "always " in said
    assert "Page: p-decide.html" in said
    assert "Answer new rows: simloss decide new.csv --cost absolute" in said
    page = (folder / "p-decide.html").read_text()
    assert "Answer by the median" in page or "do not differ clearly" in page
    assert len(pd.read_csv("answers.csv")) == 200


def test_the_command_it_recommends_works(folder, capsys):
    frame, truth = table(400)
    sharp = frame**3
    sharp = sharp.div(sharp.sum(axis=1), axis=0)
    sharp.assign(quality=truth).to_csv("sharp.csv", index=False)
    main(["decide", "sharp.csv", "--truth", "quality", "--page", "page.html"])
    said = capsys.readouterr().out
    command = said.partition("Answer new rows: simloss ")[2].splitlines()[0]
    assert "--temperature 2." in command or "--temperature 3." in command
    sharp.to_csv("new.csv", index=False)
    main(command.split())
    assert len(pd.read_csv("answers.csv")) == 400
    assert (folder / "page.html").exists()


COSTS = {
    "squared": (["--cost", "squared"], "--cost zero-one"),
    "by value": (["--cost", "squared", "--by-value"], "--cost zero-one"),
    "abstain": (["--cost", "squared", "--abstain", "0.5"], "--cost zero-one"),
    "file": (["--cost", "cost.csv"], "--cost zero-one --class-order 1,2,3,4"),
}


@pytest.mark.parametrize(("options", "command"), COSTS.values(), ids=COSTS)
def test_the_most_probable_class_is_answered_where_it_is_clearly_better(
    folder, capsys, options, command
):
    frame, _ = table(400)
    best = frame.to_numpy().argmax(1)
    (folder / "cost.csv").write_text(",1,2,3,4\n1,0,1,9,9\n2,1,0,1,9\n3,9,1,0,1\n4,9,9,1,0\n")
    frame.assign(quality=[NAMES[k] for k in best]).to_csv("sure.csv", index=False)
    main(["decide", "sure.csv", "--truth", "quality", *options, "--out", "now.csv"])
    said = capsys.readouterr().out
    assert "→  the most probable class" in said
    assert f"Answer new rows: simloss decide new.csv {command} --out answers.csv\n" in said
    assert ("--abstain 0.5 is left out" in said) == ("--abstain" in options)
    frame.to_csv("new.csv", index=False)
    main(said.partition("Answer new rows: simloss ")[2].splitlines()[0].split())
    for name in ("now.csv", "answers.csv"):
        assert (pd.read_csv(name)["answer"] - 1).tolist() == best.tolist()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz"])
def test_every_kind_of_file_says_the_same(folder, ending, capsys):
    frame, truth = table(300)
    if ending == ".npz":
        arrays = {"probabilities": frame.to_numpy(), "classes": np.array(NAMES)}
        np.savez(folder / "q.npz", quality=np.array(truth), **arrays)
    elif ending == ".parquet":
        frame.assign(quality=truth).to_parquet("q.parquet")
    else:
        frame.assign(quality=truth)[["quality", *NAMES[::-1]]].to_csv("q.csv", index=False)
    main(["decide", f"q{ending}", "--truth", "quality", "--cost", "squared"])
    said = capsys.readouterr().out
    line = next(line for line in said.splitlines() if "the mean  " in line and "as is" in line)
    cost = simloss.metrics.mse(
        simloss.decide(frame.to_numpy(), "mean"), [NAMES.index(y) for y in truth]
    )
    assert f" {cost:.3f} " in line or f" {cost:.2f} " in line


def test_costs_similarities_and_trees_from_files(folder, capsys):
    names = ["robin", "crow", "cod"]
    frame, truth = table(100, names=names)
    frame.assign(truth=truth).to_csv("animals.csv", index=False)
    (folder / "cost.csv").write_text(",cod,crow,robin\ncod,0,9,9\ncrow,5,0,1\nrobin,5,1,0\n")
    main(["decide", "animals.csv", "--truth", "truth", "--cost", "cost.csv"])
    assert "the lowest expected cost" in capsys.readouterr().out
    simloss.similarity.order(3, r=0.5, names=names).save("s.csv")
    main(["decide", "animals.csv", "--truth", "truth", "--similarity", "s.csv"])
    assert "the highest expected similarity" in capsys.readouterr().out
    (folder / "tree.csv").write_text("bird,robin\nbird,crow\nfish,cod\n")
    main(["decide", "animals.csv", "--truth", "truth", "--tree", "tree.csv"])
    said = capsys.readouterr().out
    assert "the lowest expected tree cost" in said
    assert "Stopping at the parent" in (folder / "animals-decide.html").read_text()


@pytest.mark.parametrize("option", ["--cost", "--tree"])
def test_what_does_not_know_a_class_is_told(folder, capsys, option):
    frame, _ = table(30, names=["robin", "crow", "cod"])
    frame.to_csv("animals.csv", index=False)
    lines = {"--cost": ",crow,cod\ncrow,0,1\ncod,1,0\n", "--tree": "bird,crow\nfish,cod\n"}
    (folder / "known.csv").write_text(lines[option])
    with pytest.raises(SystemExit):
        main(["decide", "animals.csv", option, "known.csv", "--class-order", "robin,crow,cod"])
    assert f"`{option}` must contain every class, but " in capsys.readouterr().err


def test_truths_known_to_a_superclass_only(folder, capsys):
    frame, truth = table(90, names=["robin", "crow", "cod"])
    group = ["fish" if each == "cod" else "bird" for each in truth]
    some = [each if n % 3 else "" for n, each in enumerate(truth)]
    frame.assign(truth=some, group=group).to_csv("animals.csv", index=False)
    (folder / "tree.csv").write_text("bird,robin\nbird,crow\nfish,cod\n")
    main(
        ["decide", "animals.csv", "--truth", "truth", "--superclass", "group", "--tree", "tree.csv"]
    )
    assert "30 rows name only an inner node" in capsys.readouterr().out


def test_truths_known_to_superclasses_alone_are_too_few(folder, capsys):
    """A temperature cannot be fitted on them."""
    frame, _ = table(90, names=["robin", "crow", "cod"])
    frame.assign(truth="bird").to_csv("animals.csv", index=False)
    (folder / "tree.csv").write_text("bird,robin\nbird,crow\nfish,cod\n")
    with pytest.raises(SystemExit):
        main(["decide", "animals.csv", "--truth", "truth", "--tree", "tree.csv"])
    said = capsys.readouterr().err
    assert "must name the class of at least 20 rows to judge by, but names that of 0." in said


def test_an_order_of_words_has_to_be_told(folder, capsys):
    frame, truth = table(60, names=["fair", "ideal", "good", "premium"])
    frame.assign(cut=truth).to_csv("d.csv", index=False)
    order = "fair,good,premium,ideal"
    main(["decide", "d.csv", "--truth", "cut", "--class-order", order])
    assert "in this order: fair < good < premium < ideal" in capsys.readouterr().out


BAD = {
    "sums": ("1,2\n0.5,0.5\n0.6,0.7\n", [], "sum to 1 in each row, but row 2 sums to 1.3"),
    "negative": ("1,2\n-0.5,1.5\n", [], "row 1 has -0.5 for '1'; for logits, take the softmax"),
    "nan": ("1,2\n0.5,0.5\nnan,1\n", [], "row 2 has none for '1'"),
    "gap": ("1,2\n0.5,0.5\n,1\n", [], "row 2 has none for '1'"),
    "text": ("1,2\n0.5,0.5\n0.5,x\n", [], "per class, but it has only '1'"),
    "logits": ("1,2\n3.1,0.4\n", [], "for logits, take the softmax of each row"),
    "percent": ("1,2\n60,40\n", [], "for percent, divide by 100"),
    "class missing": (
        "1,2\n0.5,0.5\n",
        ["--class-order", "1,2,3"],
        "must have a column for each class, but '3' has none",
    ),
    "a column too few": ("1,2\n0.5,0.2\n", [], "each class needs a column"),
    "no class": (
        "a,b,y\n0.5,0.5,a\n0.5,0.5,c\n",
        ["--truth", "y"],
        "`--truth` 'y' must hold classes, a, b, but row 2 holds 'c'",
    ),
    "1-based": (
        "0,1,y\n0.5,0.5,1\n0.5,0.5,2\n",
        ["--truth", "y"],
        "row 2 holds '2'; the labels seem to count from 1 and the classes from 0",
    ),
    "no such column": (
        "a,b,y\n0.5,0.5,a\n",
        ["--truth", "z"],
        "`truth` must be a column of 'bad.csv', but it has no 'z'",
    ),
    "too few": ("a,b,y\n0.5,0.5,a\n", ["--truth", "y"], "at least 20 rows to judge by"),
    "over itself": (
        "a,b\n1,0\n",
        ["--out", "bad.csv"],
        "`--out` must not overwrite 'bad.csv'",
    ),
    "page over itself": (
        "a,b,y\n1,0,a\n",
        ["--truth", "y", "--page", "./bad.csv"],
        "`--page` must not overwrite 'bad.csv', which is read",
    ),
    "page's ending": (
        "a,b,y\n1,0,a\n",
        ["--truth", "y", "--page", "p.csv"],
        "`--page` must end in .html, but got 'p.csv'",
    ),
    "a column of the truth": (
        "1,2,3,4,y\n1,0,0,0,3\n",
        [],
        "row 1 sums to 4 over 1, 2, 3, …, y (5 columns)",
    ),
    "empty": ("a,b\n", [], "must hold rows below its heading"),
    "cost": ("a,b\n0.5,0.5\n", ["--cost", "cheap"], "`--cost` must be one of zero-one"),
    "no tree": ("a,b\n0.5,0.5\n", ["--cost", "tree"], "`--cost tree` must have a tree"),
    "temperature": ("a,b\n0.5,0.5\n", ["--temperature", "0"], "`--temperature` must be a finite"),
    "page": ("a,b\n0.5,0.5\n", ["--page", "p.html"], "`--page` must go with `--truth`"),
    "out": ("a,b\n0.5,0.5\n", ["--out", "a.txt"], "`--out` must end in .csv or .parquet"),
    "folder": ("a,b\n0.5,0.5\n", ["--out", "no/a.csv"], "`--out` must be in an existing folder"),
    "abstain": ("a,b\n0.5,0.5\n", ["--abstain", "nan"], "`--abstain` must be a number to compare"),
    "both": (
        "a,b,y\n0.5,0.5,a\n",
        ["--truth", "y", "--temperature", "2"],
        "`--temperature` must not be given with `--truth`",
    ),
}


@pytest.mark.parametrize(("content", "options", "sentence"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_and_writes_nothing(
    tmp_path, monkeypatch, capsys, content, options, sentence
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(content)
    wanted = ["--out", "answers.csv"] if "--out" not in options else []
    with pytest.raises(SystemExit) as stopped:
        main(["decide", "bad.csv", *options, *wanted])
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"bad.csv"}


def test_a_bad_row_far_down_leaves_the_old_answers(folder, capsys, monkeypatch):
    from simloss.data import probability_file

    monkeypatch.setattr(probability_file, "_PART_ENTRIES", 40)
    frame, _ = table()
    (folder / "answers.csv").write_text("old\n")
    frame.iloc[150] = 2.0
    frame.to_csv("plain.csv", index=False)
    with pytest.raises(SystemExit):
        main(["decide", "plain.csv", "--out", "answers.csv"])
    assert "row 151 sums to 8" in capsys.readouterr().err
    assert (folder / "answers.csv").read_text() == "old\n"
    assert {path.name for path in folder.iterdir()} == {"plain.csv", "p.csv", "answers.csv"}


def test_names_that_a_spreadsheet_would_run_are_defused(folder):
    frame, _ = table(names=["=1+1", "b", "c", "d"])
    frame.assign(row=["@x"] * 200).to_csv("names.csv", index=False)
    main(["decide", "names.csv", "--out", "answers.csv"])
    found = pd.read_csv("answers.csv")
    assert set(found["row"]) == {"'@x"}
    assert "'=1+1" in set(found["answer"])
