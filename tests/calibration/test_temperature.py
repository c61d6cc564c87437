"""The fitted temperature against a scan, and every case without an optimum."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from simloss.calibration import fit_temperature


def sample(seed, n=300, c=5, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(n, c, generator=generator, dtype=torch.float64) * 2
    labels = torch.multinomial(logits.softmax(-1), 1, generator=generator).squeeze(1)
    return logits * scale, labels


@given(st.integers(0, 100), st.sampled_from([0.2, 1.0, 7.0]))
def test_no_other_temperature_is_better(seed, scale):
    logits, labels = sample(seed, scale=scale)
    fitted = fit_temperature(logits, labels)
    best = cross_entropy(logits / fitted, labels)
    for factor in (0.5, 0.9, 0.999, 1.001, 1.1, 2):
        assert cross_entropy(logits / (fitted * factor), labels) >= best


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_finds_the_scale_the_logits_were_made_with(scale):
    logits, labels = sample(0, n=20_000, scale=scale)
    assert fit_temperature(logits, labels) == pytest.approx(scale, rel=0.05)


def test_temperature_scales_with_the_logits():
    logits, labels = sample(3)
    assert fit_temperature(logits * 5, labels) == pytest.approx(5 * fit_temperature(logits, labels))


def test_every_example_right_is_the_lower_bound():
    logits = torch.eye(3) * 2
    assert fit_temperature(logits, torch.arange(3)) == 0.01
    assert fit_temperature(logits, torch.arange(3), bounds=(0.5, 2)) == 0.5


def test_worse_than_chance_is_the_upper_bound():
    assert fit_temperature(torch.eye(2) * 3, torch.tensor([1, 0])) == 100.0


@pytest.mark.parametrize("logits", [torch.randn(4, 1), torch.zeros(4, 3), torch.full((4, 2), 1e30)])
def test_where_temperature_makes_no_difference_it_is_one(logits):
    assert fit_temperature(logits, torch.zeros(4, dtype=torch.long)) == 1.0
    bounds = (2.0, 3.0)
    assert fit_temperature(logits, torch.zeros(4, dtype=torch.long), bounds=bounds) == 2.0


def test_extreme_logits_stay_finite():
    logits = torch.tensor([[1e4, 0.0, -1e4]] * 3 + [[0.0, 1e4, -1e4]])
    fitted = fit_temperature(logits, torch.tensor([0, 0, 1, 0]), bounds=(1e-3, 1e6))
    # Right three times of four at a margin of 1e4 and a third class far below.
    assert 1e3 < fitted < 1e5
    assert np.isfinite(float(cross_entropy(logits / fitted, torch.tensor([0, 0, 1, 0]))))


def test_impossible_classes_count_nothing():
    logits, labels = sample(1, c=3)
    barred = torch.cat([logits, torch.full((len(logits), 1), float("-inf"))], 1)
    assert fit_temperature(barred, labels) == pytest.approx(fit_temperature(logits, labels))


def test_arrays_and_more_dimensions():
    logits, labels = sample(2)
    whole = fit_temperature(logits, labels)
    assert fit_temperature(logits.numpy(), labels.numpy()) == whole
    assert fit_temperature(logits.reshape(3, 100, 5), labels.reshape(3, 100)) == whole


@pytest.mark.parametrize(
    ("logits", "labels", "options", "message"),
    [
        ([[1.0, 2.0]], [2], {}, r"`labels` must be in \[0, 2\), but got 2"),
        ([[1.0, 2.0]], [0, 1], {}, r"`labels` must have shape \(1,\)"),
        ([[1.0, float("nan")]], [0], {}, "`logits` must be finite or minus infinity"),
        ([[1.0, float("-inf")]], [1], {}, "`labels` must be possible"),
        (torch.zeros(0, 2), [0], {}, "`logits` must have shape"),
        ([[1.0, 2.0]], [0], {"bounds": (2, 1)}, r"`bounds` must be \(lower, upper\)"),
        ([[1.0, 2.0]], [0], {"bounds": (0, 1)}, "`bounds` must be a finite number above 0"),
    ],
)
def test_bad_input_is_refused(logits, labels, options, message):
    with pytest.raises(ValueError, match=message):
        fit_temperature(logits, labels, **options)


@pytest.mark.parametrize("bounds", [5, (1.0,), "ab"])
def test_bounds_are_two_numbers(bounds):
    with pytest.raises(TypeError, match=r"`bounds` must be (\(lower, upper\)|a number), but got"):
        fit_temperature([[0.0, 1.0]], [0], bounds=bounds)
