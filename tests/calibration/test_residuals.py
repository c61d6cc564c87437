"""Probabilities around a regression's answers: against a loop, and that they mean what they say."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import simloss
from simloss.calibration import residual_probabilities


def by_loop(f, known, y, at, neighbors):
    """One prediction, one neighbour at a time; classes in any order."""
    M, C = len(y), len(at)
    order = sorted(range(C), key=lambda c: at[c])
    lowest, highest = at[order[0]], at[order[-1]]

    def held(x):
        return min(max(x, lowest), highest)

    rows = []
    for one in map(held, f):
        distances = [abs(one - held(other)) for other in known]
        furthest = sorted(distances)[min(neighbors, M) - 1]
        p = [0.0] * C
        for distance, other, true in zip(distances, map(held, known), y, strict=True):
            if distance > furthest:
                continue
            relative = distance / furthest if furthest > 0 else 0.0
            weight = max((1 - relative**3) ** 3, 1e-6)
            value = held(one + at[true] - other)
            for left, right in pairwise(order):
                if at[left] <= value <= at[right]:
                    share = (value - at[left]) / (at[right] - at[left])
                    p[left] += weight * (1 - share)
                    p[right] += weight * share
                    break
        rows.append([(M * each / sum(p) + 1 / C) / (M + 1) for each in p])
    return np.array(rows)


@given(st.integers(0, 1000), st.sampled_from([1, 3, 7, 100]), st.booleans())
def test_the_same_as_a_loop(seed, neighbors, are_uneven):
    generator = np.random.default_rng(seed)
    C, M = int(generator.integers(2, 7)), int(generator.integers(1, 15))
    at = generator.permutation(np.cumsum(generator.uniform(0.2, 3, C))) if are_uneven else None
    positions = np.arange(float(C)) if at is None else at
    y = generator.integers(C, size=M)
    # Rounded, so that some are equal.
    known = (positions[y] + generator.normal(size=M)).round(int(generator.integers(0, 3)))
    f = generator.uniform(positions.min() - 1, positions.max() + 1, 5)
    found = residual_probabilities(f, known, y, num_classes=C, positions=at, neighbors=neighbors)
    np.testing.assert_allclose(
        found, by_loop(f, known, y, positions, neighbors), rtol=1e-9, atol=1e-12
    )


@given(st.integers(0, 1000))
def test_the_order_of_the_validation_examples_does_not_count(seed):
    generator = np.random.default_rng(seed)
    y = generator.integers(5, size=30)
    known = (y + generator.normal(size=30)).round()
    f, mixed = generator.uniform(0, 4, 8), generator.permutation(30)
    one = residual_probabilities(f, known, y, num_classes=5, neighbors=4)
    other = residual_probabilities(f, known[mixed], y[mixed], num_classes=5, neighbors=4)
    np.testing.assert_allclose(one, other, atol=1e-12)


def noisy(n, seed, C=30):
    """A regression whose errors grow with its answer, from 0.5 to 3 classes."""
    generator = np.random.default_rng(seed)
    f = generator.uniform(0, C - 1, n)
    y = np.clip(np.round(f + (0.5 + 2.5 * f / C) * generator.standard_normal(n)), 0, C - 1)
    return f, y.astype(int)


def test_they_mean_what_they_say():
    known, seen = noisy(2000, 0)
    f, y = noisy(4000, 1)
    p = residual_probabilities(f, known, seen, num_classes=30)
    answers = simloss.decide(p, "median")
    cost = simloss.expected_cost(p, answers, "absolute")
    errors = np.abs(answers - y)
    assert errors.mean() <= np.abs(np.round(f) - y).mean() * 1.01
    assert cost.mean() == pytest.approx(errors.mean(), rel=0.1)
    for part in np.array_split(np.argsort(cost), 4):  # few errors where few are expected
        assert cost[part].mean() == pytest.approx(errors[part].mean(), rel=0.15)
    assert simloss.metrics.calibration_error(p, y) < 0.03
    everywhere = residual_probabilities(f, known, seen, num_classes=30, neighbors=2000)
    score = simloss.metrics.ranked_probability_score
    assert score(p, y) < 0.995 * score(everywhere, y)  # the errors are not the same everywhere


def test_abstaining_leaves_out_the_worst():
    known, seen = noisy(2000, 0)
    f, y = noisy(4000, 1)
    p = residual_probabilities(f, known, seen, num_classes=30)
    answers = simloss.decide(p, "median", abstain=1.0)
    is_sure = answers >= 0
    assert 0.2 < is_sure.mean() < 0.8
    errors = np.abs(simloss.decide(p, "median") - y)
    assert errors[is_sure].mean() < 0.6 * errors[~is_sure].mean()


def test_blocks_do_not_count(monkeypatch):
    from simloss.calibration import residuals

    known, seen = noisy(50, 0)
    f, _ = noisy(20, 1)
    whole = residual_probabilities(f, known, seen, num_classes=30)
    monkeypatch.setattr(residuals, "_BLOCK_ENTRIES", 120)
    np.testing.assert_array_equal(whole, residual_probabilities(f, known, seen, num_classes=30))


def test_what_it_takes():
    tensors = residual_probabilities(torch.tensor([0.5]), torch.tensor([1.0]), torch.tensor([2]))
    assert tensors.shape == (1, 3)  # as many classes as the targets show
    np.testing.assert_allclose(tensors, residual_probabilities([0.5], [1.0], [2]))
    given = residual_probabilities([7.0], [7.0], [1], positions=[9, 7, 20])
    np.testing.assert_allclose(given, [[1 / 6, 4 / 6, 1 / 6]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": [[1.0]]}, r"`predictions` must have shape \(N\) .* shape \(1, 1\)\.$"),
        ({"predictions": []}, r"`predictions` must have shape \(N\) and not be empty"),
        ({"predictions": [float("nan")]}, "`predictions` must be finite, but got nan in pos"),
        ({"validation_predictions": [1.0]}, "`validation_predictions` must have shape"),
        ({"validation_targets": [0, -1]}, "`validation_targets` must be class indices from 0 on"),
        ({"num_classes": 2}, r"`validation_targets` must be in \[0, 2\), but got 2\.$"),
        ({"validation_targets": [0, 0]}, "at least 2 classes, but there is 1"),
        ({"neighbors": 0}, "`neighbors` must be at least 1, but got 0"),
        ({"positions": [1, 1, 2]}, "`positions` must be distinct, but 1.0 is listed twice"),
        ({"positions": [1, 2, 3], "num_classes": 4}, "`positions` must have as many classes"),
    ],
)
def test_bad_input(arguments, message):
    usual = {
        "predictions": [1.0],
        "validation_predictions": [0.0, 2.0],
        "validation_targets": [0, 2],
    }
    with pytest.raises(ValueError, match=message):
        residual_probabilities(**{**usual, **arguments})
