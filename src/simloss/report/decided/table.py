"""The cost of every rule, as a table for the terminal and the page."""

import math
from dataclasses import dataclass

from ..judge.terminal import aligned
from .estimates import Estimate, change
from .judged import Judged
from .verdict import number, percent, signed


@dataclass(frozen=True)
class Row:
    """One line of the table, as text.

    Attributes:
        rule: how it answers.
        cells: the other columns.
        is_chosen: whether it is the recommended one.
    """

    rule: str
    cells: tuple[str, ...]
    is_chosen: bool


def columns(found: Judged) -> tuple[str, ...]:
    """The headings of the cells."""
    heads = (
        "probabilities",
        found.mistakes.heading,
        "95 % interval",
        "change",
        "95 % interval",
        "right",
    )
    return (*heads, "quadratic κ") if found.mistakes.order.is_ordered else heads


def rows(found: Judged) -> list[Row]:
    """One per rule; the change is against the most probable class on the same examples."""
    made, chosen = [], found.chosen
    for line in found.lines:
        cost = Estimate.of(line.costs)
        cells = [
            line.probabilities or "–",
            number(cost.value),
            f"{number(cost.low)} to {number(cost.high)}",
        ]
        if line is found.baseline:
            cells += ["–", "–"]
        else:
            moved = change(line.costs, found.baseline.costs)
            is_known = not math.isnan(moved.value)
            cells.append(signed(moved.value) if is_known else "–")
            cells.append(f"{signed(moved.low)} to {signed(moved.high)}" if is_known else "–")
        cells.append(percent(line.accuracy))
        if found.mistakes.order.is_ordered:
            cells.append("–" if line.kappa is None else f"{line.kappa:.3f}")
        made.append(Row(line.rule, tuple(cells), line is chosen))
    return made


def as_text(found: Judged) -> str:
    """Aligned plain text; an arrow, explained below, marks the recommended rule."""
    lines = [["", "answer", *columns(found)]]
    lines += [["→" if row.is_chosen else "", row.rule, *row.cells] for row in rows(found)]
    return f"{aligned(lines)}\n   → what we would use"
