from dataclasses import replace

import pytest

from simloss.experiment.plan.config import Config, TrainingConfig, cell_id
from simloss.experiment.plan.presets import comparison, reproduction
from simloss.experiment.plan.treatment import Treatment, treatments


def test_the_papers_defaults():
    config = reproduction("utkface", "faces.tar.gz")
    assert [t.value for t in config.treatments] == [None, *(r / 10 for r in range(1, 10))]
    assert config.treatments[0].loss == "cross-entropy"
    assert len(config.seeds) == 10
    assert config.split.shares == (0.6, 0.2, 0.2)
    assert not config.split.new_for_each_seed
    training = config.training
    assert (training.learning_rate, training.batch_size, training.patience) == (1e-3, 1024, 10)
    assert (training.stop_on, training.keep_best_of) == ("mae", "argmax")
    cifar = reproduction("cifar100", "cifar")
    assert [t.value for t in cifar.treatments] == [None, *(r / 10 for r in range(10))]
    assert (cifar.training.patience, cifar.training.stop_on) == (20, "accuracy")
    assert cifar.treatments[1].similarity == "words"
    assert not cifar.training.augment  # the paper's text has no such word
    assert reproduction("cifar100", "cifar", augment=True).training.augment
    with pytest.raises(ValueError, match="`task` must be one of 'utkface', 'afad', 'cifar100'"):
        reproduction("mnist", "x")


def test_a_similarity_the_paper_does_not_have_is_tried_with_values_of_its_own():
    def values_of(task, kind, **given):
        made = reproduction(task, "x", similarity=kind, **given).treatments
        return [each.value for each in made[1:]]

    assert values_of("utkface", "gaussian") == [0.5, 1.0, 2.0, 3.0]
    assert values_of("utkface", "gaussian", r=[2.0]) == [2.0]
    assert values_of("cifar100", "tree") == [0.25, 0.5, 1.0, 2.0]
    assert values_of("cifar100", "saved.npz") == [0.5, 1.0, 2.0]


def test_compare_draws_a_new_split_for_every_seed():
    assert comparison("abalone").split.new_for_each_seed
    assert comparison("abalone").training.keep_best_of == "each rule"


def test_yaml_round_trip(tmp_path):
    config = comparison("abalone")
    config.save(tmp_path / "config.yaml")
    assert Config.load(tmp_path / "config.yaml") == config


def test_equal_settings_make_equal_cells():
    config = comparison("abalone")
    treatment = config.treatments[1]
    name = cell_id(config, treatment, 3)
    assert name.startswith("simloss-order-0.3-seed3-")
    assert cell_id(replace(config, seeds=(1, 2), name="other"), treatment, 3) == name
    moved = replace(config, data=replace(config.data, path="/elsewhere"))
    assert cell_id(moved, treatment, 3) == name
    assert cell_id(config, treatment, 4) != name
    slower = replace(config, training=replace(config.training, learning_rate=1e-4))
    assert cell_id(slower, treatment, 3) != name


def test_the_names_of_cells_are_for_ever():
    """Records that were committed long ago must still be found."""
    config = reproduction("utkface", "x")
    assert cell_id(config, config.treatments[0], 0) == "cross-entropy-seed0-e954aaf6b0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"treatments": []}, "`treatments` must include cross entropy"),
        (
            {
                "treatments": [
                    {"loss": "simloss", "similarity": "order", "value": v} for v in (0, 1)
                ]
            },
            "`treatments` must include cross entropy",
        ),
        ({"seeds": []}, "`seeds` must not be empty"),
        ({"seeds": [0, 0]}, "`seeds` must be distinct, but 0 is listed twice"),
        ({"metrics": []}, "`metrics` must not be empty"),
        ({"rules": ["argmax", "median", "median"]}, "`rules` must be distinct"),
        ({"treatments": [{"loss": "cross-entropy"}] * 2}, "'cross entropy' is there twice"),
        (
            {"treatments": [{"loss": "cross-entropy", "options": {"label_smoothing": 0.1}}] * 2},
            "must include cross entropy without options",
        ),
        ({"rules": ["median"]}, "`rules` must begin with 'argmax'"),
        ({"rules": ["argmax", "mode"]}, "`rules` must be one of"),
        ({"modell": "mlp"}, "the configuration has no setting 'modell'"),
        ({"training": {"patience": 0}}, "`patience` must be at least 1"),
        ({"training": {"precision": "float8"}}, "`precision` must be one of"),
        ({"training": []}, "`training` must be a mapping, but got list"),
        ({"data": {"sauce": 1}}, "`data` has no setting 'sauce'"),
        ({"treatments": [{"loss": "hinge"}]}, "`loss` must be one of"),
        ({"treatments": [{"value": 1}]}, "a treatment must have a 'loss', but it has none"),
        ({"data": {}}, "`data` must have a 'source', but it has none"),
        ({"training": {"learning_rate": 10**400}}, "`training` must have float as its"),
    ],
)
def test_a_bad_configuration_gets_one_sentence(change, message):
    plain = {**comparison("abalone").as_dict(), **change}
    with pytest.raises(ValueError, match=message):
        Config.from_dict(plain)


def test_a_missing_part_and_a_broken_file(tmp_path):
    plain = comparison("abalone").as_dict()
    del plain["model"]
    with pytest.raises(ValueError, match="the configuration must have a 'model', but it has none"):
        Config.from_dict(plain)
    path = tmp_path / "config.yaml"
    for content in (b"a: [1", b"\xff\xfe\x00", b"!!python/object/apply:os.system ['true']"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="must be a YAML file, but it is not"):
            Config.load(path)
    path.write_text("just words")
    with pytest.raises(ValueError, match="the configuration must be a mapping, but got str"):
        Config.load(path)


def test_smoothness_takes_part_unless_losses_are_named():
    labels = [each.label for each in comparison("abalone").treatments]
    assert labels[-2:] == ["cross entropy + smooth", "blended proper SimLoss, r = 0.95 + smooth"]
    named = comparison("abalone", losses=["simloss"]).treatments
    assert not any(each.options for each in named)


def test_treatments():
    made = treatments(["proper", "cross-entropy"], "order", [0.5], cross_entropy_share=0.25)
    assert [t.label for t in made] == [
        "cross entropy",
        "proper SimLoss, r = 0.5, cross entropy share 0.25",
    ]
    assert made[1].family == "proper SimLoss, cross entropy share 0.25"
    assert Treatment("simloss", "words", 0.6).label == "SimLoss (words), l = 0.6"
    saved = Treatment("proper", "/a/long/way/to/costs.csv", 2.0)
    assert (saved.label, saved.family) == (
        "proper SimLoss (costs), power = 2",
        "proper SimLoss (costs)",
    )
    assert Treatment("mine:Bounded", "mine:keyboard").label == "Bounded (keyboard)"
    with pytest.raises(
        ValueError, match="`loss` must be one of .* 'module:class', but got 'focal'"
    ):
        Treatment("focal", "order")
    with pytest.raises(ValueError, match="`loss` 'simloss' needs a similarity"):
        Treatment("simloss")
    with pytest.raises(ValueError, match="do not include 'speed'"):
        Treatment("simloss", "order", 0.5, {"speed": 1})


def test_treatments_that_a_report_could_not_tell_apart():
    same_stem = (Treatment("simloss", "a/s.csv", 1.0), Treatment("simloss", "b/s.csv", 1.0))
    with pytest.raises(ValueError, match="different labels, .* both 'a/s.csv' and 'b/s.csv'"):
        replace(comparison("abalone"), treatments=(Treatment("cross-entropy"), *same_stem))


def test_training_config_checks_its_device():
    with pytest.raises(ValueError, match="`device` must be one of"):
        TrainingConfig(device="tpu")
