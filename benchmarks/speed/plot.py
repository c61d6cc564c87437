"""How the time grows, as an SVG that needs nothing to be looked at."""

import math
from typing import Any

Record = dict[str, Any]

WIDTH, HEIGHT, MARGIN = 460, 300, 52
COLORS = ("#222222", "#1f77b4", "#2ca02c", "#9467bd", "#d62728", "#ff7f0e")


def growth_figure(records: list[Record]) -> str:
    """Two panels on logarithmic axes: time over the classes, and over the examples."""
    names = list(dict.fromkeys(record["name"] for record in records))
    # One shape is measured for both panels; the later figure counts.
    last = {(record["name"], *record["shape"]): record for record in records}
    records = sorted(last.values(), key=lambda record: record["shape"])
    panels = [
        _panel([r for r in records if r["shape"][0] == 256], 1, "classes (256 examples)", names, 0),
        _panel(
            [r for r in records if r["shape"][1] == 1000], 0, "examples (1,000 classes)", names, 1
        ),
    ]
    legend = [
        f'<text x="{MARGIN + 190 * (i % 3)}" y="{HEIGHT + 18 + 18 * (i // 3)}" '
        f'fill="{COLORS[i % len(COLORS)]}">■ {name}</text>'
        for i, name in enumerate(names)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT + 50}" '
        f'font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join([*panels, *legend])
        + "\n</svg>\n"
    )


def _panel(records: list[Record], axis: int, label: str, names: list[str], place: int) -> str:
    xs = [math.log10(record["shape"][axis]) for record in records]
    ys = [math.log10(record["seconds"] * 1e3) for record in records]
    x_low, x_high, y_low, y_high = min(xs), max(xs), math.floor(min(ys)), math.ceil(max(ys))
    left = place * WIDTH + MARGIN

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low) * (WIDTH - MARGIN - 12)
        up = (y - y_low) / (y_high - y_low) * (HEIGHT - MARGIN - 12)
        return left + across, HEIGHT - MARGIN - up

    parts = [_axes(at, x_low, x_high, y_low, y_high)]
    for i, name in enumerate(names):
        points = [at(x, y) for x, y, r in zip(xs, ys, records, strict=True) if r["name"] == name]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        color = COLORS[i % len(COLORS)]
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
    middle = left + (WIDTH - MARGIN) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{label}</text>')
    return "\n".join(parts)


def _axes(at: Any, x_low: float, x_high: float, y_low: int, y_high: int) -> str:
    parts = []
    for y in range(y_low, y_high + 1):
        (x1, y1), (x2, _) = at(x_low, y), at(x_high, y)
        text = f"{10.0**y:g} ms"
        parts.append(f'<line x1="{x1}" x2="{x2}" y1="{y1}" y2="{y1}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x1 - 4}" y="{y1 + 4}" text-anchor="end">{text}</text>')
    for x in range(math.ceil(x_low), math.floor(x_high) + 1):
        x1, y1 = at(x, y_low)
        parts.append(f'<text x="{x1}" y="{y1 + 16}" text-anchor="middle">{10**x:,}</text>')
    return "\n".join(parts)
