"""What is said of each row of a new table beside its answer: which it is, and how unheard of."""

import datetime
from typing import Any

from torch import Tensor

from ...data import Encoder
from ...data.columns import Column, as_text, names_rows
from ...data.encoder import by_column

# A new row is easily a little beyond the training rows. This share of their range is far.
_FAR = 0.1


def identifiers(frame: Any, known: set[str]) -> dict[str, list[Any]]:
    """The columns that identify a row, by heading: not used by the net, each cell another."""
    return {
        str(name): frame[name].tolist()
        for name in frame.columns
        if str(name) not in known and (names_rows(str(name)) or _is_unique(frame[name]))
    }


def _is_unique(cells: Any) -> bool:
    texts = as_text(cells)
    return None not in texts and len(set(texts)) == len(texts)


def outside(encoder: Encoder, frame: Any, cells: Tensor) -> list[str | None] | None:
    """What lies far outside the training part, row by row; None of a model that does not know it.

    Args:
        encoder: with the range of each column.
        frame: the table as it was read.
        cells: its numbers but for texts, (N, K).
    """
    if not encoder.ranges:
        return None
    facts: list[list[str]] = [[] for _ in range(len(cells))]
    numbers = by_column([each for each in encoder.columns if each.kind != "text"], cells)
    for (column, some), ends in zip(numbers, encoder.ranges, strict=False):
        if some.ndim > 1:
            continue
        for row in _far(some, ends).nonzero().flatten().tolist():
            facts[row].append(
                f"{column.name} {frame[column.name].iloc[row]} {_trained(column, ends)}"
            )
    return ["; ".join(some) or None for some in facts]


def _far(cells: Tensor, ends: tuple[float, ...]) -> Tensor:
    if not ends:
        return cells == -1  # a category never seen
    margin = _FAR * (ends[1] - ends[0])
    return (cells < ends[0] - margin) | (cells > ends[1] + margin)


def _trained(column: Column, ends: tuple[float, ...]) -> str:
    if not ends:
        return "(never seen)"
    if column.kind == "rank":
        return "(not trained on)"
    low, high = (_day(end) if column.kind == "date" else f"{end:.6g}" for end in ends)
    return f"(trained on {low} to {high})"


def _day(number: float) -> str:
    """A number of days since 1970 as a date; what a calendar does not have, as its nearest end."""
    ordinal = datetime.date(1970, 1, 1).toordinal() + int(number)
    return str(datetime.date.fromordinal(min(max(ordinal, 1), datetime.date.max.toordinal())))
