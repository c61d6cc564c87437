"""What similarity gains by examples per class, from made-up records."""

import pytest
from tools.results import encoder_gains
from tools.results.encoder_gains import controls, gain_of, gains_in, table

from simloss.experiment.plan.presets import comparison


def record(label, seed, validation, test):
    values = {"argmax": (validation, test), "median": (validation - 0.1, test - 0.1)}
    return {
        "status": "done",
        "seed": seed,
        "treatment": {"label": label},
        "metrics": {
            "validation": {rule: {"mae": pair[0]} for rule, pair in values.items()},
            "test": {rule: {"mae": pair[1]} for rule, pair in values.items()},
        },
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Soft targets are best on validation data, SimLoss would be on test data."""
    records = [
        each
        for seed in range(4)
        for each in (
            record("cross entropy", seed, 1.1, 1.1),
            record("SimLoss, r = 0.5", seed, 1.0, 0.1),
            record("soft targets, r = 0.5", seed, 0.8, 0.9 + 0.01 * (seed % 2)),
            {"status": "failed"},
        )
    ]
    monkeypatch.setattr(encoder_gains.RunFolder, "each_record", lambda self: iter(records))
    path = tmp_path / "cefr-5"
    path.mkdir()
    comparison("abalone").save(path / "config.yaml")
    (path / "records.jsonl").write_text("")
    return tmp_path


def test_both_are_chosen_on_validation_and_measured_on_test(folder):
    gain = gain_of(folder / "cefr-5")
    assert (gain.label, gain.rule) == ("soft targets, r = 0.5", "median")
    assert gain.baseline == pytest.approx(1.0)
    assert gain.best == pytest.approx(0.805)
    assert gain.percent == pytest.approx(19.5)
    spread = (4 * 0.5**2 / 3) ** 0.5 / 2  # of the mean of 20, 19, 20, 19
    assert gain.half == pytest.approx(3.182446 * spread)


def test_the_table_has_what_was_run(folder):
    gains = gains_in(folder)
    assert list(gains) == ["cefr"]
    line = "| CEFR levels, MiniLM | 5 | 1.000 | 0.805 | +19.5 % (± 0.9) | soft targets, r = 0.5, "
    assert table(gains).splitlines()[-1] == f"{line}median, 4 seeds |"


def test_a_control_has_the_gain_of_each_treatment(folder):
    assert len(controls(folder).splitlines()) == 2
    (folder / "cefr-5").rename(folder / "cefr-control-5")
    line = "| CEFR levels, MiniLM | 5 | 4 | +100.0 % (± 0.0) | +19.5 % (± 0.9) |"
    assert controls(folder).splitlines()[2] == line
