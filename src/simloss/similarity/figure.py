"""An interactive heat map of a similarity."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .matrix import as_similarity

# With more cells than this, the picture is noise and the file takes megabytes.
_CELLS_EACH_WAY = 300
_BLOCKS_EACH_WAY = 100


def figure(similarity: Any, *, order: str = "given") -> Any:
    """A heat map of S as a plotly figure, row = true class; hovering names the classes.

    With more than 300 classes it shows a summary: in the given order, the means of 100 x 100
    blocks of neighbouring classes; clustered, a sample of 300 classes.

    Args:
        similarity: any similarity.
        order: "given", or "clustered", which puts similar classes next to each other.

    Example:
        >>> from simloss.similarity import order
        >>> picture = order(5, r=0.5).figure()
        >>> picture.layout.title.text
        'order(5 classes, r=0.5)'
    """
    _checks.choice("order", order, ("given", "clustered"))
    whole = as_similarity(similarity).detached()
    title = repr(whole)
    if order == "given" and whole.num_classes > _CELLS_EACH_WAY:
        values, labels = block_means(whole, _BLOCKS_EACH_WAY)
        title += f", means of {len(values)} x {len(values)} blocks"
    else:
        classes = torch.arange(whole.num_classes)
        if whole.num_classes > _CELLS_EACH_WAY:
            generator = torch.Generator().manual_seed(0)
            classes = torch.randperm(whole.num_classes, generator=generator)[:_CELLS_EACH_WAY]
            title += f", a sample of {_CELLS_EACH_WAY} classes"
        if order == "clustered":
            classes = _clustered(whole, classes)
            title += ", clustered"
        values = whole.rows(classes, torch.float64)[:, classes]
        labels = [class_name(whole, int(i)) for i in classes]
    return _heat_map(values, labels, title)


def _heat_map(values: Tensor, labels: list[str], title: str) -> Any:
    graph = _checks.installed("plotly.graph_objects", "cli")
    heat = graph.Heatmap(
        z=values.tolist(),
        x=labels,
        y=labels,
        zmin=0,
        zmax=1,
        colorscale="Blues",
        colorbar={"title": "similarity"},
        hovertemplate="true %{y}<br>answer %{x}<br>similarity %{z:.3f}<extra></extra>",
    )
    picture = graph.Figure(heat)
    picture.update_layout(
        title=title,
        xaxis={"title": "answer", "type": "category", "constrain": "domain"},
        yaxis={
            "title": "true class",
            "type": "category",
            "autorange": "reversed",
            "scaleanchor": "x",
            "constrain": "domain",
        },
    )
    return picture


def block_means(whole: Similarity, count: int) -> tuple[Tensor, list[str]]:
    """The mean of S over blocks of neighbouring classes, and the name of each block."""
    block = torch.arange(whole.num_classes) * count // whole.num_classes  # (C)
    sums = torch.zeros(count, count, dtype=torch.float64)
    for some in whole._chunks():
        rows = whole.rows(some, torch.float64)
        wide = rows.new_zeros(len(some), count).index_add_(1, block, rows)
        sums.index_add_(0, block[some], wide)
    size = block.bincount().double()
    first = torch.searchsorted(block, torch.arange(count))
    last = first + size.long() - 1
    labels = [
        f"{class_name(whole, int(a))} to {class_name(whole, int(b))}"
        for a, b in zip(first, last, strict=True)
    ]
    return sums / size.unsqueeze(1) / size, labels


def _clustered(whole: Similarity, classes: Tensor) -> Tensor:
    """The classes in the order of the leaves of an average-linkage tree of 1 - S."""
    hierarchy = _checks.installed("scipy.cluster.hierarchy", "cli")
    if len(classes) < 3:
        return classes
    values = whole.rows(classes, torch.float64)[:, classes]
    distance = 1 - (values + values.T) / 2
    upper = torch.triu_indices(len(classes), len(classes), offset=1)
    pairs = distance[upper[0], upper[1]].clamp(min=0).numpy()
    leaves = hierarchy.leaves_list(hierarchy.linkage(pairs, "average", optimal_ordering=True))
    return classes[torch.from_numpy(leaves).long()]


def class_name(whole: Similarity, place: int) -> str:
    """The name of a class, or its number."""
    return whole.names[place] if whole.names else str(place)
