"""Many nets at once are the same nets one by one."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from simloss.data import abalone
from simloss.experiment.grid.cell import run_cell
from simloss.experiment.grid.setup import Setup, derived_seed
from simloss.experiment.grid.stacked import Member, Stack, can_be_stacked, train_together
from simloss.experiment.grid.stacked_cells import run_cells_together
from simloss.experiment.grid.stacked_loss import StackedLoss
from simloss.experiment.plan.alternatives import objective_of
from simloss.experiment.plan.config import TrainingConfig
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.treatment import Treatment
from simloss.experiment.train.loop import EarlyStopping, Outcome, Part, train
from simloss.experiment.train.measure import Judge
from simloss.experiment.train.splits import indices_of

TREATMENTS = (
    Treatment("cross-entropy"),
    Treatment("simloss", "order", 0.3),
    Treatment("simloss", "order", 0.9),
    Treatment("proper", "order", 0.8),
    Treatment("proper", "order", 0.4),
    Treatment("soft-target", "order", 0.6),
    Treatment("blended", "order", 0.95),
    Treatment("blended", "order", 0.95, {"smoothness": 0.3}),
    Treatment("cross-entropy", "order", options={"smoothness": "rule"}),
)
CONFIG = comparison("abalone", epochs=5)


def double_parts(seed, name):
    """A part in double precision, small enough for 50 steps to be quick."""
    dataset = abalone()
    indices = indices_of(dataset, CONFIG.split, seed)
    train_x = dataset.inputs[indices["train"]].double()
    mean, std = train_x.mean(0), train_x.std(0)
    some = indices[name][:320]
    return Part(
        dataset.inputs[some], dataset.labels[some], lambda b, out=None: (b.double() - mean) / std
    )


def test_equal_to_one_by_one_over_the_first_fifty_steps():
    dataset, seeds, rules = abalone(), (0, 7), ("argmax", "median")
    config = TrainingConfig(epochs=10, batch_size=64, learning_rate=3e-3, keep_best_of="each rule")
    judge = Judge(("mae",), None, dataset.num_classes)
    training = [double_parts(seed, "train") for seed in seeds]
    validation = [double_parts(seed, "validation") for seed in seeds]
    cells = [(treatment, group) for group in range(2) for treatment in TREATMENTS]
    members = [
        Member(
            Setup(CONFIG).net(seeds[group]).double(),
            group,
            Outcome(),
            EarlyStopping(rules, "mae", 100),
        )
        for _, group in cells
    ]
    loss = StackedLoss([objective_of(t.loss_for(dataset)) for t, _ in cells])
    orders = [derived_seed(seed, "order") for seed in seeds]
    train_together(members, loss, training, validation, judge, rules, config, orders)
    for (treatment, group), member in zip(cells, members, strict=True):
        net = Setup(CONFIG).net(seeds[group]).double()
        alone = train(
            net,
            treatment.loss_for(dataset),
            training[group],
            validation[group],
            judge,
            rules,
            config,
            orders[group],
        )
        assert alone.best_epoch == member.outcome.best_epoch
        for a, b in zip(alone.history, member.outcome.history, strict=True):
            assert a["loss"] == pytest.approx(b["loss"], abs=1e-6)
            assert a["validation"] == pytest.approx(b["validation"], abs=1e-6)
        for rule in rules:
            for name, value in alone.states[rule].items():
                assert torch.allclose(value, member.outcome.states[rule][name], atol=1e-6)


def test_each_net_stops_by_itself_and_records_are_those_of_a_single_cell():
    training = replace(CONFIG.training, epochs=30, patience=2, batch_size=512)
    config = replace(CONFIG, training=training)
    cells = [(treatment, seed) for seed in (0, 1) for treatment in TREATMENTS[:4]]
    beats = []
    together = run_cells_together(Setup(config), cells, beats.append)
    assert len({record["epochs"] for record, _ in together}) > 1
    assert beats[-1]["training"] == 0
    for (treatment, seed), (record, sidecar) in zip(cells, together, strict=True):
        alone, its_sidecar = run_cell(Setup(config), treatment, seed)
        assert record["cell"] == alone["cell"]
        assert record.keys() == alone.keys()
        assert sidecar.keys() == its_sidecar.keys()
        first, single = record["history"][0], alone["history"][0]
        assert first["loss"] == pytest.approx(single["loss"], rel=1e-4)


def test_a_net_that_fails_leaves_the_others_alone(monkeypatch):
    original = StackedLoss.__call__
    steps = {"count": 0}

    def broken(self, z, y):
        steps["count"] += 1
        values, gradient = original(self, z, y)
        if steps["count"] == 12:
            values = values * torch.tensor([1.0, float("inf"), 1.0])
        return values, gradient

    monkeypatch.setattr(StackedLoss, "__call__", broken)
    cells = [(treatment, 0) for treatment in TREATMENTS[:3]]
    records = [record for record, _ in run_cells_together(Setup(CONFIG), cells, lambda line: None)]
    assert [record["status"] for record in records] == ["done", "failed", "done"]
    assert "the loss became inf in epoch 2, batch 2" in records[1]["error"]
    assert records[0]["epochs"] == 5


def test_what_can_be_stacked():
    assert can_be_stacked(nn.Sequential(nn.Linear(2, 3), nn.GELU(), nn.Linear(3, 2)))
    assert not can_be_stacked(nn.Sequential(nn.Linear(2, 3), nn.Dropout(), nn.Linear(3, 2)))


def test_a_stack_is_its_nets():
    nets = [nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)) for _ in range(3)]
    x = torch.randn(3, 7, 4)
    result = Stack(nets)(x)
    for i, net in enumerate(nets):
        assert torch.allclose(result[i], net(x[i]), atol=1e-6)


def test_the_stacked_losses_are_the_losses():
    """Against `simloss.loss`, value and gradient, in both precisions."""
    dataset = abalone()
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        stacked = StackedLoss([objective_of(t.loss_for(dataset)) for t in TREATMENTS])
        z = 3 * torch.randn(len(TREATMENTS), 40, 29, dtype=dtype)
        z[:, 0, 3] = 500.0  # exact also where linear space is not enough
        y = torch.randint(29, (len(TREATMENTS), 40))
        values, gradient = stacked(z, y)
        for i, treatment in enumerate(TREATMENTS):
            leaf = z[i].clone().requires_grad_()
            single = treatment.loss_for(dataset)(leaf, y[i])
            assert values[i].item() == pytest.approx(single.item(), rel=tolerance)
            expected = torch.autograd.grad(single, leaf)[0]
            assert torch.allclose(gradient[i], expected, atol=tolerance)
