import datetime
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import identity, order, values

positions = st.lists(st.floats(-100, 100), min_size=1, max_size=8)


@given(positions, st.floats(0.1, 50))
def test_formula(at, scale):
    S = values(at, scale).to_dense(torch.float64)
    for i, a in enumerate(at):
        for j, b in enumerate(at):
            assert math.isclose(S[i, j], math.exp(-abs(a - b) / scale), abs_tol=1e-12)


@given(positions, st.floats(0.1, 10), st.floats(1.01, 5))
def test_more_alike_with_a_larger_scale(at, scale, factor):
    smaller = values(at, scale).to_dense(torch.float64)
    larger = values(at, scale * factor).to_dense(torch.float64)
    assert bool((larger >= smaller).all())


@given(st.permutations([0.0, 18.0, 65.0, 66.0]))
def test_follows_a_permutation(at):
    place = [[0.0, 18.0, 65.0, 66.0].index(a) for a in at]
    given = values([0, 18, 65, 66], 10).to_dense(torch.float64)
    assert torch.equal(values(at, 10).to_dense(torch.float64), given[place][:, place])


def test_equal_steps_are_an_order():
    S = values(range(8), scale=-1 / math.log(0.8)).to_dense(torch.float64)
    assert torch.allclose(S, order(8, r=0.8).to_dense(torch.float64))


def test_a_small_scale_is_the_identity():
    assert values([1, 2, 5], scale=1e-3) == identity(3)


def test_logarithm_is_exact_where_the_value_underflows():
    S = values([0, 1000], scale=1)
    assert S.log_rows(torch.tensor(0), torch.float64).tolist() == [0, -1000]


@pytest.mark.parametrize(
    "dates",
    [
        [datetime.date(2024, 1, 1), datetime.date(2024, 1, 31)],
        [datetime.datetime(2024, 1, 1, 12), datetime.datetime(2024, 1, 31, 12)],
        np.array(["2024-01-01", "2024-01-31"], dtype="datetime64[D]"),
    ],
)
def test_dates_count_in_days(dates):
    assert values(dates, scale=30).to_dense(torch.float64)[0, 1] == pytest.approx(math.exp(-1))


def test_keeps_a_number_a_class():
    assert sum(t.numel() for t in values(range(100_000), 10).tensors.values()) == 100_001


@pytest.mark.parametrize(
    ("at", "scale", "message"),
    [
        ([0, float("nan")], 1, "`positions` must be finite, but got nan in position 1"),
        ([[0, 1]], 1, r"must have shape \(C\), .* but got shape \(1, 2\)"),
        ([], 1, r"but got shape \(0,\)"),
        ([0, 1], 0, "`scale` must be a finite number above 0, but got 0.0"),
        (["a", "b"], 1, "`positions` must be a tensor"),
    ],
)
def test_bad_input(at, scale, message):
    with pytest.raises((ValueError, TypeError), match=message):
        values(at, scale)


def test_a_time_zone_moves_the_clock_and_warns_of_nothing():
    east = datetime.timezone(datetime.timedelta(hours=12))
    at = [datetime.datetime(2024, 1, 1, 12, tzinfo=east), datetime.datetime(2024, 1, 2, 12)]
    aware = [at[0], at[1].replace(tzinfo=datetime.UTC)]
    naive = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2, 12)]
    assert values(aware, 2) == values(naive, 2)
    with pytest.raises(ValueError, match="must all have a time zone or none, but that of class 1"):
        values(at, 2)


def test_columns_of_pandas_with_dates():
    pandas = pytest.importorskip("pandas")
    naive = pandas.Series(pandas.to_datetime(["2024-01-01", "2024-01-03"]))
    expected = values([0.0, 2.0], 2).to_dense()
    for dates in (naive, naive.dt.tz_localize("UTC"), naive.astype(object), naive.dt.date):
        torch.testing.assert_close(values(dates, 2).to_dense(), expected)


def test_one_date_makes_all_of_them_dates():
    """A number was taken for microseconds since 1970, pandas' NaT died inside numpy."""
    pandas = pytest.importorskip("pandas")
    day = datetime.date(2024, 1, 1)
    for other in (None, 5, float("nan"), pandas.NaT, np.datetime64("NaT")):
        with pytest.raises(ValueError, match="class 1 has no date"):
            values([pandas.Timestamp(day), other], scale=30)
        with pytest.raises(ValueError, match="class 0 has no date"):
            values([other, day], scale=30)
