"""Whether the order shows in cross entropy's own mistakes, as the verdict says it."""

from dataclasses import replace

import numpy as np
import pytest

from report import made_up
from simloss.experiment.grid.store import RunFolder
from simloss.report.judge.run import Run
from simloss.report.judge.sentence import about_relabelling
from simloss.statistics import Relabelling


def gains(arm, rule, metric):
    """Similarity helps, and the median too: as codes taken for an order would also show."""
    return 4.0 - (not made_up.without_similarity(arm)) - 0.5 * (rule == "median")


@pytest.fixture
def run_with(tmp_path, monkeypatch):
    """Number the classes -> the run whose nets take neighbours for each other."""

    def run(named, metric="mae", mean_of=gains):
        config = made_up.config(losses=("simloss",), values=(0.5,))
        config = replace(config, metrics=(metric,))
        path = tmp_path / "run"
        made_up.folder(path, config, made_up.records(config, mean_of), num_classes=len(named))
        given = RunFolder.sidecar

        def renamed(folder, cell):
            arrays = given(folder, cell)
            mean = arrays["test_mean_output"]
            counts = np.full(len(named), 50)
            return {**arrays, "test_counts": counts, "test_mean_output": mean[named][:, named]}

        monkeypatch.setattr(RunFolder, "sidecar", renamed)
        return Run.read(path).verdict

    return run


def test_an_order_that_shows_is_called_real(run_with):
    found = run_with(np.arange(10))
    assert found.sentence.endswith(
        "The order shows in cross entropy's mistakes: only 0.02 % of random orders fit them as "
        "well or better."
    )
    assert found.recommendation.row.uses_similarity
    assert found.as_dict()["similarity_is_real"]["is_real"] is True


def test_codes_are_found_out_and_nothing_goes_by_them(run_with):
    found = run_with(np.array([6, 1, 8, 3, 0, 9, 4, 7, 2, 5]))
    assert found.sentence.startswith("These classes do not behave like an order: ")
    assert found.sentence.endswith("so answer by the most probable class.")
    plain = "cross entropy, answered by the most probable class"
    assert str(found.recommendation) == plain
    told = found.as_dict()
    assert told["similarity_is_real"]["is_real"] is False
    assert not told["similarity_helps"]
    # The table goes on comparing with cross entropy under its best decision, and says so.
    against = f"cross entropy, answered by the {told['baseline']['decision']}"
    assert told["similarity"]["against"] == told["baseline"]
    assert f"change and better in: against {against}" in str(found)


def test_right_answers_do_not_go_by_the_order(run_with):
    found = run_with(
        *(np.array([6, 1, 8, 3, 0, 9, 4, 7, 2, 5]), "accuracy"),
        lambda arm, *_: 0.5 + 3.0 * (not made_up.without_similarity(arm)),
    )
    assert found.relabelling.is_real is False
    assert str(found.recommendation).startswith("SimLoss, r = 0.5")
    assert "Training with similarity raises that" in found.sentence


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.0028, "The order shows in cross entropy's mistakes: only 0.28 % of random orders"),
        (
            0.033,
            "The order shows in cross entropy's mistakes, if not in every detail: only 3.3 %",
        ),
        (0.12, "Whether the order shows is not clear: 12 % of random orders"),
        (1.0, "These classes do not behave like an order: 100 % of random orders"),
    ],
)
def test_what_is_said(p, said):
    found = Relabelling(0.1, p, 0.0028, np.zeros(3))
    assert about_relabelling(found, is_ordered=True).startswith(said)


def test_of_other_similarities_no_order_is_spoken_of():
    text = about_relabelling(Relabelling(0.1, 0.5, 0.01, np.zeros(3)), is_ordered=False)
    assert "order" not in text.replace("random relabellings", "")
    assert about_relabelling(Relabelling(1.0, 0.3, 0.3, np.zeros(3)), is_ordered=False) is None
