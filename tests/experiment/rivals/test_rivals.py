"""Rivals as cells: the same splits, rules and records as nets, saved and answering."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from simloss.data import abalone
from simloss.experiment.grid.cell import run_cell
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.alternatives import RIVALS
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.rivals import notes_on, rivals_for, time_share
from simloss.experiment.plan.treatment import KNOWN, Treatment
from simloss.experiment.saved.model import SavedModel
from simloss.experiment.saved.train_one import train_and_save

REGRESSIONS = [name for name, rival in RIVALS.items() if rival.needs == "order"]


@pytest.fixture(scope="module")
def config():
    plain = comparison("abalone", seeds=2, epochs=4, losses=["soft-target"], r=[0.5])
    treatments = (Treatment("cross-entropy"), *(Treatment(name) for name in RIVALS))
    return replace(plain, treatments=treatments)


@pytest.fixture(scope="module")
def records(config, tmp_path_factory):
    folder = RunFolder(tmp_path_factory.mktemp("run") / "rivals")
    return {(r["treatment"]["loss"], r["seed"]): r for r in run(Setup(config), folder)}


def test_every_rival_has_a_record_like_a_net(records):
    net = records["cross-entropy", 0]
    for (loss, _), record in records.items():
        assert record["status"] == "done"
        ours = record["metrics"]["test"]
        assert set(ours) - {"nearest"} == {"argmax", "median"}
        assert ("nearest" in ours) == (loss in REGRESSIONS)
        for values in ours.values():
            assert values.keys() == net["metrics"]["test"]["argmax"].keys()
        assert record["sizes"] == net["sizes"]
        assert record["treatment"]["label"] == KNOWN[loss].label


def test_rivals_learn(records):
    truth = abalone().labels.double()
    constant = (truth - truth.median()).abs().mean().item()
    for record in records.values():
        assert record["metrics"]["test"]["median"]["mae"] < 0.85 * constant


def test_a_cell_gives_the_same_numbers_again(config, records):
    for loss in ("boosting", "boosted-regression", "linear"):
        record, sidecar = run_cell(Setup(config), Treatment(loss), 1)
        assert record["metrics"] == records[loss, 1]["metrics"]
        assert {"train_mean_output", "test_confusion_median"} < set(sidecar)


def test_a_started_run_is_gone_on_with(config, tmp_path):
    folder = RunFolder(tmp_path / "run")
    part = replace(config, treatments=config.treatments[:2], seeds=(0,))
    assert len(run(Setup(part), folder)) == 2
    whole = replace(config, treatments=config.treatments[:3], seeds=(0,))
    assert len(run(Setup(whole), folder, resume=True)) == 3
    assert len(list(folder.each_record())) == 3


def test_the_linear_model_is_logistic_regression(config):
    from sklearn.linear_model import LogisticRegression

    from simloss.experiment.plan.alternatives import objective_of
    from simloss.experiment.rivals.learner import trained, untrained
    from simloss.experiment.train.measure import Judge
    from simloss.experiment.train.splits import indices_of, parts_of

    dataset = Setup(config).dataset
    parts = parts_of(dataset, indices_of(dataset, config.split, 0))
    net = untrained(Treatment("linear"), "mlp", dataset.input_shape, dataset.num_classes)
    patient = replace(config, training=replace(config.training, epochs=60, patience=60))
    objective = objective_of(Treatment("linear").loss_for(dataset))
    judge = Judge.of(dataset, config.metrics)
    outcome = trained(Treatment("linear"), net, objective, parts, judge, patient, 0)
    train = parts["train"]
    x, y = train.ready(train.inputs).numpy(), train.labels.numpy()
    theirs = LogisticRegression(C=100, max_iter=3000).fit(x, y)
    log_p = np.log(theirs.predict_proba(x)[np.arange(len(y)), np.searchsorted(theirs.classes_, y)])
    assert outcome.history[-1]["loss"] == pytest.approx(-log_p.mean(), abs=0.02)


@pytest.mark.parametrize("loss", RIVALS)
def test_a_rival_is_saved_and_answers(config, loss, tmp_path):
    out = tmp_path / "model.safetensors"
    alone = replace(config, treatments=(Treatment("cross-entropy"), Treatment(loss)), seeds=(1,))
    said = list(train_and_save(Setup(alone), out))
    saved = SavedModel.load(out)
    record, _ = run_cell(Setup(alone), Treatment(loss), 1)
    end = "" if saved.temperature == 1 else "_calibrated"
    mae = record["metrics"]["test"]["median"][f"mae{end}"]
    assert f"MAE {mae:.2f}" in said[3]
    dataset = Setup(alone).dataset
    from simloss.experiment.train.splits import indices_of

    test = indices_of(dataset, alone.split, 1)["test"]
    errors = (saved.predict(dataset.inputs[test]) - dataset.labels[test]).abs().double()
    assert errors.mean().item() == pytest.approx(mae, abs=1e-6)
    p = saved.probabilities(dataset.inputs[:5])
    assert p.sum(1).tolist() == pytest.approx([1] * 5, abs=1e-5)


@pytest.fixture
def trees(config, tmp_path):
    out = tmp_path / "model.safetensors"
    one = (Treatment("cross-entropy"), Treatment("boosted-regression"))
    list(train_and_save(Setup(replace(config, treatments=one)), out))
    return out


def changed(path, name, value):
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        about = file.metadata()
    save_file({**load_file(path), name: value}, path, about)


def test_damaged_trees_are_refused_in_one_sentence(trees):
    text = load_file(trees)["net.text"]
    changed(trees, "net.text", text[: len(text) // 2].clone())
    with pytest.raises(ValueError, match="holds trees that are damaged: it is not the text"):
        SavedModel.load(trees)
    looped = bytes(text.numpy()).decode()
    at = looped.index("left_child=") + len("left_child=")
    looped = looped[:at] + "0" + looped[looped.index(" ", at) :]
    changed(trees, "net.text", torch.tensor(list(looped.encode()), dtype=torch.uint8))
    with pytest.raises(ValueError, match="damaged: its tree 0 leads nowhere"):
        SavedModel.load(trees)
    changed(trees, "net.text", text.float())
    with pytest.raises(ValueError, match="holds weights that do not fit its net"):
        SavedModel.load(trees)


def test_errors_that_do_not_fit_are_refused_in_one_sentence(trees):
    changed(trees, "errors.classes", torch.tensor([99]))
    with pytest.raises(ValueError, match="holds no errors of its regression that fit"):
        SavedModel.load(trees)


class TestWhichRivals:
    ORDER = ("mae", "accuracy")

    def names(self, named, metrics=ORDER, dataset=None):
        return [each.loss for each in rivals_for(named, dataset or abalone(), metrics)]

    def test_all_that_suit(self):
        every = ["boosting", "boosted-regression", "boosted-regression-l2", "linear", "regression"]
        assert self.names(None) == every
        assert self.names(None, ("mse", "mae")) == [*every, "regression-l2"]
        assert self.names(None, ("accuracy",)) == ["boosting", "linear"]

    def test_those_that_are_named(self):
        assert self.names(["none"]) == []
        assert self.names(["linear", "boosting"]) == ["linear", "boosting"]

    def test_boosted_trees_on_the_features_of_an_encoder_only_if_named(self, config):
        features = replace(abalone(), inputs=torch.zeros(4177, 257), columns=None)
        assert self.names(None, dataset=features) == ["linear", "regression"]
        assert self.names(["boosting"], dataset=features) == ["boosting"]
        fewer = replace(features, inputs=torch.zeros(4177, 256))
        assert "boosting" in self.names(None, dataset=fewer)
        chosen = replace(config, treatments=(*config.treatments[:1], Treatment("linear")))
        assert notes_on(chosen, features) == [
            "Boosted trees take long on 257 features; --rivals boosting linear has them."
        ]
        assert notes_on(chosen, fewer) == []

    def test_images_have_none(self):
        images = replace(abalone(), inputs=torch.zeros(4177, 3, 8, 8), columns=None)
        assert self.names(None, dataset=images) == []
        with pytest.raises(ValueError, match="`--rivals` are for tables, but"):
            self.names(["boosting"], dataset=images)

    def test_bad_names_are_one_sentence(self):
        with pytest.raises(ValueError, match="`rivals` must be one of 'boosting'"):
            self.names(["xgboost"])
        with pytest.raises(ValueError, match="none must stand alone, but got none linear"):
            self.names(["none", "linear"])
        with pytest.raises(ValueError, match="regression needs classes in an order"):
            self.names(["regression"], ("accuracy",))


def test_few_rows_per_class_are_noted(config):
    assert notes_on(config, Setup(config).dataset) == []  # 86
    few = replace(config, split=replace(config.split, train_share=0.3))
    (note,) = notes_on(few, Setup(few).dataset)
    assert note.startswith("Note: 26 training rows per class are few for boosted trees; boosted")
    without = replace(few, treatments=config.treatments[:1])
    assert notes_on(without, Setup(few).dataset) == []


def test_their_share_of_the_time_is_told():
    def record(loss, seconds):
        return {"treatment": {"loss": loss}, "seconds": {"total": seconds}}

    both = [record("simloss", 6.0), record("boosting", 2.0), {"treatment": {"loss": "linear"}}]
    assert time_share(both) == "Rivals took 25% of the training time (2 s)."
    assert time_share(both[:1]) is None
