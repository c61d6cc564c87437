"""Public names, signatures and files of today stay usable, or the changelog says what changed."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from torture import public_api
from torture.grids import tables_of

from simloss import similarity
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.saved.model import SavedModel
from simloss.experiment.train.checkpoint import Checkpoint

FORMATS = Path(__file__).parents[1] / "fixtures" / "formats-1"


@pytest.mark.skipif(not public_api.CHANGELOG.exists(), reason="needs the project's changelog")
def test_public_names_and_signatures_are_as_recorded():
    """`python -m torture.public_api` records a change, once the changelog tells of it."""
    _, known = public_api.recorded()
    now = public_api.lines()
    assert sorted({*known} - {*now}) == [], "gone, or with another signature"
    assert sorted({*now} - {*known}) == [], "new, or with another signature"


def test_what_counts_as_a_change():
    def before(a, *, b=1):
        """A function."""

    def after(a, *, b=2):
        """The same with another default."""

    assert public_api._signature(before) == "(a, *, b=1)"
    assert public_api._signature(after) != public_api._signature(before)
    assert public_api._signature(after, names_only=True) == "(a, *, b)"


def test_a_change_is_recorded_only_with_a_line_in_the_changelog(tmp_path, monkeypatch, capsys):
    changelog, record = tmp_path / "CHANGELOG.md", tmp_path / "api.txt"
    changelog.write_text("# Changelog\n\n## Unreleased\n\n- First.\n")
    monkeypatch.setattr(public_api, "CHANGELOG", changelog)
    monkeypatch.setattr(public_api, "RECORD", record)
    monkeypatch.setattr(public_api, "lines", lambda: ["simloss.a()"])
    public_api.main()
    monkeypatch.setattr(public_api, "lines", lambda: ["simloss.a(b)"])
    with pytest.raises(SystemExit, match=r"Say in CHANGELOG.md what has changed"):
        public_api.main()
    changelog.write_text("# Changelog\n\n## Unreleased\n\n- First.\n- `a` takes `b`.\n")
    public_api.main()
    assert public_api.recorded()[1] == ["simloss.a(b)"]


class TestFormats:
    """Files as version 0.1 wrote them, made by `python -m torture.formats`."""

    expected = json.loads((FORMATS / "expected.json").read_text())

    @pytest.mark.parametrize("name", sorted(expected["similarities"]))
    def test_similarities(self, name):
        loaded = similarity.load(FORMATS / name)
        wanted = self.expected["similarities"][name]
        assert loaded.to_dense(torch.float64).tolist() == wanted["values"]
        assert (list(loaded.names) if loaded.names else None) == wanted["names"]
        assert loaded.kind == wanted["kind"]

    def test_a_run_folder_and_its_tables(self, tmp_path):
        copy = Path(shutil.copytree(FORMATS / "run", tmp_path / "run"))
        assert len(RunFolder(copy).records()) == 4
        assert tables_of(copy)["csv"].splitlines()[1:] == self.expected["table"][1:]
        for record in RunFolder(copy).records():
            assert RunFolder(copy).sidecar(record["cell"])["test_counts"].sum() > 0

    def test_a_run_folder_is_resumed_and_no_cell_run_again(self, tmp_path, monkeypatch):
        copy = Path(shutil.copytree(FORMATS, tmp_path / "all"))
        monkeypatch.chdir(copy)
        folder = RunFolder(copy / "run")
        before = folder.records_path.read_bytes()
        run(Setup(folder.config()), folder, resume=True)
        assert folder.records_path.read_bytes() == before

    def test_a_model(self):
        saved = SavedModel.load(FORMATS / "model.safetensors")
        found = saved.probabilities(torch.tensor(self.expected["model"]["inputs"]))
        assert torch.allclose(found, torch.tensor(self.expected["model"]["outputs"]), atol=1e-5)

    def test_the_state_of_a_cell(self):
        found = Checkpoint(FORMATS / "state.pt").load()
        assert set(found) >= {"net", "optimizer", "generator", "best", "outcome"}
        assert found["outcome"]["history"]
