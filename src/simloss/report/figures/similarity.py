"""The similarity that was used, as a heat map."""

from typing import Any

from ...similarity import Similarity
from .style import SCALE, Figure, axis, layout, plain, rounded, ticks


def similarity(known: Similarity, *, is_ordered: bool) -> Figure:
    """:func:`simloss.similarity.figure` in the page's clothes; alike classes side by side."""
    picture: dict[str, Any] = known.figure(order="given" if is_ordered else "clustered").to_dict()
    heat = picture["data"][0]
    labels = [str(label) for label in heat["x"]]
    names = [plain(label, 30) for label in labels]
    map_ = {
        "type": "heatmap",
        "z": [rounded(row, 3) for row in heat["z"]],
        "zmin": 0,
        "zmax": 1,
        "colorscale": SCALE,
        "colorbar": {"title": {"text": "similarity"}, "thickness": 10, "len": 0.9},
        "hovertemplate": "%{z:.3f}<extra></extra>",
    }
    if len(names) <= 40:
        map_["customdata"] = [[f"{t} and {a}" for a in names] for t in names]
        map_["hovertemplate"] = "%{customdata}<br>similarity %{z:.3f}<extra></extra>"
    x = axis("answered", showgrid=False, constrain="domain", **ticks(labels))
    y = axis(
        "true class",
        showgrid=False,
        autorange="reversed",
        scaleanchor="x",
        constrain="domain",
        **ticks(labels),
    )
    return {"data": [map_], "layout": layout(x, y, height=460)}
