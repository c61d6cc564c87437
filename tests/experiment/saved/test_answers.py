import pytest
import torch
from torch import nn

from simloss.data import Standardizer
from simloss.decision import expected_cost
from simloss.experiment.plan.presets import comparison
from simloss.experiment.saved.answers import answers
from simloss.experiment.saved.model import SavedModel
from simloss.experiment.saved.new_data import NewData

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


def test_answers_as_judged_and_calibrated_numbers_beside(saved):
    table = answers(saved, NewData(LOGITS, [1, 2], "row"), all_probabilities=True)
    # The median of the calibrated, nearly even probabilities would be "d" for both.
    assert table["answer"] == ["a", "g"]
    calibrated = (LOGITS / 50).softmax(-1)
    assert table["probability"] == pytest.approx([calibrated[0, 0].item(), calibrated[1, 6].item()])
    expected = expected_cost(calibrated, torch.tensor([0, 6]), "median")
    assert table["expected_cost"] == pytest.approx(expected.tolist(), abs=1e-5)
    assert table["p(c)"] == pytest.approx(calibrated[:, 2].tolist(), abs=1e-5)


def test_abstains_by_the_calibrated_cost(saved):
    low, high = sorted(answers(saved, NewData(LOGITS, [1, 2], "row"))["expected_cost"])
    table = answers(saved, NewData(LOGITS, [1, 2], "row"), abstain=(low + high) / 2)
    assert sorted(table["abstained"]) == [False, True]
    assert table["answer"].count(None) == 1
    with pytest.raises(TypeError, match="`abstain` must be a number, but got 'much'"):
        answers(saved, NewData(LOGITS, [1, 2], "row"), abstain="much")
