"""What similarity gains on pretrained features, as a figure: `python -m tools.encoder_curves`.

docs/encoders.svg, from the records in experiments/encoders.
"""

from pathlib import Path

from .chart import COLORS, Axis, Panel, picture
from .results.encoder_gains import NAMES, SIZES, Gains, gains_in

ROOT = Path(__file__).parents[1]


def main() -> None:
    gains = gains_in(ROOT / "experiments" / "encoders")
    (ROOT / "docs" / "encoders.svg").write_text(chart(gains))


def chart(gains: Gains) -> str:
    """One line per data set, its 95 % intervals as thin lines."""
    every = [each for found in gains.values() for each in found.values()]
    ends = [each.percent + side * each.half for each in every for side in (-1, 1)]
    low, high = 5 * (min(ends) // 5), 5 * (-(-max(ends) // 5))
    ticks = [(value, f"{value:g} %") for value in range(int(low), int(high) + 1, 5)]
    places = {size: 1 + i for i, size in enumerate(SIZES)}
    panel = Panel(
        Axis("examples per class", 0.6, 6.4, [(at, size) for size, at in places.items()]),
        Axis("lower cost of mistakes than cross entropy under its best decision", low, high, ticks),
        width=760,
        height=380,
    )
    panel.line([(0.6, 0), (6.4, 0)], "#888888", width=1)
    for at, found in enumerate(gains.values()):
        color = COLORS[at % len(COLORS)]
        shift = 0.06 * (at - (len(gains) - 1) / 2)
        for size, each in found.items():
            x, up = places[size] + shift, each.percent + each.half
            panel.line([(x, each.percent - each.half), (x, up)], color, width=1)
        points = [(places[size] + shift, each.percent) for size, each in found.items()]
        panel.line(points, color)
        for point in points:
            panel.mark(point, color, size=3)
    legend = [(NAMES[name], COLORS[at % len(COLORS)]) for at, name in enumerate(gains)]
    return picture([panel], legend)


if __name__ == "__main__":
    main()
