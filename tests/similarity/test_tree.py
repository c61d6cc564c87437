import pathlib
import tracemalloc

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss import Tree, metrics

PATHS = ["animal/bird/robin", "animal/bird/crow", "animal/cod", "plant/rose"]


@st.composite
def parent_maps(draw):
    """Random trees of up to 30 nodes: node i hangs below one of the nodes before it."""
    size = draw(st.integers(2, 30))
    return {f"n{i}": f"n{draw(st.integers(0, i - 1))}" for i in range(1, size)}


def line_of(parents, name):
    line = [name]
    while parents.get(line[-1]) is not None:
        line.append(parents[line[-1]])
    return line


def cost_by_loops(parents, classes):
    """Height of the first common ancestor, found by walking."""
    lines = {name: line_of(parents, name) for name in classes}

    def height(node):
        return max(line.index(node) for line in lines.values() if node in line)

    return torch.tensor(
        [
            [
                0.0 if a == b else float(height(next(n for n in lines[a] if n in lines[b])))
                for b in classes
            ]
            for a in classes
        ]
    )


@given(parent_maps(), st.randoms(use_true_random=False))
def test_cost_is_the_height_of_the_lowest_common_ancestor(parents, random):
    classes = list(Tree.from_parents(parents).class_names)
    random.shuffle(classes)
    tree = Tree.from_parents(parents, classes=classes)
    assert tree.class_names == tuple(classes)
    cost = tree.cost()
    assert torch.equal(cost, cost_by_loops(parents, classes))
    assert torch.equal(cost, cost.T)
    # An ultrametric.
    assert bool((cost[:, None, :] <= torch.maximum(cost[:, :, None], cost[None])).all())


@given(parent_maps())
def test_nodes_come_before_their_parents_and_classes_first(parents):
    tree = Tree.from_parents(parents)
    assert tree.parents[tree.root] == -1
    assert all(node < parent for node, parent in enumerate(tree.parents[:-1]))
    assert [bool(below) for below in tree.children] == [False] * tree.num_classes + [True] * (
        len(tree.parents) - tree.num_classes
    )
    for node in range(len(tree.parents)):
        line = line_of(parents, tree.names[node])
        assert [tree.names[a] for a in tree.ancestors(node)] == line[1:]
        assert tree.depths[node] == len(line) - 1
        assert all(tree.parents[child] == node for child in tree.children[node])


@given(parent_maps(), st.data())
def test_restricted_keeps_the_lines_of_the_kept_classes(parents, data):
    tree = Tree.from_parents(parents)
    kept = data.draw(st.permutations(range(tree.num_classes)))
    kept = kept[: data.draw(st.integers(1, tree.num_classes))]
    smaller = tree.restricted(kept)
    assert smaller.class_names == tuple(tree.class_names[i] for i in kept)
    for i, old in enumerate(kept):
        assert [smaller.names[a] for a in smaller.ancestors(i)] == [
            tree.names[a] for a in tree.ancestors(old)
        ]
    assert torch.equal(smaller.cost(), cost_by_loops(parents, smaller.class_names))


def test_every_form_gives_the_same_tree(tmp_path):
    tree = Tree.from_paths(PATHS)
    nested = {"animal": {"bird": ["robin", "crow"], "cod": None}, "plant": "rose"}
    mixed = {"animal": [{"bird": {"robin": {}, "crow": []}}, "cod"], "plant": ["rose"]}
    parents = {
        "robin": "bird",
        "crow": "bird",
        "bird": "animal",
        "cod": "animal",
        "animal": None,
        "rose": "plant",
    }
    one = tmp_path / "one.csv"
    one.write_text("\n".join(PATHS) + "\n")
    levels = tmp_path / "levels.csv"
    levels.write_text(
        "kingdom,class,species\nanimal,bird,robin\nanimal,bird,crow\n\nanimal,,cod\nplant,,rose\n"
    )
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("child,parent\n" + "".join(f"{a},{b or ''}\n" for a, b in parents.items()))
    for other in (
        Tree.from_csv(pairs, parents=True, header=True),
        Tree.from_dict(nested),
        Tree.from_dict(mixed),
        Tree.from_parents(parents),
        Tree.from_parents(parents.items()),
        Tree.from_csv(one),
        Tree.from_csv(levels, header=True),
        Tree.from_paths([path.replace("/", ">") for path in PATHS], separator=">"),
        Tree.from_paths([path.split("/") for path in PATHS]),
    ):
        assert other == tree
    assert tree.class_names == ("robin", "crow", "cod", "rose")
    assert tree.leaves == (0, 1, 2, 3)
    assert tree.names[tree.root] == "root"
    assert tree.heights == (0, 0, 0, 0, 1, 2, 1, 3)


def test_a_superclass_column_gives_two_levels():
    tree = Tree.from_superclasses(["bear", "rose", "panda"], ["bear", "flower", "bear"])
    assert tree.superclass().tolist() == [3, 4, 3]
    assert tree.superclass(0).tolist() == [tree.root] * 3
    assert tree.superclass(2).tolist() == [0, 1, 2]
    assert tree.cost().tolist() == [[0, 2, 1], [2, 0, 2], [1, 2, 0]]


def test_one_class_is_a_tree():
    assert Tree.from_paths(["rose"]).cost().tolist() == [[0]]
    assert Tree.from_paths(["plant/rose"]).superclass().tolist() == [0]


def test_a_long_chain_is_no_trouble():
    chain = {f"n{i}": f"n{i - 1}" for i in range(1, 3000)} | {f"l{i}": f"n{i}" for i in range(2000)}
    tree = Tree.from_parents(chain)
    cost = tree.cost()
    at = {name: i for i, name in enumerate(tree.class_names)}
    assert cost[at["l0"], at["l1999"]] == 2999
    assert cost[at["l5"], at["l4"]] == 2995
    assert str(tree).splitlines()[200:] == ["... 4,800 more nodes"]


def nothing_in_itself():
    nested = {"a": {}}
    nested["a"]["b"] = nested
    return nested


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tree.from_parents({"a": "b", "b": "c", "c": "a"}), "cycle: a -> b -> c -> a"),
        (lambda: Tree.from_parents({"a": "a"}), "cycle: a -> a"),
        (lambda: Tree.from_parents({}), "must hold at least one node"),
        (lambda: Tree.from_parents([("a", "b"), ("a", "c")]), "'a' has two, 'b' and 'c'"),
        (lambda: Tree.from_paths(["a/b", "a/b"]), "'b' is listed twice"),
        (lambda: Tree.from_paths(["a/b", "c/b"]), "'b' is listed twice"),
        (lambda: Tree.from_paths(["a/b", "a"]), "'a' is both a class and the parent"),
        (lambda: Tree.from_paths(["a//b"]), "must have a name between"),
        (lambda: Tree.from_paths([[]]), "one is empty"),
        (lambda: Tree.from_paths([]), "at least one path"),
        (lambda: Tree.from_paths("a/b"), "must be a list"),
        (lambda: Tree.from_dict([]), "`nested` must be a dict, but got list"),
        (lambda: Tree.from_dict({"a": 3}), "'a' holds int"),
        (lambda: Tree.from_dict(nothing_in_itself()), "'a/b' contains itself"),
        (lambda: Tree.from_paths(PATHS, classes=["robbin"]), r"did you mean 'robin'\?"),
        (lambda: Tree.from_paths(PATHS, classes=["robin"]), "all 4 .* 'cod' is missing"),
        (lambda: Tree.from_paths(PATHS, classes=["cod", "cod"]), "'cod' is listed twice"),
        (lambda: Tree.from_paths(PATHS, classes="cod"), "must be a list of names"),
        (lambda: Tree.from_superclasses(["a", "b"], ["x"]), "each of the 2 classes, but got 1"),
        (lambda: Tree.from_superclasses(["a", "b"], "xy"), "but got 'xy'"),
        (lambda: Tree.from_paths(PATHS).ancestors(99), r"`node` must be in \[0, 8\), but got 99"),
        (lambda: Tree.from_paths(PATHS).superclass(9), r"`level` must be in \[0, 4\), but got 9"),
        (lambda: Tree.from_paths(PATHS).superclass(1.5), "whole number, but got 1.5"),
        (lambda: Tree.from_paths(PATHS).restricted([0, 0]), "0 is listed twice"),
        (lambda: Tree.from_paths(PATHS).restricted([]), "must not be empty"),
    ],
)
def test_bad_trees_are_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\na,b,c\n", "line 2 has 3 where line 1 has 2"),
        ("", "it is empty"),
        ("\n\n", "it is empty"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        Tree.from_csv(path)


def test_an_empty_parent_of_a_data_frame_is_the_root():
    tree = Tree.from_parents({"a": "r", "b": "r", "r": float("nan")})
    assert tree.class_names == ("a", "b")
    assert tree.names[tree.root] == "r"


def test_one_superclass_is_a_level_all_the_same():
    tree = Tree.from_superclasses(["a", "b"], ["x", "x"])
    assert metrics.superclass_accuracy([0], [1], tree) == 1
    assert metrics.superclass_accuracy([0], [1], ["x", "x"]) == 1


def test_memory_for_a_path_grows_with_its_length_only():
    tracemalloc.start()
    tree = Tree.from_paths(["/".join("a" * 2000)])
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tree.heights[tree.root] == 1999
    assert used < 4e6  # 8 bytes for each name above each node would be 16 MB


def test_paths_of_the_operating_system():
    tree = Tree.from_paths(PATHS)
    assert Tree.from_paths([pathlib.PurePosixPath(path) for path in PATHS]) == tree
    assert Tree.from_paths(pathlib.PurePath(path) for path in PATHS) == tree


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tree.from_paths(pathlib.PurePath("a/b")), "`paths` must be a list of paths, but"),
        (lambda: Tree.from_paths(5), "`paths` must be a list of paths, but got 5"),
        (lambda: Tree.from_paths([5]), "`paths` must hold text or sequences of names, but got 5"),
        (lambda: Tree.from_parents(5), "`parents` must be a dict or pairs, but got 5"),
        (lambda: Tree.from_parents(["robin"]), "must be .node, parent. pairs, but got 'robin'"),
        (lambda: Tree.from_parents([("a", "b", "c")]), r"pairs, but got \('a', 'b', 'c'\)"),
    ],
)
def test_what_is_no_list_of_paths_or_pairs(make, message):
    with pytest.raises(TypeError, match=message):
        make()


@pytest.mark.parametrize(("other", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_a_file_with_another_separator_is_no_tree_without_levels(other, name, tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text(f"bird{other}robin\nbird{other}crow\nfish{other}cod\n")
    with pytest.raises(ValueError, match=f"must have '/' or commas between the levels, .* {name}"):
        Tree.from_csv(path)
    assert Tree.from_csv(path, separator=other).class_names == ("robin", "crow", "cod")
    path.write_text("sea; salt/cod\nrobin\n")  # part of a name
    assert Tree.from_csv(path).class_names == ("cod", "robin")
