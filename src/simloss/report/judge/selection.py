"""Which treatments the figures show: the chosen ones, and a few values round them."""

import math

from .candidates import score
from .findings import Finding
from .results import Results, Row

# Treatments whose arrays are read, values a family in a figure of curves, families in any figure.
_MOST_ROWS = 36
_MOST_CURVES = 4
_MOST_FAMILIES = 14  # as many as there are colours
_MOST_POINTS = 40


def best_of_each(results: Results, findings: tuple[Finding, ...]) -> list[Row]:
    """Cross entropy, and of each family the treatment chosen under the first rule."""
    families = best_families(results, findings)
    return [
        each.row
        for each in findings
        if each.rule == results.rules[0] and (each.row.is_baseline or each.row.family in families)
    ]


def best_families(results: Results, findings: tuple[Finding, ...]) -> dict[str, list[Row]]:
    """All families in their order; of too many to tell apart, the best on validation data."""
    families = results.families()
    scores = dict.fromkeys(families, -math.inf)
    for each in findings:
        if each.row.family in scores:
            value = score(results, each.row, each.rule)
            scores[each.row.family] = max(scores[each.row.family], value)
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:_MOST_FAMILIES]
    return {name: rows for name, rows in families.items() if name in best}


def values_of_families(
    results: Results, findings: tuple[Finding, ...], most: int | None = None
) -> dict[str, list[Row]]:
    """Family -> some of its treatments in the order of their values, the chosen ones among them."""
    families = best_families(results, findings)
    most = most or max(2, _MOST_ROWS // max(1, len(families)))
    chosen = {id(each.row) for each in findings}
    return {name: _some(rows, chosen, most) for name, rows in families.items()}


def curves_of_families(results: Results, findings: tuple[Finding, ...]) -> dict[str, list[Row]]:
    """The same, few enough to be told apart as curves."""
    return values_of_families(results, findings, _MOST_CURVES)


def points_of_families(results: Results, findings: tuple[Finding, ...]) -> dict[str, list[Row]]:
    """The same, few enough to be told apart as points."""
    return values_of_families(results, findings, _MOST_POINTS)


def _some(rows: list[Row], chosen: set[int], most: int) -> list[Row]:
    """At most `most` rows: the chosen ones, then those spread evenly over the values."""
    ordered = sorted(rows, key=lambda row: (row.value is not None, row.value or 0.0))
    if len(ordered) <= most:
        return ordered
    kept = [i for i, row in enumerate(ordered) if id(row) in chosen][:most]
    spread = [round(k * (len(ordered) - 1) / (most - 1)) for k in range(most)]
    for i in spread:
        if len(kept) < most and i not in kept:
            kept.append(i)
    return [ordered[i] for i in sorted(kept)]
