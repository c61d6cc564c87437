"""skorch takes the losses for cross entropy, because that is what they are."""

import numpy as np
import pytest
import torch
from torch import nn

pytest.importorskip("skorch", reason="make test-integrations brings it")

from sklearn.model_selection import GridSearchCV
from skorch import NeuralNetClassifier

import simloss
from simloss.metrics import scorer
from simloss.similarity import order

C = 4
LOSSES = (simloss.SimLoss, simloss.ProperSimLoss, simloss.SoftTargetLoss)


@pytest.fixture
def table():
    generator = np.random.default_rng(0)
    x = generator.standard_normal((120, 3)).astype("float32")
    y = np.clip(np.round(x[:, 0] + 1.5), 0, C - 1).astype("int64")
    return x, y


def classifier(criterion, **options):
    torch.manual_seed(0)
    return NeuralNetClassifier(
        nn.Linear(3, C),
        criterion=criterion,
        criterion__similarity=order(C, 0.5),
        max_epochs=30,
        lr=0.5,
        verbose=0,
        **options,
    )


@pytest.mark.parametrize("criterion", LOSSES)
def test_it_learns_and_its_probabilities_are_such(criterion, table):
    x, y = table
    net = classifier(criterion).fit(x, y)
    p = net.predict_proba(x)
    assert np.allclose(p.sum(1), 1, atol=1e-6)
    logits = net.module_(torch.from_numpy(x)).detach()
    assert np.allclose(p, logits.softmax(1), atol=1e-6)
    assert np.abs(simloss.decide(p, "median") - y).mean() < 0.5  # one answer for all: 0.9
    assert net.history[-1, "train_loss"] < net.history[0, "train_loss"]


def test_its_loss_is_ours(table):
    x, y = table
    net = classifier(simloss.SimLoss, train_split=None, batch_size=-1).fit(x, y)
    torch.manual_seed(0)
    first = simloss.sim_loss(
        nn.Linear(3, C)(torch.from_numpy(x)), torch.from_numpy(y), order(C, 0.5)
    )
    assert net.history[0, "train_loss"] == pytest.approx(first.item(), rel=1e-6)


def test_grid_search_over_r(table):
    x, y = table
    search = GridSearchCV(
        classifier(simloss.SimLoss, train_split=None),
        {"criterion__similarity": [order(C, r) for r in (0.0, 0.3, 0.6)]},
        cv=3,
        scoring=scorer("mae", decision="median"),
        error_score="raise",
    )
    search.fit(x, y)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 3
    assert len(set(scores)) > 1
    best = search.best_estimator_.criterion_.similarity
    assert best == search.best_params_["criterion__similarity"]
