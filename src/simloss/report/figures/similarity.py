"""The similarity that was used, as a heat map, and whether mistakes know of it."""

from typing import Any

import numpy as np

from ...similarity import Similarity
from ...statistics import Relabelling
from .style import BLACK, GREY, SCALE, Figure, axis, heat_map, layout, rounded


def similarity(known: Similarity, *, is_ordered: bool) -> Figure:
    """:func:`simloss.similarity.figure` in the page's style; similar classes side by side."""
    picture: dict[str, Any] = known.figure(order="given" if is_ordered else "clustered").to_dict()
    heat = picture["data"][0]
    labels = [str(label) for label in heat["x"]]
    map_ = {
        "type": "heatmap",
        "z": [rounded(row, 3) for row in heat["z"]],
        "zmin": 0,
        "zmax": 1,
        "colorscale": SCALE,
        "colorbar": {"title": {"text": "similarity"}, "thickness": 10, "len": 0.9},
        "hovertemplate": "%{customdata}<br>similarity %{z:.3f}<extra></extra>",
    }
    return heat_map(map_, labels)


def relabelled(found: Relabelling | None) -> Figure | None:
    """How well the similarity fits the mistakes, beside the same under random relabelling."""
    if found is None or not found.can_tell:
        return None
    counts, edges = np.histogram(found.relabelled, bins=30)
    bars = {
        "type": "bar",
        "name": "relabelled at random",
        "x": rounded((edges[:-1] + edges[1:]) / 2),
        "y": rounded(counts / counts.sum()),
        "marker": {"color": GREY},
        "hovertemplate": "fit %{x:.3f}: %{y:.1%} of relabellings<extra></extra>",
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "as claimed",
        "x": rounded([found.fit, found.fit]),
        "y": rounded([0.0, float(counts.max() / counts.sum())]),
        "line": {"color": BLACK, "width": 3},
        "hovertemplate": "as claimed: %{x:.3f}<extra></extra>",
    }
    x, y = axis("fit with cross entropy's mistakes (correlation)"), axis("", tickformat=".0%")
    return {"data": [bars, line], "layout": layout(x, y, height=260, bargap=0)}
