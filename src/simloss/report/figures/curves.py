"""Which output distributions the page draws together, and in which colours."""

from dataclasses import dataclass
from typing import Any

from ..judge.results import Row
from ..judge.run import Run
from ..judge.selection import best_of_each, curves_of_families
from .distributions import Distributions, fitting
from .outputs import Outputs
from .style import PALETTE, colour, dash

# From cool to warm as the parameter grows, distinguishable with any colour vision.
_BY_VALUE = (PALETTE[5], PALETTE[0], PALETTE[4], PALETTE[1])


@dataclass(frozen=True)
class Group:
    """Treatments whose curves share a figure.

    Attributes:
        label: its name in the page's selector.
        rows: the treatments, cross entropy first.
        by_value: whether they are values of one family, which would otherwise share a colour.
    """

    label: str
    rows: list[Row]
    by_value: bool


class Curves:
    """The distributions that fit on the page; rows are added one by one."""

    def __init__(self, run: Run) -> None:
        best = best_of_each(run.results, run.verdict.findings)
        groups = _groups(run, best)
        every = list({id(row): row for group in groups for row in group.rows}.values())
        parts, all_fit = fitting(run.classes, len(every), len(best))
        self.results = run.results
        self.groups = groups if all_fit else groups[:1]
        self.rows = every if all_fit else best
        self._made = Distributions(run.classes, parts, max(1, len(self.rows)))
        self._places: dict[int, int] = {}

    def add(self, row: Row, outputs: Outputs) -> None:
        """Add a treatment's outputs."""
        self._places[id(row)] = len(self._places)
        self._made.add(row, outputs)

    def as_dict(self) -> dict[str, Any]:
        """For the page's script."""
        groups = [{"label": group.label, "curves": self._styled(group)} for group in self.groups]
        return self._made.as_dict([group for group in groups if group["curves"]])

    def _styled(self, group: Group) -> list[dict[str, Any]]:
        shades = iter(_BY_VALUE)
        return [
            {
                "curve": self._places[id(row)],
                "colour": next(shades)
                if group.by_value and not row.is_baseline
                else colour(self.results, row),
                "dash": dash(self.results, row),
            }
            for row in group.rows
            if id(row) in self._places
        ]


def _groups(run: Run, best: list[Row]) -> list[Group]:
    """The best of each loss, then each loss by its parameter."""
    base = [run.results.baseline] if run.results.baseline else []
    families = curves_of_families(run.results, run.verdict.findings)
    return [
        Group("the best of each loss", best, by_value=False),
        *(
            Group(f"{family} by {rows[-1].symbol}", [*base, *rows], by_value=True)
            for family, rows in families.items()
            if len(rows) > 1
        ),
    ]
