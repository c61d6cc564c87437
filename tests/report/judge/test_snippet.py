"""What the advice says to write does what was run."""

import pytest
import torch

import simloss
from simloss.data import Dataset
from simloss.experiment.plan.similarities import tree_of
from simloss.experiment.plan.treatment import Treatment, smooth_treatments
from simloss.loss.registry import LOSSES
from simloss.report.judge.snippet import snippet

DATA = Dataset(
    "pets",
    torch.zeros(0, 1),
    torch.zeros(0, dtype=torch.long),
    ("cat", "dog", "car", "bus"),
    ("animal", "animal", "vehicle", "vehicle"),
)
NAMES = {"C": 4, "names": DATA.class_names, "tree": tree_of(DATA)}


@pytest.mark.parametrize("kind", ["order", "words", "words-angle", "tree"])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_the_loss_is_the_one_that_was_trained(loss, kind):
    arm = Treatment(loss) if not LOSSES[loss].uses_similarity else Treatment(loss, kind, 0.5)
    expression, _, decision = snippet(arm.as_dict(), "median").partition(", then ")
    made = eval(expression, {"simloss": simloss, "torch": torch}, NAMES)
    logits, target = torch.randn(7, 4), torch.randint(4, (7,))
    torch.testing.assert_close(made(logits, target), arm.loss_for(DATA)(logits, target))
    p = logits.softmax(-1)
    answers = eval(decision, {"simloss": simloss}, {"p": p})
    assert answers.equal(simloss.decide(p, "median"))


@pytest.mark.parametrize("kind", ["order", "words-angle", "tree"])
def test_smoothness_takes_the_number_of_examples(kind):
    logits, target = torch.randn(7, 4), torch.randint(4, (7,))
    for arm in smooth_treatments(kind):
        expression, _, _ = snippet(arm.as_dict(), "median").partition(", then ")
        made = eval(expression, {"simloss": simloss}, {**NAMES, "n": 500})
        wanted = arm.loss_for(DATA, examples=500)
        torch.testing.assert_close(made(logits, target), wanted(logits, target))


@pytest.mark.parametrize(
    ("arm", "rule"),
    [
        (Treatment("corn"), "argmax"),
        (Treatment("simloss", "order", 0.5, {"normalized": True}), "argmax"),
        (Treatment("simloss", "costs.csv", 1.0), "argmax"),
        (Treatment("simloss", "order", 0.5), "conse"),
    ],
)
def test_nothing_is_said_where_it_takes_more(arm, rule):
    assert snippet(arm.as_dict(), rule) is None
