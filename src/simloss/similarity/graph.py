"""Classes that are nodes of a graph: a road network, a knowledge graph."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import torch

from .. import _checks
from .base import Similarity
from .csv_lines import read_lines
from .matrix import DenseSimilarity

Edges = dict[tuple[str, str], float]


def graph(
    edges: str | PathLike[str] | Iterable[Sequence[Any]],
    temperature: float = 1.0,
    *,
    classes: Sequence[str] | None = None,
    directed: bool = False,
    header: bool = False,
) -> Similarity:
    r"""Similarity of classes by the shortest path between them in a graph.

    .. math:: S_{ij} = \exp(-\mathrm{shortest}_{ij} / \mathrm{temperature})

    Without a path, the similarity is 0. Needs scipy (``pip install 'simloss[cli]'``).

    Args:
        edges: a list of (node, node) or (node, node, length), or a CSV file with these columns; a
            length is above 0, by default 1. Of several edges between two nodes the shortest counts.
        temperature: the length at which the similarity has fallen to 1/e.
        classes: the nodes that are classes, in class order; by default all, in order of appearance.
        directed: whether an edge leads only from its first node, the true class, to its second.
        header: whether the first line of the CSV file is a header.

    Example:
        >>> S = graph([("rose", "flower"), ("violet", "flower"), ("flower", "thing"),
        ...            ("truck", "thing")], classes=["rose", "violet", "truck"], temperature=2)
        >>> S.to_dense()
        tensor([[1.0000, 0.3679, 0.2231],
                [0.3679, 1.0000, 0.2231],
                [0.2231, 0.2231, 1.0000]], dtype=torch.float64)
    """
    temperature = _checks.positive("temperature", temperature)
    source = "`edges`"
    if hasattr(edges, "edges"):
        raise TypeError(
            f"`edges` must be pairs of nodes, with or without a length, but got a "
            f"{type(edges).__name__}; from a networkx graph, pass "
            f"`graph.edges(data='weight', default=1)`."
        )
    if isinstance(edges, Mapping):
        raise TypeError(
            "`edges` must be pairs of nodes, with or without a length, but got a dict, which "
            "yields its keys; pass `[(a, b, length) for (a, b), length in edges.items()]`."
        )
    if isinstance(edges, (str, PathLike)):
        source = str(edges)
        lines = read_lines(edges)
        edges = lines[1:] if header else lines
    if classes is None:
        _checks.in_class_order("edges", edges)
    lengths = _lengths(edges, source)
    nodes = list(dict.fromkeys(node for edge in lengths for node in edge))
    _checks.in_class_order("classes", classes)
    chosen = nodes if classes is None else [*classes]
    names = _checks.class_names(chosen, len(chosen))
    assert names is not None
    _checks.not_empty("classes", names)
    place = {node: i for i, node in enumerate(nodes)}
    for name in names:
        if name not in place:
            remedy = _checks.nearest_spelling(name, nodes)
            raise ValueError(f"`classes` must be nodes of {source}, but {name!r} is not{remedy}.")
    at = [place[name] for name in names]
    shortest = _shortest(lengths, place, at, directed)
    matrix = torch.from_numpy(np.exp(-shortest / temperature)).fill_diagonal_(1)
    return DenseSimilarity(len(names), {"matrix": matrix}, names=names)


def _lengths(edges: Iterable[Sequence[Any]], source: str) -> Edges:
    lengths: Edges = {}
    for number, edge in enumerate(edges, 1):
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) not in (2, 3):
            raise ValueError(
                f"{source} must hold two nodes and optionally a length per edge, but edge {number} "
                f"is {edge!r}."
            )
        pair = str(edge[0]).strip(), str(edge[1]).strip()
        if any(map(_checks.is_missing, edge[:2])) or not all(pair):
            raise ValueError(f"{source} must have no gaps, but edge {number} is {edge!r}.")
        length = _length(edge[2], number, source) if len(edge) == 3 else 1.0
        lengths[pair] = min(length, lengths.get(pair, length))
    if not lengths:
        raise ValueError(f"{source} must hold at least one edge, but it is empty.")
    return lengths


def _length(value: Any, number: int, source: str) -> float:
    try:
        length = float(value)
    except (TypeError, ValueError):
        length = float("nan")
    if not 0 < length < float("inf"):
        remedy = "; if the first line is a header, pass `header`" if number == 1 else ""
        raise ValueError(
            f"{source} must have finite lengths above 0, but edge {number} has {value!r}{remedy}."
        )
    return length


def _shortest(
    lengths: Edges, place: dict[str, int], at: list[int], directed: bool
) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The length of the shortest path between each two classes, (C, C)."""
    sparse = _checks.installed("scipy.sparse", "cli")
    csgraph = _checks.installed("scipy.sparse.csgraph", "cli")
    if not directed:
        both = {**lengths}
        for (a, b), length in lengths.items():
            both[b, a] = min(length, both.get((b, a), length))
        lengths = both
    row = [place[a] for a, _ in lengths]
    column = [place[b] for _, b in lengths]
    size = len(place)
    table = sparse.csr_array(([*lengths.values()], (row, column)), shape=(size, size))
    return np.asarray(csgraph.dijkstra(table, directed=True, indices=at)[:, at])
