"""Alternatives as treatments of an experiment: named, trained, recorded as ours are."""

from dataclasses import replace

import pytest
import torch

from simloss.data import Dataset, abalone
from simloss.experiment.grid.cell import run_cell
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.stacked import Member, train_together
from simloss.experiment.grid.stacked_cells import run_cells_together
from simloss.experiment.grid.stacked_loss import StackedLoss
from simloss.experiment.plan.alternatives import objective_of
from simloss.experiment.plan.config import Config, TrainingConfig, cell_id
from simloss.experiment.plan.default_treatment import default_treatment as default
from simloss.experiment.plan.default_treatment import with_baseline
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.treatment import Treatment
from simloss.experiment.train import checkpoint
from simloss.experiment.train.loop import EarlyStopping, Outcome, Part, train
from simloss.experiment.train.measure import Judge
from simloss.experiment.train.splits import indices_of, parts_of
from simloss.loss import ProperSimLoss, SimLoss
from simloss.similarity import order

CONFIG = comparison("abalone", epochs=2)
OTHERS = (
    Treatment("corn"),
    Treatment("or-cnn"),
    Treatment("noise-layer", value=0.1),
    Treatment("annealed", value=3.0),
    Treatment("cdw", value=2.0),
    Treatment("simloss", "order", 0.8, {"normalized": True}),
    Treatment("soft-target", "gaussian", 2.0),
)


def test_what_they_are_called():
    assert Treatment("cdw", value=2.0).label == "CDW, alpha = 2"
    assert Treatment("cdw", value=2.0).family == "CDW"
    assert Treatment("corn").label == Treatment("corn").family == "CORN"
    assert Treatment("corn").parameter is None
    smoothing = Treatment("label-smoothing", value=0.1)
    assert (smoothing.label, smoothing.parameter) == ("label smoothing, epsilon = 0.1", "epsilon")
    assert smoothing.loss_for(abalone()).label_smoothing == 0.1
    assert Treatment("soft-target", "gaussian", 2.0).label == "soft targets (gaussian), width = 2"


def test_a_bell_has_that_width():
    row = Treatment("soft-target", "gaussian", 2.0).similarity_for(abalone()).rows([10])[0]
    assert row[10] == 1
    assert row[12].item() == pytest.approx(torch.tensor(-0.5).exp().item())
    assert row[7] == row[13]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "corn", "value": 1.0}, "`loss` 'corn' takes no value, but got 1.0"),
        ({"loss": "cdw"}, "`loss` 'cdw' needs a value of its alpha, but got None"),
        ({"loss": "cdw", "similarity": "order", "value": 1.0}, "takes no similarity"),
        ({"loss": "cdw", "value": 1.0, "options": {"normalized": True}}, "takes no options"),
        ({"loss": "cdv", "value": 1.0}, "`loss` must be one of .*'cdw'"),
    ],
)
def test_bad_treatments(given, message):
    with pytest.raises(ValueError, match=message):
        Treatment(**given)


def test_what_training_starts_with():
    for kind in ("order", "tree", "words-angle", "costs.csv"):
        assert default(None, kind, None) == Treatment("cross-entropy")
    assert default(None, "order", 0.5) == Treatment("blended", "order", 0.5)
    assert default("blended", "tree", None) == Treatment("blended", "tree", 1.0)
    assert default("blended", "words-angle", None) == Treatment("blended", "words-angle", 0.5)
    assert default("simloss", "order", None) == Treatment("simloss", "order", 0.3)
    assert default("soft-target", "costs.csv", None) == Treatment("soft-target", "costs.csv", 1.0)
    assert with_baseline(default("cross-entropy", "order", None)) == (Treatment("cross-entropy"),)
    assert with_baseline(Treatment("corn")) == (Treatment("cross-entropy"), Treatment("corn"))


def test_blends_are_ours_with_a_share_of_cross_entropy():
    torch.manual_seed(0)
    logits, target = torch.randn(8, 29, dtype=torch.float64), torch.randint(29, (8,))
    cross_entropy = torch.nn.functional.cross_entropy(logits, target)
    for name, loss, r in (("blend", SimLoss, 0.9), ("proper-blend", ProperSimLoss, 0.95)):
        made = Treatment(name, value=0.1)
        expected = 0.9 * loss(order(29, r))(logits, target) + 0.1 * cross_entropy
        torch.testing.assert_close(made.loss_for(abalone())(logits, target), expected)
        assert f"r = {r} blended, share = 0.1" in made.label
    made = Treatment("blended", "order", 0.95)
    torch.testing.assert_close(made.loss_for(abalone())(logits, target), expected)
    assert made.label == "blended proper SimLoss, r = 0.95"


def test_a_tree_is_needed_for_a_hierarchy():
    with pytest.raises(ValueError, match="needs superclasses, but abalone has none"):
        Treatment("hierarchical", value=0.1).loss_for(abalone())
    flowers = Dataset(
        "x", torch.zeros(0, 1), torch.zeros(0, dtype=torch.long), ("a", "b", "c"), ("A", "A", "B")
    )
    loss = Treatment("hierarchical", value=0.1).loss_for(flowers)
    assert loss(torch.zeros(1, 3), torch.tensor([0])).item() > 0


def double_parts(name):
    dataset = abalone()
    some = indices_of(dataset, CONFIG.split, 0)[name][:256]
    x = dataset.inputs[indices_of(dataset, CONFIG.split, 0)["train"]].double()
    mean, std = x.mean(0), x.std(0)
    return Part(
        dataset.inputs[some], dataset.labels[some], lambda b, out=None: (b.double() - mean) / std
    )


def test_in_the_stack_they_train_as_alone():
    dataset, rules = abalone(), ("argmax", "median")
    config = TrainingConfig(epochs=5, batch_size=64, learning_rate=3e-3, keep_best_of="each rule")
    judge = Judge(("mae",), None, dataset.num_classes)
    training, validation = double_parts("train"), double_parts("validation")
    # The second stops at once, so that those behind it move up.
    patience = [100, 1, *[100] * (len(OTHERS) - 2)]
    members = [
        Member(Setup(CONFIG).net(0).double(), 0, Outcome(), EarlyStopping(rules, "mae", n))
        for n in patience
    ]
    objectives = [objective_of(t.loss_for(dataset)).double() for t in OTHERS]
    loss = StackedLoss(objectives)
    train_together(members, loss, [training], [validation], judge, rules, config, [7])
    for treatment, member, n in zip(OTHERS, members, patience, strict=True):
        alone = train(
            Setup(CONFIG).net(0).double(),
            treatment.loss_for(dataset).double(),
            training,
            validation,
            judge,
            rules,
            replace(config, patience=n),
            7,
        )
        assert alone.best_epoch == member.outcome.best_epoch
        for a, b in zip(alone.history, member.outcome.history, strict=True):
            assert a["loss"] == pytest.approx(b["loss"], rel=1e-6)
            assert a["validation"] == pytest.approx(b["validation"], abs=1e-6)


def test_the_row_normalised_form_trains_the_same_net():
    dataset, rules = abalone(), ("argmax",)
    config = TrainingConfig(epochs=5, batch_size=64, learning_rate=3e-3)
    judge = Judge(("mae",), None, dataset.num_classes)
    outcomes = [
        train(
            Setup(CONFIG).net(0).double(),
            Treatment("simloss", "order", 0.8, options).loss_for(dataset),
            double_parts("train"),
            double_parts("validation"),
            judge,
            rules,
            config,
            7,
        )
        for options in ({}, {"normalized": True})
    ]
    first, second = (outcome.states["argmax"] for outcome in outcomes)
    assert outcomes[0].history[0]["loss"] < outcomes[1].history[0]["loss"]
    for name, value in first.items():
        assert torch.allclose(value, second[name], atol=1e-6)


def test_records_are_like_all_others():
    cells = [(treatment, 0) for treatment in (Treatment("cross-entropy"), *OTHERS)]
    together = run_cells_together(Setup(CONFIG), cells, lambda line: None)
    plain = together[0][0]
    for (treatment, seed), (record, sidecar) in zip(cells, together, strict=True):
        # The best constant answer is recorded once per seed, with cross entropy.
        assert record.keys() | {"constant"} == plain.keys()
        assert record["metrics"]["test"]["median"].keys() == (
            plain["metrics"]["test"]["median"].keys()
        )
        assert sidecar["test_counts"].sum() == record["sizes"]["test"]
        assert record["cell"] == cell_id(CONFIG, treatment, seed)


def test_probabilities_come_from_the_objective():
    """CORN's outputs read as logits would answer by chance."""
    record, _ = run_cell(
        Setup(replace(CONFIG, training=replace(CONFIG.training, epochs=6))), OTHERS[0], 0
    )
    assert record["metrics"]["test"]["median"]["mae"] < 1.9  # always answering 9 has 2.4


def test_a_learned_matrix_survives_an_interruption(tmp_path, monkeypatch):
    config = replace(CONFIG, training=replace(CONFIG.training, epochs=4))
    treatment = Treatment("noise-layer", value=0.1)
    whole, _ = run_cell(Setup(config), treatment, 0)
    monkeypatch.setattr(checkpoint.Checkpoint.__init__, "__defaults__", (None, 0.0))

    def stop(line):
        if line["epoch"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cell(Setup(config), treatment, 0, stop, tmp_path)
    resumed, _ = run_cell(Setup(config), treatment, 0, unfinished=tmp_path)
    assert resumed["history"] == whole["history"]


def test_a_share_of_the_training_part():
    split = replace(CONFIG.split, train_share=0.1)
    whole, few = (indices_of(abalone(), each, 3) for each in (CONFIG.split, split))
    assert len(few["train"]) == round(0.1 * len(whole["train"]))
    assert set(few["train"].tolist()) < set(whole["train"].tolist())
    assert torch.equal(few["test"], whole["test"])
    less = indices_of(abalone(), replace(split, train_share=0.05), 3)["train"]
    assert set(less.tolist()) < set(few["train"].tolist())
    config = replace(CONFIG, split=split)
    assert Config.from_dict(config.as_dict()) == config
    assert "train_share" not in CONFIG.as_dict()["split"]
    with pytest.raises(ValueError, match="`train_share` must be above 0"):
        replace(split, train_share=0.0)


def test_components_are_fitted_to_the_training_part():
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randint(256, (60, 8), generator=generator).float()
    dataset = Dataset("x", inputs, torch.arange(60) % 3, ("a", "b", "c"), components=2)
    indices = indices_of(dataset, CONFIG.split, 0)
    parts = parts_of(dataset, indices)
    assert dataset.input_shape == (2,)
    assert parts["train"].inputs.shape == (36, 2)
    moved = replace(dataset, inputs=inputs.index_fill(0, indices["test"], 1e6))
    assert torch.equal(parts_of(moved, indices)["train"].inputs, parts["train"].inputs)
