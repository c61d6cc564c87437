"""How the time grows, and what a loss costs, as pictures."""

import math
from typing import Any

from tools.chart import COLORS, Axis, Panel, picture

Record = dict[str, Any]

# Far off the scale of the others in the README's picture.
LEFT_OUT = ("ProperSimLoss, sparse (50 per row)", "plain proper formula")


def growth_figure(records: list[Record]) -> str:
    """Two panels on logarithmic axes: time over the classes, and over the examples."""
    names = list(dict.fromkeys(record["name"] for record in records))
    # One shape is measured for both panels; the later figure counts.
    last = {(record["name"], *record["shape"]): record for record in records}
    records = sorted(last.values(), key=lambda record: record["shape"])
    times = [record["seconds"] * 1e3 for record in records]
    time = _decades("time of a step", min(times), max(times), " ms")
    panels = [
        _growth([r for r in records if r["shape"][0] == 256], 1, "classes (256 examples)", time, 0),
        _growth(
            [r for r in records if r["shape"][1] == 1000], 0, "examples (1,000 classes)", time, 1
        ),
    ]
    return picture(panels, [(name, _color(names, name)) for name in names])


def _growth(records: list[Record], axis: int, label: str, time: Axis, place: int) -> Panel:
    names = list(dict.fromkeys(record["name"] for record in records))
    sizes = [record["shape"][axis] for record in records]
    low, high = min(sizes), max(sizes)
    ticks = [t for t in _decades(label, low, high).ticks if low <= t[0] <= high]
    panel = Panel(Axis(label, low, high, ticks, logarithmic=True), time, place)
    for name in names:
        points = [
            (float(r["shape"][axis]), r["seconds"] * 1e3) for r in records if r["name"] == name
        ]
        panel.line(points, _color(names, name))
    return panel


def cost_figure(records: list[Record]) -> str:
    """Time and peak memory of a step over cross entropy's, at the four shapes."""
    flat = [record for record in records if len(record["shape"]) == 2 and record.get("memory")]
    shapes = list(dict.fromkeys(tuple(record["shape"]) for record in flat))
    names = list(dict.fromkeys(r["name"] for r in flat if r["name"] not in LEFT_OUT))
    where = Axis(
        "logits",
        -0.3,
        len(shapes) - 0.7,
        [(i, f"{s[0]:,} x {s[1]:,}") for i, s in enumerate(shapes)],
    )
    plain = {tuple(r["shape"]): r for r in flat if r["name"] == names[0]}
    panels = []
    for place, (title, value) in enumerate(
        (
            ("time of a step, times F.cross_entropy", lambda r: r["ratio"]),
            (
                "peak memory, times F.cross_entropy",
                lambda r: r["memory"]["growth"] / plain[tuple(r["shape"])]["memory"]["growth"],
            ),
        )
    ):
        values = [value(record) for record in flat if record["name"] in names]
        scale = [0.25, 0.5, 1, 2, 4, 8, 16, 32]
        low, high = min(values) * 0.9, max(values) * 1.1
        ticks = [(tick, f"{tick:g}") for tick in scale if low <= tick <= high]
        panel = Panel(where, Axis(title, low, high, ticks, logarithmic=True), place)
        for name in names:
            found = {tuple(r["shape"]): value(r) for r in flat if r["name"] == name}
            points = [(float(i), found[shape]) for i, shape in enumerate(shapes) if shape in found]
            ours = "Loss," in name or name == names[0]
            panel.line(points, _color(names, name), dash="" if ours else "5 4")
            for point in points:
                panel.mark(point, _color(names, name), size=3)
        panels.append(panel)
    return picture(panels, [(name, _color(names, name)) for name in names])


def _color(names: list[str] | tuple[str, ...], name: str) -> str:
    more = (*COLORS, "#bcbd22", "#e377c2", "#7f7f7f")
    return more[list(names).index(name) % len(more)]


def _decades(label: str, low: float, high: float, unit: str = "") -> Axis:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [(10.0**power, f"{10.0**power:,g}{unit}") for power in range(first, last + 1)]
    return Axis(label, 10.0**first, 10.0**last, ticks, logarithmic=True)
