"""A short form of `python -m benchmarks verdict`: data sets whose truth is known."""

import numpy as np
import pytest
import torch

verdict = pytest.importorskip("benchmarks.verdict")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def share(lines, name, runs=10):
    return np.mean([line[name] for line in lines if line["runs"] == runs])


def test_where_there_is_nothing_to_find_little_is_claimed():
    """Of 40 data sets at most 5: with 5 % in truth, more are found once in 70 times."""
    lines = verdict.study("nothing to find, regressions", sets=40)
    for runs in (5, 10, 30):
        assert share(lines, "helps", runs) <= 5 / 40
    assert share(lines, "paired t-test", 30) > 0.1  # which takes runs for independent


def test_on_pure_noise_nothing_is_learned():
    lines = verdict.study("pure noise", sets=6)
    assert share(lines, "learned nothing") == 1
    assert share(lines, "helps") == 0


def test_a_large_gain_is_found_and_not_blown_up():
    lines = [each for each in verdict.study("a gain of 10 %", sets=6) if each["runs"] == 10]
    found = [each for each in lines if each["helps"]]
    assert len(found) >= 2
    claimed, true = (np.mean([each[k] for each in found]) for k in ("gain claimed", "true gain"))
    assert 0.5 * true < claimed < 1.5 * true
