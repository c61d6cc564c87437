"""A value or a loss that is named twice is one treatment."""

from simloss.experiment.plan.treatment import treatments


def test_named_twice_is_trained_once():
    made = treatments(["proper", "proper"], "order", [0.5, 0.5])
    assert [each.label for each in made] == ["cross entropy", "proper SimLoss, r = 0.5"]
