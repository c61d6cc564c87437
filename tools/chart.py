"""Small charts as plain SVG: axes, lines, marks, a legend."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

COLORS = ("#222222", "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf")

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`, with labelled `ticks`."""

    label: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass
class Panel:
    """One chart of a picture; `place` counts from the left, `row` from the top."""

    x: Axis
    y: Axis
    place: int = 0
    row: int = 0
    width: int = 460
    height: int = 300
    margin: int = 52
    title: str = ""
    parts: list[str] = field(default_factory=list)

    def at(self, x: float, y: float) -> Point:
        """A point of the data in the picture."""
        across = self.x.share(x) * (self.width - self.margin - 16)
        up = self.y.share(y) * (self.height - 2 * self.margin + 12)
        bottom = (self.row + 1) * self.height - self.margin
        return self.place * self.width + self.margin + across, bottom - up

    def line(
        self, points: Sequence[Point], color: str, *, width: float = 2, dash: str = ""
    ) -> None:
        """Points of the data, joined."""
        drawn = " ".join("{:.1f},{:.1f}".format(*self.at(*point)) for point in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<polyline points="{drawn}" fill="none" stroke="{color}" '
            f'stroke-width="{width}"{dashed}/>'
        )

    def mark(self, point: Point, color: str, *, filled: bool = True, size: float = 5) -> None:
        """A dot, or a ring."""
        x, y = self.at(*point)
        inside = color if filled else "white"
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{inside}" stroke="{color}" '
            f'stroke-width="2"/>'
        )

    def text(
        self, point: Point, text: str, color: str = "black", *, dx: int = 9, dy: int = 4
    ) -> None:
        """Words beside a point; to its left if `dx` is negative."""
        x, y = self.at(*point)
        anchor = "end" if dx < 0 else "start"
        self.parts.append(
            f'<text x="{x + dx:.1f}" y="{y + dy:.1f}" fill="{color}" stroke="white" '
            f'stroke-width="3" paint-order="stroke" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def drawn(self) -> str:
        """Everything, the axes first."""
        return "\n".join([*self._axes(), *self.parts])

    def _axes(self) -> list[str]:
        left, right = self.at(self.x.low, self.y.low)[0], self.at(self.x.high, self.y.low)[0]
        bottom, top = self.at(self.x.low, self.y.low)[1], self.at(self.x.low, self.y.high)[1]
        parts = []
        for value, text in self.y.ticks:
            y = self.at(self.x.low, value)[1]
            parts.append(
                f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                f'<text x="{left - 5:.1f}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>'
            )
        for value, text in self.x.ticks:
            x = self.at(value, self.y.low)[0]
            parts.append(
                f'<text x="{x:.1f}" y="{bottom + 16:.1f}" '
                f'text-anchor="middle">{escape(text)}</text>'
            )
        middle = (left + right) / 2
        parts.append(
            f'<text x="{middle:.1f}" y="{bottom + 36:.1f}" '
            f'text-anchor="middle">{escape(self.x.label)}</text>'
        )
        heading = self.title or self.y.label
        weight = ' font-weight="bold"' if self.title else ""
        parts.append(f'<text x="{left:.1f}" y="{top - 12:.1f}"{weight}>{escape(heading)}</text>')
        return parts


def picture(panels: Sequence[Panel], legend: Sequence[tuple[str, str]] = ()) -> str:
    """Panels side by side and in rows, with a legend of colours below."""
    width = max((panel.place + 1) * panel.width for panel in panels)
    height = max((panel.row + 1) * panel.height for panel in panels)
    columns = max(1, width // 230)
    rows = -(-len(legend) // columns)
    words = [
        f'<text x="{52 + 222 * (i % columns)}" y="{height + 14 + 18 * (i // columns)}" '
        f'fill="{color}">{escape(name if name[0] in "○●" else f"■ {name}")}</text>'
        for i, (name, color) in enumerate(legend)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 18 * rows + 8}" '
        f'font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join([*(panel.drawn() for panel in panels), *words])
        + "\n</svg>\n"
    )
