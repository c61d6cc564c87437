"""The pictures of docs/gallery.md, made by the blocks of the page: `python -m tools.gallery`."""

import re
from html import escape
from pathlib import Path
from typing import Any

from tools.chart import COLORS, Axis, Panel, picture

from simloss import Similarity

PAGE = Path(__file__).parents[1] / "docs" / "gallery.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CELL, _SPACE = 22, 70


def pictures(text: str) -> list[str]:
    """The SVG of each block of a page that makes a `picture`."""
    known: dict[str, Any] = {}
    made = []
    for block in _BLOCK.findall(text):
        known.pop("picture", None)
        exec(compile(block, PAGE.name, "exec"), known)
        if "picture" in known:
            made.append(drawn(known["picture"]))
    return made


def drawn(what: Any) -> str:
    """A similarity as a heat map, named series over the classes as lines."""
    return heat_map(what) if isinstance(what, Similarity) else lines(what)


def heat_map(similarity: Similarity) -> str:
    """One square per pair of classes, the darker the more alike."""
    count = similarity.num_classes
    names = similarity.names or tuple(map(str, range(count)))
    size = _SPACE + _CELL * count + 4
    parts = [
        f'<rect x="{_SPACE + _CELL * j}" y="{_CELL * i + 4}" width="{_CELL}" height="{_CELL}" '
        f'fill="#003f6b" fill-opacity="{value:.2f}"/>'
        for i, row in enumerate(similarity.to_dense().tolist())
        for j, value in enumerate(row)
        if value >= 0.005
    ]
    for i, name in enumerate(names):
        place = _CELL * i + _CELL // 2 + 8
        parts.append(f'<text x="{_SPACE - 5}" y="{place}" text-anchor="end">{escape(name)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {_CELL * count + 8}" '
        f'width="{size}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def lines(series: dict[str, Any]) -> str:
    """A line for each name."""
    values = {name: [float(value) for value in each] for name, each in series.items()}
    count = len(next(iter(values.values())))
    top = 1.05 * max(max(each) for each in values.values())
    across = Axis("class", 0, count - 1, [(i, str(i)) for i in range(count)])
    up = Axis("", 0, top, [(top * i / 4, f"{top * i / 4:.2g}") for i in range(5)])
    panel = Panel(across, up)
    for color, each in zip(COLORS, values.values(), strict=False):
        panel.line([*enumerate(each)], color)
        for point in enumerate(each):
            panel.mark(point, color, size=3)
    return picture([panel], [*zip(values, COLORS, strict=False)])


def main() -> None:
    folder = PAGE.parent / "gallery"
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(pictures(PAGE.read_text(encoding="utf-8")), 1):
        (folder / f"{number}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
