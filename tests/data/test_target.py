"""The column of classes: bins, spellings, orders a file knows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simloss.data import DataError
from simloss.data.target import known_classes, target


def of(values, **options):
    return target("y", pd.Series(values, dtype=object), **options)


@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=60).filter(lambda v: len(set(v)) > 1),
    st.integers(2, 12),
)
def test_no_bin_is_empty(values, bins):
    if len(np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))) < 3:
        with pytest.raises(DataError, match="at least two classes"):
            of(values, bins=bins)
        return
    found = of(values, bins=bins)
    edges, names = found.notes["edges"], found.order.names
    assert len(edges) == len(names) + 1
    assert found.labels.bincount(minlength=len(names)).min() > 0
    assert found.notes.get("bins", len(names)) == bins
    for label, median in enumerate(found.notes["positions"]):
        mine = [v for v, y in zip(values, found.labels.tolist(), strict=True) if y == label]
        assert median == sorted(mine)[len(mine) // 2] or median == np.median(mine)
    for value, label in zip(values, found.labels.tolist(), strict=True):
        assert edges[label] <= value
        assert value < edges[label + 1] or label == len(names) - 1
    # A saved model, which has the edges, finds the same classes.
    assert known_classes(pd.Series(values), names, edges) == [names[i] for i in found.labels]


def test_bins_of_one_number():
    with pytest.raises(DataError, match="different numbers, but column 'y' holds only '3'"):
        of([3, 3, 3], bins=4)


def test_codes_keep_their_zeros():
    assert of(["01", "02", "10"]).order.names == ("01", "02", "10")
    assert of(["01", "02"], class_names=["02", "01"]).order.names == ("02", "01")
    assert of(["0", "0.5", "1.0"]).order.names == ("0", "0.5", "1")


def test_a_given_order_is_respelled_like_the_classes():
    assert of(["1.0", "2.0"], class_names=["2.0", "1"]).order.names == ("2", "1")
    with pytest.raises(ValueError, match="'3' is not one"):
        of(["1.0", "2.0"], class_names=["1.0", "3.0"])


@pytest.mark.parametrize("pair", [("low", "LOW"), ("very low", "very  low"), ("Low", " low ")])
def test_two_spellings_of_a_class_are_refused(pair):
    first, second = pair
    match = f"column 'y' has {first!r} and {second.strip()!r}; use one of them"
    with pytest.raises(DataError, match=match):
        of([first, second, "high"])


def test_two_spellings_that_are_meant():
    names = ["aa", "Aa", "AA"]
    assert of(["AA", "Aa", "aa"], class_names=names).order.names == tuple(names)


def test_a_column_that_knows_its_order(tmp_path):
    cells = ["warm", "cold", None, "warm", "cool"]
    kinds = pd.CategoricalDtype(["cold", "cool", "warm", "hot"], ordered=True)
    pd.DataFrame({"y": pd.Series(cells, dtype=kinds)}).to_parquet(tmp_path / "t.parquet")
    column = pd.read_parquet(tmp_path / "t.parquet")["y"]
    found = target("y", column)
    assert (found.order.names, found.order.kind) == (("cold", "cool", "warm"), "column")
    assert found.notes["unit"] == "classes"
    given_names = ["warm", "cool", "cold"]
    given = target("y", column, class_names=given_names).order
    assert (given.names, given.kind) == (tuple(given_names), "given")
    numbers = pd.Series(pd.Categorical([2.0, 1.0, 3.0], [3.0, 2.0, 1.0], ordered=True))
    assert target("y", numbers).order.names == ("3", "2", "1")
    assert len(target("y", numbers, bins=2).order.names) == 2
    plain = pd.Series(pd.Categorical(["dog", "ant", "cat"]))
    assert target("y", plain).order.kind == "names"


def test_edges_are_plain_numbers():
    assert all(type(edge) is float for edge in of(np.arange(10), bins=3).notes["edges"])
