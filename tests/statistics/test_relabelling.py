import numpy as np
import pytest
from scipy.stats import norm

from simloss import similarity, statistics


def confusions(C, width, draw, shares=None):
    """Answers around the truth on a line, (C, C)."""
    truth = draw.choice(C, 4000, p=shares)
    answers = np.clip(np.rint(truth + draw.normal(0, width, len(truth))), 0, C - 1).astype(int)
    counts = np.zeros((C, C))
    np.add.at(counts, (truth, answers), 1)
    return counts


def order(C, r=0.5):
    return similarity.order(C, r=r).to_dense().numpy()


@pytest.mark.parametrize("C", [5, 7, 10, 30])
def test_an_order_is_found_and_a_mixed_one_is_not(C):
    draw = np.random.default_rng(C)
    counts = confusions(C, 1.0, draw)
    found = statistics.relabelling_test(counts, order(C))
    assert found.is_real
    assert found.fit == max(found.relabelled)
    mixed = np.random.default_rng(1).permutation(C)
    if C > 5:  # with few classes a mixture may be nearly an order
        found = statistics.relabelling_test(counts[np.ix_(mixed, mixed)], order(C))
        assert found.is_real is False


def test_frequent_classes_side_by_side_are_not_taken_for_an_order():
    """Mistakes by frequency alone: most are between the frequent classes in the middle."""
    shares = np.array([1, 2, 6, 12, 12, 6, 2, 1]) / 42
    called = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        counts = np.zeros((8, 8))
        np.add.at(counts, (draw.choice(8, 3000, p=shares), draw.choice(8, 3000, p=shares)), 1)
        called += statistics.relabelling_test(counts, order(8)).is_real is True
    assert called <= 6  # 5 % of 40 are 2


def test_three_classes_are_too_few_to_tell():
    found = statistics.relabelling_test(confusions(3, 1.0, np.random.default_rng(0)), order(3))
    assert not found.can_tell
    assert found.is_real is None
    assert len(found.relabelled) == 6


@pytest.mark.parametrize("r", [0.3, 0.5, 0.9])
def test_an_order_of_six_levels_of_which_two_are_rare_is_found(r):
    """As frequent as the levels of CEFR: by counts alone the two in the middle drown the others."""
    shares = np.array([0.016, 0.124, 0.377, 0.359, 0.11, 0.014])
    edges, draw = norm.ppf(shares.cumsum()[:-1]), np.random.default_rng(0)
    seen, hidden = draw.normal(size=(2, 1500))
    truth = np.searchsorted(edges, 0.5 * seen + 0.75**0.5 * hidden)
    below = norm.cdf((edges - 0.5 * seen[:, None]) / 0.75**0.5)
    p = np.diff(below, axis=1, prepend=0, append=1)  # what a perfect model says of `seen`
    sums = np.zeros((6, 6))
    np.add.at(sums, truth, p)
    assert statistics.relabelling_test(sums, order(6, r)).is_real


def test_random_numbers_are_mostly_found_out():
    """Ten clusters, some of them near each other: mistakes have a pattern, but no order."""
    draw = np.random.default_rng(1)
    centres = draw.normal(size=(10, 3))
    near = np.exp(-((centres[:, None] - centres) ** 2).sum(-1))
    answers = []
    for _ in range(60):
        named = draw.permutation(10)
        answers.append(statistics.relabelling_test(near[np.ix_(named, named)], order(10)).is_real)
    assert answers.count(False) >= 40  # 80 % of 60 are 48
    assert answers.count(True) <= 8  # 5 % are 3


def test_a_similarity_that_tells_no_classes_apart_tells_nothing():
    found = statistics.relabelling_test(np.arange(36).reshape(6, 6), np.ones((6, 6)))
    assert found.fit == 0
    assert not found.can_tell


def test_chance_keeps_the_sums():
    from simloss.statistics.relabelling import _by_frequency

    share = confusions(6, 2.0, np.random.default_rng(0))
    np.fill_diagonal(share, 0)
    share /= share.sum()
    expected = _by_frequency(share)
    assert np.allclose(expected.sum(0), share.sum(0))
    assert np.allclose(expected.sum(1), share.sum(1), atol=1e-9)
    assert (np.diag(expected) == 0).all()


def test_no_mistake_and_bad_input():
    assert statistics.relabelling_test(np.eye(4) * 9, order(4)) is None
    with pytest.raises(ValueError, match="`similarity` must have the size of `confusion`"):
        statistics.relabelling_test(np.ones((4, 4)), order(5))
    with pytest.raises(ValueError, match=r"`confusion` must be \(C, C\), but got shape \(4, 3\)"):
        statistics.relabelling_test(np.ones((4, 3)), order(4))
    with pytest.raises(ValueError, match="must be finite and at least 0, but got -1"):
        statistics.relabelling_test(-np.ones((4, 4)), order(4))
