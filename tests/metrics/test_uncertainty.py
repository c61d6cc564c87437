import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

from metrics.strategies import probabilities_and_truth
from simloss import metrics

TINY = np.finfo(float).tiny


@given(probabilities_and_truth())
def test_nll(pair):
    p, truth = pair
    total = 0.0
    for row, y in zip(p, truth, strict=True):
        total -= math.log(max(row[y], TINY))
    assert metrics.nll(p, truth) == pytest.approx(total / len(truth))
    own = p[np.arange(len(truth)), truth]
    if own.min() > 0:
        assert metrics.nll(p, truth) == pytest.approx(log_loss(truth, p, labels=range(5)))


def test_nll_is_torchs_cross_entropy():
    logits = torch.randn(50, 7, generator=torch.Generator().manual_seed(0))
    truth = torch.randint(7, (50,), generator=torch.Generator().manual_seed(1))
    theirs = torch.nn.functional.cross_entropy(logits, truth).item()
    assert metrics.nll(logits.softmax(-1), truth) == pytest.approx(theirs, rel=1e-5)


def test_nll_of_an_impossible_truth_stays_finite():
    assert metrics.nll(torch.tensor([[1.0, 0.0]]), [1]) == pytest.approx(87.3365, abs=1e-3)
    assert metrics.nll(np.array([[1.0, 0.0]]), [1]) == pytest.approx(708.396, abs=1e-2)


@given(probabilities_and_truth())
def test_brier(pair):
    p, truth = pair
    total = 0.0
    for row, y in zip(p, truth, strict=True):
        for c, value in enumerate(row):
            total += (value - (c == y)) ** 2
    assert metrics.brier(p, truth) == pytest.approx(total / len(truth))
    theirs = brier_score_loss(truth, p, labels=list(range(5)), scale_by_half=False)
    assert metrics.brier(p, truth) == pytest.approx(theirs)


@given(probabilities_and_truth(), st.integers(1, 20))
def test_calibration_error(pair, bins):
    p, truth = pair
    inside = [[] for _ in range(bins)]
    for row, y in zip(p, truth, strict=True):
        confidence = float(max(row))
        at = max(0, math.ceil(confidence * bins) - 1)
        inside[at].append((confidence, int(np.argmax(row)) == y))
    total = 0.0
    for found in inside:
        if found:
            total += abs(sum(r for _, r in found) - sum(c for c, _ in found))
    assert metrics.calibration_error(p, truth, bins=bins) == pytest.approx(total / len(truth))


def test_calibration_error_is_torchmetrics():
    functional = pytest.importorskip("torchmetrics.functional.classification")
    p = (3 * torch.randn(300, 6, generator=torch.Generator().manual_seed(0))).softmax(-1)
    truth = torch.randint(6, (300,), generator=torch.Generator().manual_seed(1))
    for bins in (10, 15):
        theirs = functional.multiclass_calibration_error(p, truth, 6, n_bins=bins, norm="l1")
        ours = metrics.calibration_error(p, truth, bins=bins)
        assert ours == pytest.approx(theirs.item(), rel=1e-5)


def test_calibration_error_of_honest_probabilities_is_small():
    generator = torch.Generator().manual_seed(0)
    p = (2 * torch.randn(20_000, 4, generator=generator)).softmax(-1)
    truth = torch.multinomial(p, 1, generator=generator).squeeze(1)
    assert metrics.calibration_error(p, truth) < 0.015
    boastful = (p.log() * 3).softmax(-1)
    assert metrics.calibration_error(boastful, truth) > 0.1


def test_no_error_at_all_and_full_certainty_is_zero():
    p = torch.eye(3)
    truth = [0, 1, 2]
    for name in ("nll", "brier", "calibration_error"):
        assert metrics.find(name)(None, truth, probabilities=p) == 0


@given(probabilities_and_truth())
def test_reliability_is_what_the_error_sums(pair):
    p, truth = pair
    curve = metrics.reliability(p, truth, bins=10)
    assert sum(curve.count) == len(truth)
    gaps = [
        n * abs(a - c)
        for n, a, c in zip(curve.count, curve.accuracy, curve.confidence, strict=True)
    ]
    assert sum(gaps) / len(truth) == pytest.approx(metrics.calibration_error(p, truth, bins=10))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="must sum to 1"):
        metrics.nll([[2.0, 1.0]], [0])
    with pytest.raises(ValueError, match="`bins` must be at least 1"):
        metrics.calibration_error([[0.5, 0.5]], [0], bins=0)
