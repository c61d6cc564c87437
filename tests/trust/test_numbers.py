"""A loss or a net that is not finite fails its own cell, by name; the rest of the grid goes on."""

import re
from dataclasses import replace

import pytest
import torch
from torch import nn
from torture.grids import lone_net, tiny_grid

from simloss.experiment import UsersName
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.train.checkpoint import Checkpoint
from simloss.report import report


class NaNAt(nn.Module):
    """A net whose outputs are NaN in one forward pass of training, counted from 1."""

    def __init__(self, net, at):
        super().__init__()
        self.net, self.at, self.calls = net, at, 0

    def forward(self, x):
        self.calls += self.training
        out = self.net(x)
        return out * float("nan") if self.training and self.calls == self.at else out


def breaks_in_epoch_two(shape, classes):
    return NaNAt(lone_net(shape, classes), 5)  # three batches an epoch


@pytest.fixture
def importable(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "nets_that_break", sys.modules[__name__])


def test_cell_epoch_and_batch_are_named(tmp_path, importable):
    config = tiny_grid(tmp_path, stacked=False, seeds=2)
    config = replace(config, model=UsersName("nets_that_break:breaks_in_epoch_two"))
    records = run(Setup(config), RunFolder(tmp_path / "run"))
    assert len(records) == 4
    for record in records:
        assert record["status"] == "failed"
        assert "the loss became nan in epoch 2, batch 2" in record["error"]
        assert re.search(r"seed[01]-", record["cell"])
    page = report(tmp_path / "run").read_text()
    assert "the loss became nan in epoch 2, batch 2" in page
    assert "the loss became nan" in (tmp_path / "run" / "table.md").read_text()


@pytest.mark.parametrize("stacked", [True, False], ids=["stacked", "alone"])
@pytest.mark.parametrize(
    ("batch_size", "message"),
    [(16, "the loss became nan in epoch 1, batch 2"), (1024, "after the last batch of epoch 1")],
)
def test_a_step_that_is_too_large(tmp_path, stacked, batch_size, message):
    """With one batch per epoch no loss is ever NaN: the outputs are, after the only step."""
    config = tiny_grid(tmp_path, stacked=stacked, seeds=1)
    training = replace(config.training, learning_rate=1e30, batch_size=batch_size)
    records = run(Setup(replace(config, training=training)), RunFolder(tmp_path / "run"))
    assert [record["status"] for record in records] == ["failed", "failed"]
    assert all(message in record["error"] for record in records)


@pytest.mark.parametrize("stacked", [True, False], ids=["stacked", "alone"])
def test_one_that_fails_does_not_stop_the_others(tmp_path, stacked, monkeypatch):
    """One treatment of two has a loss that becomes infinite; the other is as it would be."""
    config = tiny_grid(tmp_path, stacked=stacked, seeds=1)
    whole = {r["treatment"]["label"]: r for r in run(Setup(config), RunFolder(tmp_path / "whole"))}
    broken = replace(config.treatments[1], options={"label_smoothing": 0.1})
    original = type(broken).loss_for

    class Infinite(nn.CrossEntropyLoss):
        def forward(self, input, target):
            return super().forward(input, target) * torch.inf

    monkeypatch.setattr(
        type(broken),
        "loss_for",
        lambda self, *data: Infinite() if self.options else original(self, *data),
    )
    both = replace(config, treatments=(config.treatments[0], broken))
    done, failed = run(Setup(both), RunFolder(tmp_path / "run"))
    assert failed["status"] == "failed"
    assert "the loss became" in failed["error"]
    assert done["metrics"] == whole["cross entropy"]["metrics"]
    report(tmp_path / "run")


class TestCheckpoint:
    def fitting(self):
        net = nn.Linear(2, 3)
        return {"net": net, "optimizer": torch.optim.Adam(net.parameters())}

    def written(self, path, state):
        checkpoint = Checkpoint(path, every=0.0)
        checkpoint.save_if_due(lambda: state)
        return Checkpoint(path)

    def test_of_another_net_leaves_all_as_it_was(self, tmp_path):
        other = nn.Linear(5, 7)
        state = {"net": other.state_dict(), "optimizer": {}}
        checkpoint = self.written(tmp_path / "c.pt", state)
        fitting = self.fitting()
        before = {k: v.clone() for k, v in fitting["net"].state_dict().items()}
        assert checkpoint.load(fitting) is None
        assert all(torch.equal(before[k], v) for k, v in fitting["net"].state_dict().items())

    def test_half_of_it_leaves_all_as_it_was(self, tmp_path):
        checkpoint = self.written(tmp_path / "c.pt", {"net": nn.Linear(2, 3).state_dict()})
        fitting = self.fitting()
        before = fitting["net"].weight.clone()
        assert checkpoint.load(fitting) is None
        assert torch.equal(fitting["net"].weight, before)

    def test_any_byte_changed_or_cut_is_noticed(self, tmp_path):
        net = nn.Linear(20, 30)
        self.written(tmp_path / "c.pt", {"net": net.state_dict()})
        content = (tmp_path / "c.pt").read_bytes()
        for at in range(0, len(content), 61):
            changed = bytearray(content)
            changed[at] ^= 4
            for damaged in (bytes(changed), content[:at]):
                (tmp_path / "c.pt").write_bytes(damaged)
                found = Checkpoint(tmp_path / "c.pt").load()
                assert found is None or torch.equal(found["net"]["weight"], net.weight)
