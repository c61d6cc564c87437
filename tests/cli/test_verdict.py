"""What surrounds the verdict: codes, time, --quick, --json, more seeds, and train --from."""

import json
from pathlib import Path

import numpy as np
import pytest

from simloss.cli import main, running
from simloss.cli.codes import may_be_codes
from simloss.data import abalone
from simloss.experiment.saved.model import SavedModel


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Eight clusters whose numbers are codes."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    truth = draw.integers(0, 8, 300)
    x = draw.normal(size=(8, 4))[truth] * 2 + draw.normal(size=(300, 4))
    cells = [[*(f"{value:.3f}" for value in row), str(y)] for row, y in zip(x, truth, strict=True)]
    lines = [",".join(row) for row in (["a", "b", "c", "d", "label"], *cells)]
    Path("codes.csv").write_text("\n".join(lines) + "\n")
    return "codes.csv"


SMALL = ("--target", "label", "--loss", "soft-target", "--rivals", "none", "--workers", "1")


def test_codes_are_noticed_by_the_name_of_their_column():
    assert may_be_codes(abalone(), "label")
    assert not may_be_codes(abalone(), "Rings")
    assert not may_be_codes(abalone(), None)


def test_compare_says_what_may_be_wrong_how_long_it_takes_and_what_to_do_next(table, capsys):
    main(["compare", table, *SMALL, "--quick", "--epochs", "4"])
    said = capsys.readouterr().out
    assert "NOTE: 'label' is 0 to 7, taken for an order." in said
    assert "Training 15 nets (mlp)" in said  # cross entropy and two values, five runs
    assert "\nAbout 10 s\n" in said  # nothing quicker is proposed
    assert (
        "→ what we would use, chosen on validation data; change and better in: against cross "
        in said
    )
    assert "To train it on all the data: simloss train --from runs/codes-" in said
    [run] = Path("runs").iterdir()
    Path("model.safetensors").touch()
    main(["train", "--from", str(run), "--out", "model.safetensors"])
    told = capsys.readouterr()
    assert told.out.endswith("\nModel: model.safetensors (replaced)\n")
    assert "codes: all 300 examples, " in told.out
    assert "epoch 1: loss " in told.err
    assert "validation" not in told.err  # there is none
    saved = SavedModel.load(Path("model.safetensors"))
    assert saved.config.split.shares == (1.0, 0.0, 0.0)
    with pytest.raises(SystemExit) as ended:
        main(["report", "model.safetensors", "--data", table])
    assert ended.value.code == 2
    assert "it was trained on all of" in capsys.readouterr().err


def test_more_seeds_add_to_the_run_and_json_is_the_judgement(table, capsys, monkeypatch):
    monkeypatch.setattr(running, "notes_on", lambda config, dataset: ["Note: a rival."])
    few = [*SMALL, "--r", "0.5", "--epochs", "2", "--yes"]
    main(["compare", table, *few, "--seeds", "2"])
    capsys.readouterr()
    main(["compare", table, *few, "--seeds", "3", "--json"])
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["similarity"]["runs"] == 3
    assert found["name"] == "codes"
    assert "NOTE" not in said.err
    assert "Note: a rival." in said.err  # and nothing but JSON on standard output
    [run] = Path("runs").iterdir()
    assert len((run / "records.jsonl").read_text().splitlines()) == 6
    main(["report", str(run), "--json", "--worthwhile", "5"])
    assert json.loads(capsys.readouterr().out)["similarity"]["worthwhile"] == 0.05


def test_from_a_run_takes_nothing_else(table, capsys):
    for arguments, sentence in (
        (["train"], "`source` must name what to train on"),
        (["train", table, "--from", "runs"], "`--from` brings its own data"),
        (["train", "--from", "nowhere"], "must be a run folder"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert sentence in capsys.readouterr().err
