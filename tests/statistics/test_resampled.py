import numpy as np
import pytest
from scipy import stats

from simloss import statistics

draw = np.random.default_rng(0)
BASE = draw.normal(3, 0.2, 10)
OTHER = BASE - 0.1 + draw.normal(0, 0.1, 10)


def test_without_shared_examples_it_is_the_paired_t_test():
    found = statistics.resampled_comparison(BASE, OTHER, higher_is_better=False, test_to_train=0)
    judge = stats.ttest_rel(OTHER, BASE)
    assert found.p_value == pytest.approx(judge.pvalue)
    assert found.interval == pytest.approx(tuple(judge.confidence_interval()))
    assert found.wins == (OTHER < BASE).sum()


def test_the_formula_is_that_of_the_docstring():
    found = statistics.resampled_comparison(BASE, OTHER, higher_is_better=False)
    d = OTHER - BASE
    t = d.mean() / (d.std(ddof=1) * np.sqrt(1 / 10 + 1 / 2 * 0.2 / 0.6))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 9))


def test_many_runs_on_one_data_set_do_not_make_a_small_difference_certain():
    many = [np.tile(values, 20) for values in (BASE, OTHER)]
    few, more = (
        statistics.resampled_comparison(*pair, higher_is_better=False)
        for pair in ((BASE, OTHER), many)
    )
    width = [each.interval[1] - each.interval[0] for each in (few, more)]
    assert width[1] > 0.6 * width[0]  # independent runs would make it a fifth


def test_one_run_and_no_difference():
    one = statistics.resampled_comparison([1.0], [2.0], higher_is_better=True)
    assert one.p_value == 1
    assert np.isnan(one.interval).all()
    same = statistics.resampled_comparison([1.0, 2.0], [1.0, 2.0], higher_is_better=True)
    assert (same.p_value, same.mark, same.interval) == (1.0, "", (0.0, 0.0))
    always = statistics.resampled_comparison([1.0, 2.0], [2.0, 3.0], higher_is_better=True)
    assert (always.p_value, always.mark) == (0.0, "+")


def test_so_many_runs_tell_and_one_fewer_does_not():
    d = np.array([-0.3, -0.1, -0.25, 0.0, -0.2])
    wanted = statistics.runs_to_tell(np.zeros(5), d)
    assert wanted is not None

    def is_told(runs):
        reach = stats.t.ppf(0.975, runs - 1) * np.sqrt(1 / runs + 1 / 6)
        return abs(d.mean()) >= reach * d.std(ddof=1)

    assert is_told(wanted)
    assert not is_told(wanted - 1)
    assert statistics.runs_to_tell([1.0], [2.0]) is None


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="`test_to_train` must be a finite number of at least 0"):
        statistics.resampled_comparison(BASE, OTHER, higher_is_better=True, test_to_train=-1)
    with pytest.raises(ValueError, match="must have the same runs"):
        statistics.resampled_comparison(BASE, OTHER[1:], higher_is_better=True)
