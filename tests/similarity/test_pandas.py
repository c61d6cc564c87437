"""Tables of pandas: their labels are the names of the classes, and must not contradict them."""

import numpy as np
import pytest

import simloss
from simloss import Tree, metrics
from simloss.similarity import as_similarity, confusion, cost, embedding, function, matrix

pandas = pytest.importorskip("pandas")

NAMES = ("low", "mid", "top")
VALUES = {
    matrix: [[1, 0.5, 0.2], [0.4, 1, 0.3], [0.1, 0.6, 1]],
    as_similarity: [[1, 0.5, 0.2], [0.4, 1, 0.3], [0.1, 0.6, 1]],
    cost: [[0, 1, 2], [3, 0, 4], [5, 6, 0]],
    confusion: [[8, 1, 2], [3, 8, 4], [5, 6, 8]],
}


def table(build, rows=NAMES, columns=NAMES):
    return pandas.DataFrame(VALUES[build], rows, columns)


@pytest.mark.parametrize("build", VALUES)
class TestBothSides:
    def test_the_labels_are_the_names(self, build):
        made = build(table(build))
        assert made.names == NAMES
        assert made.to_dense().equal(build(VALUES[build]).to_dense())
        assert build(table(build, [18, 30, 65], [18, 30, 65])).names == ("18", "30", "65")

    @pytest.mark.parametrize("dtype", ["Float64", object])
    def test_nullable_columns_hold_numbers_as_well(self, build, dtype):
        made = build(table(build).astype(dtype))
        assert made.to_dense().equal(build(VALUES[build]).to_dense())
        for gap in (pandas.NA, "0.5"):
            with pytest.raises(TypeError, match="must be a tensor, an array or nested lists of"):
                build(table(build).astype(object).replace(VALUES[build][0][1], gap))

    def test_numbers_that_only_count_are_no_names(self, build):
        assert build(table(build, None, None)).names is None

    def test_labels_on_one_side_will_do_where_they_are_words(self, build):
        assert build(table(build, None, NAMES)).names == NAMES
        assert build(table(build, NAMES, None)).names == NAMES

    def test_another_order_is_refused_with_the_remedy(self, build):
        mixed = table(build).loc[["mid", "low", "top"]]
        with pytest.raises(ValueError, match=r"row 0 is 'mid' and column 0 is 'low'; `table\.loc"):
            build(mixed)
        assert build(mixed.loc[mixed.columns]).names == NAMES
        with pytest.raises(ValueError, match="row 1 is 2 and column 1 is 1; "):
            build(table(build, [0, 2, 1], [0, 1, 2]))

    def test_other_labels_are_refused(self, build):
        with pytest.raises(ValueError, match="the same labels on its rows and its columns"):
            build(table(build, ["low", "mid", "high"]))
        with pytest.raises(ValueError, match=r"row 0 is 0 and column 0 is 1\.$"):
            build(table(build, None, [1, 2, 3]))


@pytest.mark.parametrize("build", [matrix, cost, confusion])
def test_names_that_are_given_count(build):
    assert build(table(build), names=["a", "b", "c"]).names == ("a", "b", "c")


def test_a_cost_with_its_rows_in_another_order_is_refused():
    wrong = table(cost, ["mid", "low", "top"])
    with pytest.raises(ValueError, match="`cost` must have the same labels"):
        simloss.decide([0.2, 0.3, 0.5], wrong)
    with pytest.raises(ValueError, match="`cost` must have the same labels"):
        metrics.mean_cost([0], [1], wrong)
    right = table(cost)
    assert simloss.decide([0.2, 0.3, 0.5], right) == simloss.decide([0.2, 0.3, 0.5], VALUES[cost])


def test_vectors_are_named_by_their_index():
    vectors = np.eye(3)
    assert embedding(pandas.DataFrame(vectors, NAMES)).names == NAMES
    assert embedding(pandas.DataFrame(vectors)).names is None
    assert embedding(pandas.DataFrame(vectors, NAMES), names=["a", "b", "c"]).names[0] == "a"


def test_a_table_is_no_list_of_classes():
    with pytest.raises(TypeError, match=r"but got a table; pass its rows, `table\.to_numpy\(\)`"):
        function(pandas.DataFrame({"a": [1, 2], "b": [3, 4]}), lambda a, b: float(a == b))


def test_a_column_of_parents():
    parents = {"robin": "bird", "crow": "bird", "cod": "fish", "fish": None}
    tree = Tree.from_parents(parents)
    assert Tree.from_parents(pandas.Series(parents)) == tree
    assert Tree.from_parents(pandas.Series(parents, dtype="string")) == tree
    with pytest.raises(TypeError, match="`parents` must be a list, but got a table"):
        Tree.from_parents(pandas.DataFrame({"ab": ["robin"], "cd": ["bird"]}))
