"""The page: the verdict, the cost of each rule, and when it is better not to answer."""

from pathlib import Path
from typing import NamedTuple

from ...metrics import Curve, Reliability
from ..figures.style import BLACK, GREY, PALETTE, SYMBOLS, Figure, axis, layout, rounded
from ..judge.wording import cut
from ..page.shell import rendered
from .judged import Judged
from .passes import AS_IS, CALIBRATED
from .table import columns, rows
from .verdict import Verdict, number, percent

_MOST_CONFUSIONS = 15
_FEWEST = 10  # a bin with fewer examples says nothing
_COLOURS = {AS_IS: BLACK, CALIBRATED: PALETTE[0]}


def page(found: Judged, verdict: Verdict, path: Path, again: str) -> str:
    """The page as HTML; `again` is the command that answers new rows this way."""
    plots = {"abstain": {"all": _abstaining(found)}, "reliability": {"all": _reliability(found)}}
    if found.node_curve is not None:
        plots["nodes"] = {"all": _nodes(found.node_curve)}
    confusions = costliest(found)
    sections = [
        ("rules", "What each rule costs"),
        ("abstaining", "Answering less"),
        *([("mistakes", "The costliest mistakes")] if confusions else []),
        ("trust", "Calibration"),
        ("again", "Answer new rows"),
    ]
    context = {
        "name": path.name,
        "facts": _facts(found),
        "verdict": verdict,
        "sections": sections,
        "columns": columns(found),
        "rows": rows(found),
        "noun": found.mistakes.noun,
        "rule": found.mistakes.rule,
        "chosen": found.chosen.rule,
        "confusions": confusions,
        "has_nodes": found.node_curve is not None,
        "calibration": _calibration(found),
        "again": again,
    }
    return rendered("decide.html", context, plots)


def _facts(found: Judged) -> list[str]:
    order = found.mistakes.order
    return [
        f"{len(found.truth):,} examples",
        f"{len(order.names):,} classes: {cut(str(order), 160)}",
        f"cost: {found.mistakes.kind}",
    ]


def _calibration(found: Judged) -> list[tuple[str, str, str]]:
    before, after = found.calibration_error
    return [
        ("Negative log likelihood", number(found.nll[0]), number(found.nll[1])),
        ("Calibration error", percent(before), percent(after)),
    ]


class Confusion(NamedTuple):
    """One kind of mistake: the truth, the answer, how often and at what cost."""

    truth: str
    answer: str
    examples: str
    cost: str
    share: str


def costliest(found: Judged) -> list[Confusion]:
    """The mistakes of the chosen rule with the highest total cost."""
    answers, truth, mistakes = found.chosen.answers, found.truth, found.mistakes
    tree = mistakes.tree
    names = [*mistakes.order.names, *(tree.names[tree.num_classes :] if tree is not None else ())]
    codes, counts = (truth * len(names) + answers).unique(return_counts=True)
    y, a = codes // len(names), codes % len(names)
    costs = mistakes.of_answers(a, y)
    total = costs * counts
    best = total.argsort(descending=True, stable=True)[:_MOST_CONFUSIONS].tolist()
    everything = float(total.sum())
    return [
        Confusion(
            cut(names[int(y[at])], 40),
            cut(names[int(a[at])], 40),
            f"{int(counts[at]):,}",
            f"{float(costs[at]):,.3g}",
            percent(float(total[at]) / everything),
        )
        for at in best
        if float(total[at]) > 0
    ]


def _abstaining(found: Judged) -> Figure:
    lines = [
        _line(f"probabilities {kind}", curve, kind, at)
        for at, (kind, curve) in enumerate(found.curves.items())
    ]
    x = axis("share of examples that get an answer", tickformat=".0%", range=[0, 1])
    y = axis(f"{found.mistakes.heading} of these", rangemode="tozero")
    return {"data": lines, "layout": layout(x, y, height=360)}


def _line(name: str, curve: Curve, kind: str, place: int) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": rounded(curve.coverage),
        "y": rounded(curve.risk),
        "line": {"color": _COLOURS[kind], "width": 2, "dash": "solid" if place else "dash"},
        "text": [f"--abstain {each:.3g}" for each in curve.threshold],
        "hovertemplate": "%{x:.0%} answered: %{y:.3g}<br>%{text}<extra></extra>",
    }


def _nodes(curve: Curve) -> Figure:
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "",
        "x": rounded(curve.coverage),
        "y": rounded(curve.risk),
        "line": {"color": PALETTE[0], "width": 2},
        "text": [f"threshold {each:.3g}" for each in curve.threshold],
        "hovertemplate": "specific %{x:.0%}, wrong %{y:.1%}<br>%{text}<extra></extra>",
    }
    x = axis("how specific the answers are (1: classes, 0: the root)", range=[0, 1])
    y = axis("share of wrong answers", tickformat=".0%", rangemode="tozero")
    return {"data": [line], "layout": layout(x, y, height=360)}


def _reliability(found: Judged) -> Figure:
    diagonal = {
        "type": "scatter",
        "mode": "lines",
        "name": "perfectly calibrated",
        "x": [0, 1],
        "y": [0, 1],
        "line": {"color": GREY, "width": 1, "dash": "dash"},
        "hoverinfo": "skip",
    }
    points = [
        _bins(kind, each, at)
        for at, (kind, each) in enumerate(zip((AS_IS, CALIBRATED), found.reliability, strict=True))
    ]
    x = axis("largest probability", range=[0, 1], tickformat=".0%", constrain="domain")
    y = axis("share of right answers", range=[0, 1], tickformat=".0%")
    return {"data": [diagonal, *points], "layout": layout(x, y, height=400)}


def _bins(kind: str, bins: Reliability, place: int) -> Figure:
    kept = [at for at, count in enumerate(bins.count) if count >= _FEWEST]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": f"probabilities {kind}",
        "x": rounded([bins.confidence[at] for at in kept]),
        "y": rounded([bins.accuracy[at] for at in kept]),
        "line": {"color": _COLOURS[kind], "width": 2, "dash": "solid" if place else "dash"},
        "marker": {"symbol": SYMBOLS[place], "size": 7},
        "text": [f"{bins.count[at]:,} examples" for at in kept],
        "hovertemplate": "sure %{x:.0%}, right %{y:.0%}<br>%{text}<extra></extra>",
    }
