"""A data source, a similarity and a loss, each one file: those of docs/extending.md, no less."""

import re
import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

import simloss
from simloss.cli import main
from simloss.experiment import UsersName
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.treatment import Treatment

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="not in a clone")


@pytest.fixture
def their_folder(tmp_path, monkeypatch):
    """A folder with the three files of the page, in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    files = re.findall(r"^```python file=(\S+)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert [name for name, _ in files] == ["my_data.py", "my_similarity.py", "my_loss.py"]
    for name, text in files:
        (tmp_path / name).write_text(text)
        monkeypatch.delitem(sys.modules, name.removesuffix(".py"), raising=False)
    return tmp_path


def fails(capsys, *arguments):
    with pytest.raises(SystemExit) as exit:
        main(list(arguments))
    assert exit.value.code == 2
    return capsys.readouterr().err


FEW = ("--value", "0.5", "--seeds", "2", "--epochs", "2", "--workers", "1", "--out", "run")


def test_all_three_in_one_comparison(their_folder, capsys):
    main(
        [
            *("compare", "my_data:diabetes", "--similarity", "my_similarity:late_is_worse"),
            *("--loss", "my_loss:ExpectedDissimilarity", *FEW),
        ]
    )
    said = capsys.readouterr().out
    assert "diabetes: 442 examples of 10" in said
    assert "Similarity: my_similarity:late_is_worse, because you asked for it" in said
    records = RunFolder(their_folder / "run").records()
    assert {record["status"] for record in records} == {"done"}
    assert {record["treatment"]["label"] for record in records} > {
        "cross entropy",
        "ExpectedDissimilarity (late_is_worse), power = 0.5",
    }
    assert (their_folder / "run" / "report.html").exists()


def test_a_model_of_their_data_answers(their_folder, capsys):
    main(["train", "my_data:diabetes", "--epochs", "2", "--out", "model.safetensors"])
    main(["predict", "model.safetensors", "my_data:diabetes"])
    assert re.search(r"Right: \d+ of 442 whose class is known", capsys.readouterr().out)


def test_their_loss_keeps_the_contract(their_folder):
    data = simloss.data.abalone()
    loss = Treatment(UsersName("my_loss:ExpectedDissimilarity"), "order", 0.5).loss_for(data)
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(5, 29, generator=generator, requires_grad=True)
    y = torch.randint(29, (5,), generator=generator)
    S, p = simloss.similarity.order(29, r=0.5).to_dense(), z.softmax(-1)
    expected = sum(1 - sum(S[y[n], c] * p[n, c] for c in range(29)) for n in range(5)) / 5
    torch.testing.assert_close(loss(z, y), expected)
    # A one-hot target takes the other of the two functions.
    torch.testing.assert_close(loss(z, F.one_hot(y, 29).float()), expected)
    images = torch.randn(2, 29, 3, 4, generator=generator)
    assert loss(images, torch.zeros(2, 3, 4, dtype=torch.long)).shape == ()


def test_what_is_not_there_is_said_in_one_sentence(their_folder, capsys):
    known = ("compare", "my_data:diabetes")
    said = fails(capsys, "compare", "my_data:absent", *FEW)
    assert "`data` must name an importable module:name, but got 'my_data:absent'" in said
    said = fails(capsys, "compare", "no_such_file:reader", *FEW)
    assert "No module named 'no_such_file'" in said
    said = fails(capsys, *known, "--similarity", "my_similarity:absent", *FEW)
    assert "`similarity` must name an importable module:name" in said
    said = fails(capsys, *known, "--loss", "my_loss:absent", *FEW)
    assert "`loss` must name an importable module:name" in said
    said = fails(capsys, *known, "--loss", "builtins:repr", *FEW)
    assert "`loss` 'builtins:repr' must make an nn.Module, but made str" in said
    said = fails(capsys, *known, "--target", "y", *FEW)
    assert "`--target` does not apply to a reader of your own like 'my_data:diabetes'" in said
    assert "must be one of" in fails(capsys, *known, "--loss", "focal", *FEW)
    assert not (their_folder / "run").exists()
