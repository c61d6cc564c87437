import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import graph

edge_lists = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0.1, 9)), min_size=1, max_size=14
)


def shortest_by_loops(edges, nodes, directed):
    """Floyd and Warshall."""
    d = {(a, b): 0.0 if a == b else math.inf for a in nodes for b in nodes}
    for a, b, length in edges:
        d[a, b] = min(d[a, b], length)
        if not directed:
            d[b, a] = min(d[b, a], length)
    for k in nodes:
        for i in nodes:
            for j in nodes:
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


@given(edge_lists, st.booleans(), st.floats(0.2, 5))
def test_formula(edges, directed, temperature):
    S = graph(edges, temperature, directed=directed)
    nodes = list(dict.fromkeys(node for a, b, _ in edges for node in (a, b)))
    assert S.names == tuple(str(node) for node in nodes)
    d = shortest_by_loops(edges, nodes, directed)
    dense = S.to_dense(torch.float64)
    for i, a in enumerate(nodes):
        for j, b in enumerate(nodes):
            expected = math.exp(-d[a, b] / temperature)
            assert dense[i, j].item() == pytest.approx(expected, abs=1e-12)
    if not directed:
        assert torch.allclose(dense, dense.T)


def test_classes_are_some_of_the_nodes_in_the_order_given():
    edges = [("rose", "flower"), ("violet", "flower"), ("flower", "thing"), ("truck", "thing")]
    S = graph(edges, classes=["truck", "rose"])
    assert S.names == ("truck", "rose")
    assert S.to_dense()[0, 1].item() == pytest.approx(math.exp(-3))


def test_a_csv_file_says_the_same(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("from,to,length\na,b,1.5\n\nb, c ,2\n")
    assert graph(path, header=True) == graph([("a", "b", 1.5), ("b", "c", 2)])
    path.write_text("a,b\nb,c\n")
    assert graph(str(path), 3) == graph([("a", "b"), ("b", "c")], 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: graph([]), "at least one edge, but it is empty"),
        (lambda: graph([("a", "b", 0)]), "finite lengths above 0, but edge 1 has 0"),
        (lambda: graph([("a", "b"), ("a", "b", "x")]), "edge 2 has 'x'"),
        (lambda: graph([("a", "b", float("nan"))]), "edge 1 has nan"),
        (lambda: graph([("a",)]), r"but edge 1 is \('a',\)"),
        (lambda: graph(["ab"]), "but edge 1 is 'ab'"),
        (lambda: graph([1, 2]), "but edge 1 is 1"),
        (lambda: graph([("rose", "b")], classes=["rosse"]), r"did you mean 'rose'\?"),
        (lambda: graph([("a", "b")], classes=["a", "a"]), "'a' is listed twice"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_header_that_was_not_announced_is_pointed_out(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("from,to,length\na,b,1\n")
    with pytest.raises(ValueError, match=r"edge 1 has 'length'; if the first line is a header"):
        graph(path)


def test_a_graph_of_networkx_is_asked_for_its_edges():
    class Graph:  # as much of networkx's as counts here
        edges = ()

        def __iter__(self):
            return iter([1, 2])

    with pytest.raises(TypeError, match=r"got a Graph; .* pass `graph\.edges\(data='weight', def"):
        graph(Graph())


def test_a_dict_would_lose_its_lengths():
    lengths = {("Ulm", "Augsburg"): 85.0}
    with pytest.raises(TypeError, match=r"got a dict, .* `\[\(a, b, length\) for \(a, b\), length"):
        graph(lengths)
    S = graph([(a, b, length) for (a, b), length in lengths.items()], temperature=85)
    assert S.rows([0]).tolist()[0] == pytest.approx([1, math.exp(-1)])


def test_classes_are_a_list_of_at_least_one():
    with pytest.raises(TypeError, match="`classes` must be a list, but got 'ab'"):
        graph([("a", "b")], classes="ab")
    with pytest.raises(ValueError, match="`classes` must not be empty"):
        graph([("a", "b")], classes=[])
