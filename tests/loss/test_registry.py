"""One table of losses and one of decision rules, which everything that takes a name reads."""

from typing import get_args

import numpy as np
import pytest
import torch

from simloss import SimLossClassifier, cli, decide
from simloss.cli.parameters import Decision
from simloss.decision.costs import WORDS
from simloss.decision.rules import RULES
from simloss.experiment.plan.treatment import Treatment
from simloss.integrations.boosting import SimilarityObjective
from simloss.integrations.transformers import trainer_loss
from simloss.loss import ProperSimLoss
from simloss.loss.registry import BASELINE, LOSSES, WITH_SIMILARITY
from simloss.similarity import order

S = order(4, r=0.6)
Z = torch.tensor([[0.3, -1.0, 0.2, 2.0], [1.0, 0.0, -0.5, 0.1]])
Y = torch.tensor([1, 3])


@pytest.mark.parametrize("name", WITH_SIMILARITY)
def test_every_door_makes_the_same_loss(name):
    expected = LOSSES[name].make(S)(Z, Y)
    assert trainer_loss(S, loss=name)({"logits": Z}, Y).item() == pytest.approx(expected.item())
    gradient, _ = SimilarityObjective(S, loss=name)(Y.numpy(), Z.double().numpy())
    leaf = Z.double().requires_grad_()
    (whole,) = torch.autograd.grad(LOSSES[name].make(S, reduction="sum")(leaf, Y), leaf)
    ratio = gradient / whole.numpy()  # the proper loss is boosted in another unit
    np.testing.assert_allclose(ratio, ratio.flat[0], rtol=1e-5)


def test_blended_is_the_proper_loss_with_a_tenth_of_cross_entropy():
    mixed = ProperSimLoss(S, cross_entropy_share=0.1)(Z, Y)
    assert LOSSES["blended"].make(S)(Z, Y).equal(mixed)
    own_share = LOSSES["blended"].make(S, cross_entropy_share=0.5)
    assert own_share(Z, Y).equal(ProperSimLoss(S, cross_entropy_share=0.5)(Z, Y))
    assert (
        trainer_loss(S, loss="blended", cross_entropy_share=0.5).module.cross_entropy_share == 0.5
    )
    assert SimilarityObjective(S, loss="blended").cross_entropy_share == 0.1


@pytest.mark.parametrize("name", LOSSES)
def test_the_classifier_takes_every_loss(name):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    net = SimLossClassifier(loss=name, max_iter=2, random_state=0).fit(X, y)
    assert type(net._loss) is LOSSES[name].module
    assert net._loss.reduction == "none"
    share = LOSSES[name].options.get("cross_entropy_share", 0.0)
    assert getattr(net._loss, "cross_entropy_share", 0.0) == share


def test_a_new_loss_is_one_line(monkeypatch):
    monkeypatch.setitem(LOSSES, "half", LOSSES["simloss"].__class__("half", ProperSimLoss))
    assert Treatment("half", "order", 0.5).loss == "half"


@pytest.mark.parametrize("verb", ["compare", "train", "tune", "reproduce"])
def test_help_names_every_loss(verb, capsys):
    cli.main([verb, "--help"])
    shown = capsys.readouterr().out
    assert [name for name in WITH_SIMILARITY if name not in shown] == []


def test_the_commands_know_the_rules():
    assert {*get_args(Decision)} == {*RULES} - {"conse"}  # which is for configurations only


@pytest.mark.parametrize("name", ["argmax", "median", "mean"])
def test_a_rule_is_the_cost_it_names(name):
    p = Z.softmax(-1)
    assert decide(p, name).equal(decide(p, RULES[name].cost))
    assert WORDS[name] == RULES[name].cost


def test_cross_entropy_is_among_them_and_uses_none():
    assert not LOSSES[BASELINE].uses_similarity
    assert LOSSES[BASELINE].make(S)(Z, Y).equal(torch.nn.functional.cross_entropy(Z, Y))
