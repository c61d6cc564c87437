import pytest
import torch
from torch import nn

from simloss.data import Standardizer
from simloss.decision import decide, expected_cost
from simloss.experiment.plan.presets import comparison
from simloss.experiment.saved.answers import answers
from simloss.experiment.saved.model import SavedModel
from simloss.experiment.saved.new_data import NewData
from simloss.experiment.saved.train_one import kept_temperature

NAMES = tuple("abcdefg")
LOGITS = torch.tensor([[6.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 6.0]])


@pytest.fixture
def saved():
    """A net that gives its inputs back and is much too sure of itself."""
    net = nn.Linear(7, 7)
    net.load_state_dict({"weight": torch.eye(7), "bias": torch.zeros(7)})
    return SavedModel(
        net,
        Standardizer(torch.zeros(7), torch.ones(7)),
        NAMES,
        None,
        temperature=50.0,
        rule="median",
        config=comparison("abalone"),
        input_shape=(7,),
    )


def test_answers_go_by_the_probabilities_beside_them(saved):
    table = answers(saved, NewData(LOGITS, [1, 2], "row"), all_probabilities=True)
    calibrated = (LOGITS / 50).softmax(-1)
    assert table["p(c)"] == pytest.approx(calibrated[:, 2].tolist(), abs=1e-5)
    chosen = decide(calibrated, "median")
    assert table["answer"] == [NAMES[i] for i in chosen.tolist()] == ["d", "d"]
    assert saved.predict(LOGITS).tolist() == chosen.tolist()
    assert table["probability"] == pytest.approx(calibrated[:, 3].tolist())
    expected = expected_cost(calibrated, chosen, "median")
    assert table["expected_cost"] == pytest.approx(expected.tolist(), abs=1e-5)


def test_abstains_by_the_expected_cost(saved):
    low, high = sorted(answers(saved, NewData(LOGITS, [1, 2], "row"))["expected_cost"])
    table = answers(saved, NewData(LOGITS, [1, 2], "row"), abstain=(low + high) / 2)
    assert sorted(table["abstained"]) == [False, True]
    assert table["answer"].count(None) == 1
    with pytest.raises(TypeError, match="`abstain` must be a number, but got 'much'"):
        answers(saved, NewData(LOGITS, [1, 2], "row"), abstain="much")


@pytest.mark.parametrize(
    ("metric", "before", "after", "kept"),
    [
        ("mae", 1.0, 0.9, 3.0),
        ("mae", 1.0, 1.005, 3.0),  # may be luck
        ("mae", 1.0, 1.1, 1.0),
        ("accuracy", 0.8, 0.9, 3.0),
        ("accuracy", 0.8, 0.7, 1.0),
        ("mae", 1.0, None, 1.0),
    ],
)
def test_a_temperature_is_kept_unless_the_answers_get_worse(metric, before, after, kept):
    values = {metric: before} | ({} if after is None else {f"{metric}_calibrated": after})
    one = {"metrics": {"validation": {"median": values}}, "temperature": {"median": 3.0}}
    other = {**one, "temperature": {"median": 2.0}}
    assert kept_temperature([one, other, one], "median", metric) == kept
    assert kept_temperature([], "median", metric) == 1.0
