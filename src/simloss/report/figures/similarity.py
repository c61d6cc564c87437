"""The similarity of the run, as a heat map."""

from typing import Any

from ...similarity import Similarity
from .style import SCALE, Figure, heat_map, rounded


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
