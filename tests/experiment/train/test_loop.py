import zipfile
from dataclasses import replace

import pytest
import torch
from torch import nn

from simloss.data import abalone
from simloss.experiment.grid import cell as cell_module
from simloss.experiment.grid.cell import run_cell
from simloss.experiment.grid.setup import Setup, derived_seed
from simloss.experiment.plan.config import TrainingConfig
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.treatment import Treatment
from simloss.experiment.train import checkpoint
from simloss.experiment.train.loop import EarlyStopping, Part, device_of, logits_of, train
from simloss.experiment.train.measure import Judge, output_summary
from simloss.experiment.train.splits import indices_of, parts_of

CONFIG = comparison("abalone", epochs=3)


def times_aside(record):
    return {k: v for k, v in record.items() if k != "seconds"}


def test_the_same_cell_gives_the_same_numbers():
    treatment = Treatment("simloss", "order", 0.7)
    first, sidecar = run_cell(Setup(CONFIG), treatment, 1)
    torch.manual_seed(99)  # the global generator has no say
    again, same = run_cell(Setup(CONFIG), treatment, 1)
    assert times_aside(first) == times_aside(again)
    assert all((sidecar[name] == same[name]).all() for name in sidecar)
    other, _ = run_cell(Setup(CONFIG), treatment, 2)
    assert other["metrics"] != first["metrics"]


def test_treatments_with_one_seed_share_split_weights_and_order():
    dataset = abalone()
    for part, indices in indices_of(dataset, CONFIG.split, 3).items():
        assert torch.equal(indices, indices_of(dataset, CONFIG.split, 3)[part])
    assert not torch.equal(
        indices_of(dataset, CONFIG.split, 3)["test"], indices_of(dataset, CONFIG.split, 4)["test"]
    )
    first, again = Setup(CONFIG).net(3), Setup(CONFIG).net(3)
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert derived_seed(3, "order") != derived_seed(3, "initialisation")


def test_one_split_for_all_seeds_where_the_paper_has_one():
    fixed = replace(CONFIG.split, new_for_each_seed=False)
    dataset = abalone()
    assert torch.equal(indices_of(dataset, fixed, 0)["test"], indices_of(dataset, fixed, 9)["test"])


def test_no_test_example_in_training():
    dataset = abalone()
    for seed in range(5):
        parts = indices_of(dataset, CONFIG.split, seed)
        together = torch.cat(list(parts.values()))
        assert len(together.unique()) == len(together) == len(dataset)


def test_standardised_by_the_training_part_only():
    dataset = abalone()
    parts = parts_of(dataset, indices_of(dataset, CONFIG.split, 0))
    x = parts["train"].ready(parts["train"].inputs)
    assert x.mean(0).abs().max() < 1e-4
    assert (x.std(0) - 1).abs().max() < 1e-2
    assert parts["test"].ready is parts["train"].ready


def test_a_record_says_it_all():
    record, sidecar = run_cell(Setup(CONFIG), Treatment("proper", "order", 0.5), 0)
    assert record["status"] == "done"
    assert record["treatment"]["label"] == "proper SimLoss, r = 0.5"
    for part in ("validation", "test"):
        for rule in ("argmax", "median"):
            values = record["metrics"][part][rule]
            assert {"mae", "mse", "accuracy", "nll", "calibration_error"} <= set(values)
            assert values["accuracy_calibrated"] >= 0
    assert record["sizes"] == {"train": 2506, "validation": 836, "test": 835}
    assert len(record["history"]) == record["epochs"] == 3
    assert sidecar["test_counts"].sum() == 835
    assert sidecar["train_mean_output"].shape == (29, 29)
    assert sidecar["test_confusion_median"].sum() == 835
    right = sidecar["test_confusion_argmax"].trace() / 835
    assert right == pytest.approx(record["metrics"]["test"]["argmax"]["accuracy"])


def test_the_kept_weights_are_those_of_the_best_epoch():
    """The validation metric of the record is the best of the history, for each rule its own."""
    config = replace(CONFIG, training=replace(CONFIG.training, epochs=12))
    record, _ = run_cell(Setup(config), Treatment("simloss", "order", 0.8), 0)
    for rule in config.rules:
        values = [line["validation"][rule] for line in record["history"]]
        best = min(values)
        assert record["best_epoch"][rule] == values.index(best) + 1
        assert record["metrics"]["validation"][rule]["mae"] == pytest.approx(best, abs=2e-3)


def test_as_the_paper_keeps_one_set_of_weights():
    training = replace(CONFIG.training, keep_best_of="argmax", epochs=8)
    record, _ = run_cell(Setup(replace(CONFIG, training=training)), Treatment("cross-entropy"), 0)
    assert record["best_epoch"]["median"] == record["best_epoch"]["argmax"]


def test_early_stopping():
    stopping = EarlyStopping(("argmax", "median"), "mae", patience=2)
    assert stopping.improved("argmax", 5.0, 1)
    assert stopping.improved("median", 5.0, 1)
    assert not stopping.improved("argmax", 5.0, 2)  # equal is not better
    assert stopping.improved("median", 4.0, 2)
    assert not stopping.is_over(3)
    assert stopping.is_over(4)
    higher = EarlyStopping(("argmax",), "accuracy", patience=1)
    assert higher.improved("argmax", 0.1, 1)
    assert higher.improved("argmax", 0.2, 2)
    assert not higher.improved("argmax", 0.1, 3)


def test_a_loss_that_is_not_finite_is_recorded_not_raised(monkeypatch):
    class Breaks(nn.CrossEntropyLoss):
        calls = 0

        def forward(self, input, target):
            Breaks.calls += 1
            return super().forward(input, target) * (float("nan") if Breaks.calls == 14 else 1)

    monkeypatch.setattr(Treatment, "loss_for", lambda self, dataset, examples=None: Breaks())
    record, sidecar = run_cell(Setup(CONFIG), Treatment("cross-entropy"), 0)
    assert record["status"] == "failed"
    assert "the loss became nan in epoch 2, batch 4" in record["error"]
    assert sidecar is None


class Interrupted(Exception):
    pass


def test_an_interrupted_run_goes_on_and_ends_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint.Checkpoint.__init__, "__defaults__", (None, 0.0))
    config = replace(CONFIG, training=replace(CONFIG.training, epochs=9, patience=3))
    treatment = Treatment("simloss", "order", 0.6)
    whole, sidecar = run_cell(Setup(config), treatment, 0)
    seen = []

    def interrupt(line):
        seen.append(line["epoch"])
        if len(seen) in (3, 5):
            raise Interrupted

    for _ in range(2):
        with pytest.raises(Interrupted):
            run_cell(Setup(config), treatment, 0, interrupt, tmp_path)
    (saved,) = tmp_path.iterdir()
    again, same = run_cell(Setup(config), treatment, 0, interrupt, tmp_path)
    assert times_aside(again) == times_aside(whole)
    assert all((sidecar[name] == same[name]).all() for name in sidecar)
    assert seen[:6] == [1, 2, 3, 3, 4, 4]  # what came after the last state is trained again
    assert not saved.exists()


def test_a_damaged_checkpoint_is_as_good_as_none(tmp_path):
    path = tmp_path / "state.pt"
    for content in (b"", b"not a checkpoint", b"\x80\x04."):
        path.write_bytes(content)
        assert checkpoint.Checkpoint(path).load() is None


@pytest.mark.parametrize(
    ("asks", "way"),
    [
        (b"c__builtin__\nbytearray\n(K\x09tR", zipfile.ZIP_STORED),  # of any length
        (b"ctorch.storage\nUntypedStorage\n(K\x09tR", zipfile.ZIP_STORED),
        (b"X\x00\x80\x00\x00" + b"a" * 2**15, zipfile.ZIP_DEFLATED),
    ],
)
def test_a_checkpoint_that_would_fill_the_memory_is_as_good_as_none(tmp_path, asks, way):
    path = tmp_path / "state.pt"
    with zipfile.ZipFile(path, "w", way) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}K\x01" + asks + b"s.")
        archive.writestr("archive/version", "3\n")
    assert torch.load(path, weights_only=True)
    assert checkpoint.Checkpoint(path).load() is None


def test_a_state_that_lacks_what_the_optimizer_remembers_is_as_good_as_none(tmp_path):
    net = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    whole = optimizer.state_dict()
    checkpoint._restore(torch.optim.Adam(net.parameters()), whole)
    del whole["state"][1]["exp_avg_sq"]
    with pytest.raises(ValueError, match="another optimizer's"):
        checkpoint._restore(torch.optim.Adam(net.parameters()), whole)


def test_images_train_with_augmentation_and_bfloat16():
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (24, 3, 32, 32), dtype=torch.uint8, generator=generator)
    labels = torch.randint(4, (24,), generator=generator)
    part = Part(images, labels, lambda batch, out=None: batch.float() / 255)
    config = TrainingConfig(epochs=2, batch_size=8, augment=True, precision="bfloat16")
    from simloss.experiment.train.nets import LeNet

    judge = Judge(("mae", "accuracy"), None, 4)
    outcome = train(LeNet(4), nn.CrossEntropyLoss(), part, part, judge, ("argmax",), config, 0)
    assert len(outcome.history) == 2
    assert logits_of(LeNet(4), part, "bfloat16").dtype == torch.float32


def test_device():
    assert device_of("cpu").type == "cpu"
    assert device_of("auto").type in ("cpu", "cuda", "mps")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="`device` 'cuda' must be available"):
            device_of("cuda")
    if not torch.backends.mps.is_available():
        with pytest.raises(ValueError, match="`device` 'mps' must be available"):
            device_of("mps")


def test_output_summary_against_a_loop():
    generator = torch.Generator().manual_seed(0)
    p = torch.rand(50, 4, generator=generator).softmax(-1)
    truth = torch.randint(3, (50,), generator=generator)  # class 3 never occurs
    answers = {"argmax": p.argmax(-1)}
    summary = output_summary(p, answers, truth, 4)
    for c in range(4):
        of = [i for i in range(50) if truth[i] == c]
        assert summary["counts"][c] == len(of)
        mean = sum(p[i] for i in of) / len(of) if of else torch.zeros(4)
        assert summary["mean_output"][c].tolist() == pytest.approx(mean.tolist(), abs=1e-3)
        for k in range(4):
            count = sum(1 for i in of if answers["argmax"][i] == k)
            assert summary["confusion_argmax"][c, k] == count
    assert summary["calibration"][0].sum() == 50
    assert summary["calibration"][1].sum() == (p.argmax(-1) == truth).sum()
    assert summary["calibration"][2].sum() == pytest.approx(p.max(-1).values.sum().item())


def test_versions_are_recorded():
    assert cell_module.versions().keys() == {"simloss", "torch", "python"}
