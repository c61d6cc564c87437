"""What has no order, or a gap, is no list of classes: a set has another order in every process."""

import numpy as np
import pytest

import simloss
from simloss import Tree
from simloss.similarity import function, graph, order, restricted, values, words

PARENTS = frozenset({("robin", "bird"), ("crow", "bird")})
EDGES = {("Ulm", "Augsburg"), ("Augsburg", "Munich")}
UNORDERED = {
    "names": lambda: order(2, 0.5, names={"low", "high"}),
    "names of words": lambda: words({"rose", "tulip"}),
    "positions": lambda: values({18, 65}, scale=10),
    "classes of a function": lambda: function({1, 2}, lambda a, b: 0.5 ** abs(a - b)),
    "classes of a part": lambda: restricted(order(3, 0.5), {0, 2}),
    "classes of a tree": lambda: Tree.from_paths(["bird/robin", "bird/crow"], classes={"robin"}),
    "classes of a graph": lambda: graph([("Ulm", "Augsburg")], classes={"Ulm", "Augsburg"}),
    "paths": lambda: Tree.from_paths({"bird/robin", "bird/crow"}),
    "parents": lambda: Tree.from_parents(PARENTS),
    "superclasses": lambda: Tree.from_superclasses(["rose", "truck"], {"plant", "car"}),
    "edges": lambda: graph(EDGES),
    "class_order": lambda: simloss.SimLossClassifier(class_order={0, 1}).fit([[1], [2]], [0, 1]),
}


@pytest.mark.parametrize("what", UNORDERED)
def test_a_set_is_refused(what):
    name = what.split()[0]
    with pytest.raises(TypeError, match=f"`{name}` must be in class order, but got a set"):
        UNORDERED[what]()


def test_a_set_will_do_where_the_classes_are_named():
    tree = Tree.from_parents(PARENTS, classes=["robin", "crow"])
    assert tree.class_names == ("robin", "crow")
    assert graph(EDGES, classes=["Ulm", "Munich"]).names == ("Ulm", "Munich")


def test_one_name_is_not_its_letters():
    with pytest.raises(TypeError, match="`classes` must be a list, but got 'ab'"):
        restricted(order(2, 0.5, names=["a", "b"]), "ab")
    with pytest.raises(TypeError, match="`names` must be a list, but got 'ab'"):
        Tree.from_superclasses("ab", ["letter", "letter"])


def test_dicts_keep_their_order():
    assert order(2, 0.5, names={"low": 0, "high": 1}).names == ("low", "high")
    assert words({"rose": 1, "tulip": 2}.keys()).names == ("rose", "tulip")


def test_a_table_is_not_its_headings():
    pandas = pytest.importorskip("pandas")
    levels = pandas.DataFrame({"superclass": ["bird", "bird"], "class": ["robin", "crow"]})
    with pytest.raises(TypeError, match="`paths` must be a list, but got a table"):
        Tree.from_paths(levels)
    assert Tree.from_paths(levels.to_numpy()).class_names == ("robin", "crow")
    with pytest.raises(TypeError, match="`names` must be a list, but got a table"):
        words(pandas.DataFrame(np.eye(2), columns=["rose", "tulip"]))
    assert words(levels["class"]).names == ("robin", "crow")


GAPS = {
    "names": lambda gap: order(2, 0.5, names=["low", gap]),
    "paths": lambda gap: Tree.from_paths([("bird", gap, "robin"), ("bird", "corvid", "crow")]),
    "parents": lambda gap: Tree.from_parents([("robin", "bird"), (gap, "bird")]),
    "superclasses": lambda gap: Tree.from_superclasses(["rose", "rock"], ["plant", gap]),
    "edges": lambda gap: graph([("Ulm", "Augsburg"), ("Augsburg", gap)]),
}


@pytest.mark.parametrize("name", GAPS)
def test_an_empty_cell_of_a_table_is_no_name(name):
    pandas = pytest.importorskip("pandas")
    nothing = () if name in ("names", "superclasses") else ("",)  # as a CSV file has it
    for gap in (None, float("nan"), pandas.NA, pandas.NaT, *nothing):
        with pytest.raises(ValueError, match=f"`{name}` must have no gaps, but "):
            GAPS[name](gap)


@pytest.mark.parametrize("leaf", [None, ["crow", "jay"], {"crow", "jay"}])
def test_a_list_in_a_dict_holds_names(leaf):
    with pytest.raises(TypeError, match="must have names or dicts in its lists, but 'bird' has"):
        Tree.from_dict({"bird": ["robin", leaf]})
