"""Against dlordinal and coral-pytorch, where they overlap. Group `oracles` in pyproject.toml."""

import pytest
import torch

from simloss.experiment.plan.alternatives.corn import CORN
from simloss.experiment.plan.alternatives.distance_weighted import DistanceWeighted
from simloss.experiment.plan.alternatives.squared_emd import SquaredEMD

GENERATOR = torch.Generator().manual_seed(0)
Z = torch.randn(50, 7, generator=GENERATOR, dtype=torch.float64)
Y = torch.randint(7, (50,), generator=GENERATOR)


@pytest.fixture
def dlordinal():
    return pytest.importorskip("dlordinal.losses", reason="the group `oracles` is not installed")


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_class_distance_weighted_cross_entropy(dlordinal, alpha):
    theirs = dlordinal.CDWCELoss(num_classes=7, alpha=alpha)(Z, Y)
    assert DistanceWeighted(alpha)(Z, Y).item() == pytest.approx(theirs.item(), rel=1e-5)


def test_squared_emd(dlordinal):
    theirs = dlordinal.EMDLoss(num_classes=7)(Z, Y)
    assert SquaredEMD(0.0)(Z, Y).item() == pytest.approx(theirs.item())


def test_corn(dlordinal):
    theirs = dlordinal.CORNLoss(num_classes=7)(Z[:, :-1], Y)
    assert CORN()(Z, Y).item() == pytest.approx(theirs.item())


def test_corn_as_its_authors_have_it():
    pytest.importorskip("coral_pytorch", reason="the group `oracles` is not installed")
    from coral_pytorch.dataset import corn_label_from_logits
    from coral_pytorch.losses import corn_loss

    theirs = corn_loss(Z[:, :-1], Y, num_classes=7)
    assert CORN()(Z, Y).item() == pytest.approx(theirs.item())
    ranks = corn_label_from_logits(Z[:, :-1])
    p = CORN().logits(Z).softmax(-1)
    assert ((p.cumsum(-1) < 0.5).sum(-1) == ranks).all()
