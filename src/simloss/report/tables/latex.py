"""The tables as LaTeX, in the paper's layout; they need only booktabs."""

from ...metrics import Metric
from ..judge.paper_table import Entry, Line, Table, caption, parameter
from ..judge.results import Results, Row
from ..judge.verdict import Verdict
from ..judge.wording import answered_by

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": "$-$",
    "–": "--",
    "τ": r"$\tau$",
    "κ": r"$\kappa$",
}


def latex_of(verdict: Verdict) -> str:
    """One table environment per decision rule."""
    return "\n".join(_environment(verdict.results, table) for table in verdict.tables)


def _environment(results: Results, table: Table) -> str:
    count = len(table.columns)
    names = " & ".join(escaped(metric.label) for metric in table.columns)
    title = f"{results.config.name}, answered by {answered_by(table.rule)}. {caption(results)}"
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(title)}}}",
        rf"\begin{{tabular}}{{@{{}}l{'r' * count}@{{\hskip 12pt}}{'r' * count}@{{}}}}",
        r"\toprule",
        rf" & \multicolumn{{{count}}}{{c}}{{Validation}} & \multicolumn{{{count}}}{{c}}{{Test}} \\",
        rf"\cmidrule(r){{2-{count + 1}}} \cmidrule{{{count + 2}-{2 * count + 1}}}",
        rf" & {names} & {names} \\",
    ]
    for family, group in table.groups.items():
        lines += [r"\midrule", *_group(family, group, table.columns)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _group(family: str, group: list[Line], columns: list[Metric]) -> list[str]:
    """A family: one line, or its name and a line per value."""
    if len(group) == 1:
        return [_line(escaped(group[0].row.label), group[0], columns)]
    head = rf"\multicolumn{{{2 * len(columns) + 1}}}{{@{{}}l}}{{{escaped(family)}}} \\"
    return [head, *(_line(rf"\quad {_value(line.row)}", line, columns) for line in group)]


def _value(row: Row) -> str:
    """The parameter in math mode; a dash, outside of it, for none."""
    shown = escaped(parameter(row))
    return shown if row.value is None else f"${escaped(row.symbol)} = {shown}$"


def _line(name: str, line: Line, columns: list[Metric]) -> str:
    cells = [
        _entry(metric, entry)
        for part in ("validation", "test")
        for metric, entry in zip(columns, line.parts[part], strict=True)
    ]
    return " & ".join([name, *cells]) + r" \\"


def _entry(metric: Metric, entry: Entry) -> str:
    text = escaped(metric.format(entry.mean))
    if entry.is_best:
        return rf"\textbf{{{text}}}"
    return text + (f"$^{{{entry.mark}}}$" if entry.mark else "")


def escaped(text: str) -> str:
    r"""Text escaped for LaTeX.

    Example:
        >>> print(escaped("50 % of a_b"))
        50 \% of a\_b
    """
    return "".join(_SPECIAL.get(character, character) for character in text)
