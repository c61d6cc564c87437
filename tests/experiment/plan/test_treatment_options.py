"""What a treatment names has an effect, or is refused when it is made."""

import pytest
import torch
import torch.nn.functional as F

from simloss.data import Dataset, abalone
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.propose import proposal
from simloss.experiment.plan.treatment import Treatment
from simloss.experiment.search.search_space import space_of
from simloss.experiment.search.trials import plan


def of(*names, kind):
    inputs, labels = torch.zeros(len(names), 1), torch.arange(len(names))
    return Dataset("d", inputs, labels, names, notes={"class_order": kind})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cross-entropy", "order"), "'cross-entropy' takes no similarity, but got 'order'"),
        (("cross-entropy", None, 0.5), "'cross-entropy' takes no value, but got 0.5"),
        (
            ("cross-entropy", None, None, {"normalized": True}),
            "takes no 'normalized', but got True",
        ),
        (
            ("cross-entropy", None, None, {"cross_entropy_share": 0.5}),
            "takes no 'cross_entropy_share', but got 0.5",
        ),
        (
            ("cross-entropy", None, None, {"label_smoothing": 2}),
            r"`label_smoothing` must be in \[0, 1\], but got 2",
        ),
        (
            ("simloss", "order", 0.5, {"label_smoothing": "a"}),
            "`label_smoothing` must be a number, but got 'a'",
        ),
        (
            ("simloss", "order", 0.5, {"cross_entropy_share": -1}),
            r"`cross_entropy_share` must be in \[0, 1\]",
        ),
        (("simloss", "order", 0.5, {"normalized": "no"}), "`normalized` must be true or false"),
        (
            ("cross-entropy", None, None, {"smoothness": "rule"}),
            "'cross-entropy' with smoothness needs a similarity",
        ),
        (
            ("cross-entropy", "order", 0.5, {"smoothness": "rule"}),
            "'cross-entropy' takes no value, but got 0.5",
        ),
        (
            ("simloss", "order", 0.5, {"smoothness": "much"}),
            "`smoothness` must be a number or 'rule', but got 'much'",
        ),
        (("simloss", "order", 0.5, {"smoothness": -1}), "`smoothness` must be a finite number"),
        (("simloss", "order", "half"), "`value` must be a number, but got 'half'"),
    ],
)
def test_what_has_no_effect_is_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Treatment(*arguments)


def test_what_has_one_stays_as_it_was_written():
    smoothed = Treatment("cross-entropy", options={"label_smoothing": 0.1})
    assert smoothed.label == "cross entropy, label smoothing 0.1"
    assert smoothed.as_dict() == {"loss": "cross-entropy", "options": {"label_smoothing": 0.1}}
    assert Treatment("simloss", "order", 1).as_dict()["value"] == 1


class TestSmoothness:
    def test_words(self):
        by_rule = {"smoothness": "rule"}
        assert (
            Treatment("cross-entropy", "order", options=by_rule).label == "cross entropy + smooth"
        )
        made = Treatment("blended", "order", 0.95, {"smoothness": 0.25})
        assert made.label == "blended proper SimLoss, r = 0.95 + smooth 0.25"
        assert made.family == "blended proper SimLoss + smooth 0.25"
        both = Treatment("simloss", "order", 0.9, {"cross_entropy_share": 0.1, **by_rule})
        assert both.label == "SimLoss, r = 0.9, cross entropy share 0.1 + smooth"

    def test_the_rule_goes_by_the_training_examples(self):
        data = abalone()
        made = Treatment("blended", "order", 0.95, {"smoothness": "rule"}).loss_for(data, 500)
        assert made.smoothness == pytest.approx(29 * 29 / (3 * 500))
        assert made.cross_entropy_share == 0.1
        assert Treatment("blended", "order", 0.95, {"smoothness": 2}).loss_for(data).smoothness == 2

    def test_cross_entropy_with_its_neighbours(self):
        data = abalone()
        made = Treatment("cross-entropy", "order", options={"smoothness": 0.3}).loss_for(data)
        z, y = torch.randn(7, 29), torch.arange(7)
        wanted = F.cross_entropy(z, y) + 0.3 * z.diff().square().mean()
        assert made(z, y).item() == pytest.approx(wanted.item(), rel=1e-6)


class TestGaussian:
    def test_it_needs_an_order(self):
        with pytest.raises(ValueError, match="`similarity` 'gaussian' needs an order"):
            proposal(of("ant", "bee", "cat", kind="names"), "gaussian")

    def test_what_follows_is_what_follows_from_an_order(self):
        dataset = of("10", "20", "30", kind="numbers")
        bell, order = proposal(dataset, "gaussian"), proposal(dataset, "order")
        assert (bell.metrics, bell.rules, bell.cost) == (order.metrics, order.rules, order.cost)
        assert bell.values == (0.5, 1.0, 2.0, 3.0)

    def test_its_width_can_be_searched(self):
        space = space_of("gaussian", ["soft-target"])
        assert space.first()[0].label == ("soft targets (gaussian), width = 1")


class TestPlan:
    """Which metrics and rules a search has."""

    def made(self, **asked):
        found = plan(comparison("abalone"), space_of("order", ["simloss"]), **asked)
        return found.config.metrics, found.rule

    def test_a_metric_that_knows_no_better_mistakes_stands_alone(self):
        assert self.made(metric="accuracy") == (("accuracy",), "argmax")
        assert self.made(metric="nll") == (("nll",), "argmax")
        assert self.made(metric="accuracy", rule="median") == (("accuracy",), "median")

    def test_any_other_has_the_others_beside_it(self):
        assert self.made() == (("mae", "mse", "accuracy"), "median")
        assert self.made(metric="mse") == (("mse", "mae", "accuracy"), "median")
