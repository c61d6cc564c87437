"""All figures of a run, and the few numbers beside them.

The arrays of each treatment are read in turn, reduced to what the page shows, and dropped:
a grid may hold far more than fits in memory.
"""

from dataclasses import dataclass, field
from typing import Any

from ... import metrics
from ..judge.results import Row
from ..judge.run import Run
from ..judge.selection import best_of_each, values_of_families
from ..judge.wording import answered_by
from .calibration import calibration
from .confusion import Mistake, confusion, costliest
from .curves import Curves
from .outputs import Floats, Outputs, outputs_of
from .parameter import against_parameter, on_one_scale, parameters
from .style import Figure
from .summary import summary
from .tradeoff import tradeoff
from .training import training
from .usage import Shares, effective_numbers, strips

# The number of seeds per treatment whose training is averaged.
_HISTORIES = 10


@dataclass
class Gallery:
    """The result of :func:`gallery`.

    Attributes:
        plots: place on the page -> variant -> figure.
        outputs: the data of the two figures that the page's script draws.
        parameter_plots: (place, title) of the plots against the parameter.
        parameter_metrics: (variant, label) of these plots.
        effective_plots: (place, title) of the plots of the number of classes in use.
        strip_families: (variant, label) of the plot of classes in use.
        confusion_variants: (variant, label) of the confusion heat map.
        mistakes: (variant, the costliest confusions).
    """

    plots: dict[str, dict[str, Figure]] = field(default_factory=dict)
    outputs: dict[str, Any] | None = None
    parameter_plots: list[tuple[str, str]] = field(default_factory=list)
    parameter_metrics: list[tuple[str, str]] = field(default_factory=list)
    effective_plots: list[tuple[str, str]] = field(default_factory=list)
    strip_families: list[tuple[str, str]] = field(default_factory=list)
    confusion_variants: list[tuple[str, str]] = field(default_factory=list)
    mistakes: list[tuple[str, list[Mistake]]] = field(default_factory=list)

    def hang(self, place: str, figure: Figure | None, variant: str = "0") -> None:
        """Put a figure on the page, if there is one."""
        if figure is not None:
            self.plots.setdefault(place, {})[variant] = figure


def gallery(run: Run) -> Gallery:
    """Every figure that the run's records and arrays allow."""
    made = Gallery()
    if not run.is_one_net:  # with which there is nothing to compare
        made.hang("summary", summary(run.verdict))
        made.hang("tradeoff", tradeoff(run.verdict))
    _add_parameters(made, run)
    _add_arrays(made, run)
    best = best_of_each(run.results, run.verdict.findings)
    made.hang("training", training(run.results, _histories(run, best)))
    return made


def _add_parameters(made: Gallery, run: Run) -> None:
    shown = run.results.columns_main_first
    made.parameter_metrics = [(name, metrics.find(name).label) for name in shown]
    kinds = parameters(run.verdict)
    for symbol in kinds:
        for rule in run.results.rules:
            place = f"parameter-{len(made.parameter_plots)}"
            kind = f", over {symbol}" if len(kinds) > 1 else ""
            plots = {name: against_parameter(run.verdict, symbol, rule, name) for name in shown}
            if all(y is None for line in plots[shown[0]]["data"] for y in line["y"]):
                continue  # a rule that only rivals answer by, which have no parameter
            made.parameter_plots.append((place, f"Answered by {answered_by(rule)}{kind}"))
            for name, plot in plots.items():
                made.hang(place, plot, name)
    for name in shown:
        on_one_scale([made.plots[place][name] for place, _ in made.parameter_plots])


def _add_arrays(made: Gallery, run: Run) -> None:
    """Everything that needs the arrays beside the records."""
    results, findings = run.results, run.verdict.findings
    families = values_of_families(results, findings)
    best = best_of_each(results, findings)
    curves = Curves(run)
    base = [results.baseline] if results.baseline else []
    rows = _unique(
        [*base, *(row for members in families.values() for row in members), *curves.rows]
    )
    shares: Shares = []
    bins: list[tuple[Row, Floats]] = []
    truth: Floats | None = None
    for row, outputs in outputs_of(run.folder, rows, len(run.classes)):
        truth = outputs.truth("test") if truth is None else truth
        shares.append((row, outputs.shares(results.rules[0])))
        if _holds(best, row):
            bins.append((row, outputs.calibration))
        if _holds(curves.rows, row):
            curves.add(row, outputs)
        _add_confusion(made, run, row, outputs)
    if truth is not None:
        made.outputs = curves.as_dict()
        made.hang("calibration", calibration(results, _in_order(best, bins)))
        _add_usage(made, run, families, shares, truth)


def _add_confusion(made: Gallery, run: Run, row: Row, outputs: Outputs) -> None:
    """The confusions of cross entropy or the only net under every rule, and of the recommended."""
    best = run.verdict.recommendation
    rules = run.results.rules if row.is_baseline or run.is_one_net else ()
    if best is not None and best.row is row and not rules:
        rules = (best.rule,)
    for rule in rules:
        if rule in outputs.confusion:
            variant = str(len(made.confusion_variants))
            of = "" if run.is_one_net else f"{row.label}, "
            made.confusion_variants.append((variant, of + answered_by(rule)))
            made.hang("confusion", confusion(run.classes, outputs.confusion[rule]), variant)
            worst = costliest(run.classes, outputs.confusion[rule], run.costs)
            made.mistakes.append((variant, worst))


def _add_usage(
    made: Gallery, run: Run, families: dict[str, list[Row]], shares: Shares, truth: Floats
) -> None:
    for symbol in parameters(run.verdict):
        place = f"effective-{len(made.effective_plots)}"
        made.effective_plots.append((place, f"Effective number of classes, over {symbol}"))
        made.hang(place, effective_numbers(run.results, symbol, shares, truth))
    base = [each for each in shares if each[0].is_baseline]
    if not families:
        made.hang("strips", strips(run.classes, base, truth))
    for family, rows in families.items():
        variant = str(len(made.strip_families))
        members = _in_order(rows, shares)
        if members:
            made.strip_families.append((variant, family))
            made.hang("strips", strips(run.classes, [*base, *members], truth), variant)


def _histories(run: Run, rows: list[Row]) -> list[tuple[Row, list[list[dict[str, Any]]]]]:
    """The training of each row's seeds, read from the records in a second pass."""
    cells = {
        cell: i for i, row in enumerate(rows) for _, cell in sorted(row.cells.items())[:_HISTORIES]
    }
    found: list[list[list[dict[str, Any]]]] = [[] for _ in rows]
    for record in run.folder.each_record() if cells else ():
        if record["cell"] in cells and record.get("history"):
            found[cells[record["cell"]]].append(record["history"])
    return list(zip(rows, found, strict=True))


def _holds(rows: list[Row], row: Row) -> bool:
    return any(each is row for each in rows)


def _unique(rows: list[Row]) -> list[Row]:
    return list({id(row): row for row in rows}.values())


def _in_order(rows: list[Row], pairs: list[tuple[Row, Any]]) -> list[tuple[Row, Any]]:
    """The pairs of these rows, in the order of the rows."""
    return [pair for row in rows for pair in pairs if pair[0] is row]
