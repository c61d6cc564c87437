"""Against dlordinal, whose metrics overlap with ours. Group `oracles` in pyproject.toml."""

import pytest
import torch

from simloss import metrics

theirs = pytest.importorskip("dlordinal.metrics", reason="the group `oracles` is not installed")

GENERATOR = torch.Generator().manual_seed(0)
P = torch.randn(300, 7, generator=GENERATOR, dtype=torch.float64).softmax(-1)
TRUTH = torch.randint(7, (300,), generator=GENERATOR)
ANSWERS = P.argmax(-1)


def test_macro_mae():
    assert metrics.macro_mae(ANSWERS, TRUTH) == pytest.approx(
        theirs.amae(TRUTH.numpy(), ANSWERS.numpy())
    )


def test_within_one():
    assert metrics.within_k_accuracy(ANSWERS, TRUTH, k=1) == pytest.approx(
        theirs.accuracy_off1(TRUTH.numpy(), ANSWERS.numpy(), labels=range(7))
    )


def test_ranked_probability_score():
    assert metrics.ranked_probability_score(P, TRUTH) == pytest.approx(
        theirs.ranked_probability_score(TRUTH.numpy(), P.numpy())
    )
