"""Lightning: schedules, metrics at decisions, resuming, two processes."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

pytest.importorskip("lightning", reason="make test-integrations brings it")

from lightning.pytorch import LightningModule, Trainer

import simloss
from simloss import metrics
from simloss.integrations.lightning import DecisionMetrics, SimilaritySchedule
from simloss.similarity import order

C, N = 5, 24
EXAMPLE = Path(__file__).parents[2] / "examples" / "integration_lightning.py"

pytestmark = [
    # Lightning's own use of torch's trees; and what it says about loaders of a test's size.
    pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The '.*_dataloader' does not have many workers"),
    pytest.mark.filterwarnings("ignore:Checkpoint directory .* exists and is not empty"),
]


class Net(LightningModule):
    def __init__(self, loss=None):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, C)
        self.loss = loss or simloss.SimLoss(order(C, 0.9))
        self.seen = []

    def training_step(self, batch, batch_idx):
        if isinstance(self.loss, simloss.SimLoss) and batch_idx == 0:
            self.seen.append(round(float(self.loss.similarity.rows([0])[0, 1]), 6))
        return self.loss(self.layer(batch[0]), batch[1])

    def validation_step(self, batch, batch_idx):
        return {"logits": self.layer(batch[0]), "target": batch[1]}

    test_step = validation_step

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def data():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N, 3, generator=generator)
    return TensorDataset(x, torch.randint(C, (N,), generator=generator))


def loader():
    return DataLoader(data(), batch_size=7)  # batches that are not all of one size


def trainer(folder, *callbacks, epochs=4, **options):
    return Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=str(folder),
        callbacks=list(callbacks),
        **options,
    )


def schedule(values=(0.8, 0.4, 0.2), **options):
    return SimilaritySchedule(lambda r: order(C, r=r), values, **options)


class TestSchedule:
    def test_each_epoch_has_its_value_and_the_last_one_stays(self, tmp_path):
        net = Net()
        run = trainer(tmp_path, schedule(), epochs=5)
        run.fit(net, loader(), loader())
        assert net.seen == [0.8, 0.4, 0.2, 0.2, 0.2]
        assert run.callback_metrics["r"] == pytest.approx(0.2)

    def test_a_function_of_the_epoch_and_another_name(self, tmp_path):
        net = Net()
        run = trainer(tmp_path, schedule(lambda epoch: 0.5 / (1 + epoch), name="sharpness"))
        run.fit(net, loader(), loader())
        assert net.seen == [0.5, 0.25, round(0.5 / 3, 6), 0.125]
        assert run.callback_metrics["sharpness"] == pytest.approx(0.125)
        silent = trainer(tmp_path, schedule(name=None))
        silent.fit(Net(), loader(), loader())
        assert "r" not in silent.callback_metrics

    def test_a_run_that_is_resumed_ends_as_one_that_was_not(self, tmp_path):
        whole, first, second = Net(), Net(), Net()
        trainer(tmp_path / "a", schedule()).fit(whole, loader(), loader())
        half = trainer(tmp_path / "b", schedule(), epochs=2)
        half.fit(first, loader(), loader())
        half.save_checkpoint(tmp_path / "half.ckpt")
        rest = trainer(tmp_path / "b", schedule())
        rest.fit(second, loader(), loader(), ckpt_path=tmp_path / "half.ckpt")
        assert first.seen + second.seen == whole.seen == [0.8, 0.4, 0.2, 0.2]
        assert torch.equal(second.layer.weight, whole.layer.weight)

    def test_a_checkpoint_holds_the_similarity_it_was_saved_with(self, tmp_path):
        run = trainer(tmp_path, schedule(), epochs=2)
        run.fit(Net(), loader(), loader())
        run.save_checkpoint(tmp_path / "end.ckpt")
        again = Net.load_from_checkpoint(tmp_path / "end.ckpt")
        assert again.loss.similarity == order(C, 0.4)

    def test_bad_input(self, tmp_path):
        with pytest.raises(ValueError, match="`values` must not be empty"):
            schedule([])
        with pytest.raises(TypeError, match="`values` must be a number, but got 'a'"):
            schedule(["a"])
        with pytest.raises(ValueError, match="Net has none; keep the loss as an attribute"):
            trainer(tmp_path, schedule()).fit(Net(nn.CrossEntropyLoss()), loader(), loader())


class TestDecisionMetrics:
    def test_it_logs_what_the_plain_functions_say(self, tmp_path):
        net = Net()
        cost = {"argmax": "argmax", "mine": 1 - order(C, 0.5).to_dense()}
        run = trainer(tmp_path, DecisionMetrics(["accuracy", "mae"], C, decisions=cost), epochs=2)
        run.fit(net, loader(), loader())
        logged = dict(run.callback_metrics)
        x, y = data().tensors
        p = net.layer(x).softmax(-1).detach()
        for name, each in cost.items():
            answers = simloss.decide(p, each)
            expected = metrics.evaluate(answers, y, ["accuracy", "mae"], probabilities=p)
            assert logged.pop(f"val_accuracy_{name}") == pytest.approx(expected["accuracy"])
            assert logged.pop(f"val_mae_{name}") == pytest.approx(expected["mae"])
        assert logged.pop("val_nll") == pytest.approx(metrics.nll(p, y))
        assert set(logged) == {"val_calibration_error"}

    def test_a_test_run_and_what_a_metric_needs(self, tmp_path):
        callback = DecisionMetrics(["mean_cost"], C, decisions=["median"], cost=torch.eye(C) * 4)
        run = trainer(tmp_path, callback)
        net = Net()
        run.test(net, loader(), verbose=False)
        x, y = data().tensors
        answers = simloss.decide(net.layer(x).softmax(-1).detach(), "median")
        expected = metrics.mean_cost(answers, y, torch.eye(C) * 4)
        assert run.callback_metrics["test_mean_cost_median"] == pytest.approx(expected)

    def test_early_stopping_can_watch_it(self, tmp_path):
        from lightning.pytorch.callbacks import EarlyStopping

        stop = EarlyStopping("val_mae_median", patience=1, min_delta=100.0)
        run = trainer(tmp_path, DecisionMetrics(["mae"], C), stop, epochs=9)
        run.fit(Net(), loader(), loader())
        assert run.current_epoch == 2

    def test_bad_input(self, tmp_path):
        with pytest.raises(ValueError, match="`metrics` must not be empty"):
            DecisionMetrics([], C)
        with pytest.raises(ValueError, match="must be a known metric, but got 'maee'"):
            DecisionMetrics(["maee"], C)
        with pytest.raises(TypeError, match="`tree` must be an option of 'mae' or 'nll' or"):
            DecisionMetrics(["mae"], C, tree=["a", "b"])

        class Silent(Net):
            def validation_step(self, batch, batch_idx):
                return None

        with pytest.raises(ValueError, match="must return a dict with 'logits' and 'target' .* No"):
            trainer(tmp_path, DecisionMetrics(["mae"], C)).fit(Silent(), loader(), loader())


@pytest.mark.skipif(not EXAMPLE.exists(), reason="not in a clone")
class TestExample:
    def logged(self, folder, *options):
        command = [sys.executable, str(EXAMPLE), "--folder", str(folder), *options]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return {name: float(value) for name, value in map(str.split, run.stdout.splitlines())}

    def test_two_processes_and_a_resumed_run_end_where_one_ends(self, tmp_path):
        one = self.logged(tmp_path / "one")
        assert one["val_mae_median"] < 1.7
        assert self.logged(tmp_path / "two", "--devices", "2") == pytest.approx(one, abs=1e-5)
        self.logged(tmp_path / "half", "--epochs", "3")
        checkpoint = str(tmp_path / "half" / "last.ckpt")
        resumed = self.logged(tmp_path / "half", "--resume", checkpoint)
        assert resumed == pytest.approx(one, abs=1e-5)
