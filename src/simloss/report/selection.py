"""Which treatments the figures show: the chosen ones, and a few values round them."""

from .findings import Finding
from .results import Results, Row

# Treatments whose arrays are read, values a family in a figure of curves, families in any figure.
_MOST_ROWS = 36
_MOST_CURVES = 4
_MOST_FAMILIES = 8


def best_of_each(results: Results, findings: tuple[Finding, ...]) -> list[Row]:
    """Cross entropy, and of each family the treatment chosen under the first rule."""
    first = [each.row for each in findings if each.rule == results.rules[0]]
    return first[: _MOST_FAMILIES + 1]


def values_of_families(
    results: Results, findings: tuple[Finding, ...], most: int | None = None
) -> dict[str, list[Row]]:
    """Family -> some of its treatments in the order of their values, the chosen ones among them."""
    families = dict(list(results.families().items())[:_MOST_FAMILIES])
    most = most or max(2, _MOST_ROWS // max(1, len(families)))
    chosen = {id(each.row) for each in findings}
    return {name: _some(rows, chosen, most) for name, rows in families.items()}


def curves_of_families(results: Results, findings: tuple[Finding, ...]) -> dict[str, list[Row]]:
    """The same, few enough to be told apart as curves."""
    return values_of_families(results, findings, _MOST_CURVES)


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
