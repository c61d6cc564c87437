"""One self-contained page: it works offline and asks nobody for anything."""

import html
import json
from importlib.resources import files
from typing import Any

from .. import __version__, _checks
from .about_similarity import about_similarity
from .figures.style import axis, layout
from .gallery import Gallery, gallery
from .overview import overview_columns, overview_lines
from .page_tables import page_tables
from .run import Run
from .verdict import Verdict
from .words import answered_by, cut, noun, unit

_MOST_FAILURES = 200


def page(run: Run) -> str:
    """The report as HTML."""
    jinja2 = _checks.installed("jinja2", "cli")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"cut": cut, "tidy": _tidy}
    safe = jinja2.filters.do_mark_safe
    made = gallery(run)
    similarity = about_similarity(run)
    if similarity is not None:
        made.hang("similarity", similarity.figure)
    context = {
        **_head(run),
        **_overview(run.verdict),
        **page_tables(run.verdict),
        **_figures(run, made),
        "similarity": similarity,
        "sections": _sections(run, made, similarity is not None),
        "plot": lambda place, label: safe(_plot(place, label)),
        "css": safe(_template("style.css")),
        "script": safe(_template("script.js")),
        "plotly": safe(_plotly()),
        "figures_json": safe(_json(made)),
    }
    return str(environment.from_string(_template("report.html")).render(context))


def _tidy(text: str) -> str:
    """No line break inside "r = 0.8" and "5 %"."""
    return text.replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")


def _template(name: str) -> str:
    return files("simloss.report").joinpath("templates", name).read_text(encoding="utf-8")


def _plotly() -> str:
    offline: Any = _checks.installed("plotly.offline", "cli")
    return str(offline.get_plotlyjs()).replace("</script", "<\\/script")


def _plot(place: str, label: str) -> str:
    """An empty place for a figure; `label` is for those who cannot see it."""
    group = place.partition("-")[0]
    return (
        f'<div class="plot" data-figure="{place}" data-group="{group}" role="img" '
        f'aria-label="{html.escape(label)}"></div>'
    )


def _json(made: Gallery) -> str:
    """The figures inside a script element: no tag can begin or end in it."""
    everything = {
        "plots": made.plots,
        "outputs": made.outputs,
        "layout": layout({}, {}, height=380),
        "axis": axis(""),
    }
    text = json.dumps(everything, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _head(run: Run) -> dict[str, Any]:
    config = run.config
    treatments, seeds = len(config.treatments), len(config.seeds)
    facts = [
        f"data {config.data.source}" if config.data.source != config.name else "",
        f"{len(run.classes):,} classes" if len(run.classes) else "",
        f"net {config.model}",
        f"{treatments:,} treatment{'s' * (treatments != 1)}",
        f"{seeds:,} seed{'s' * (seeds != 1)}",
        " / ".join(f"{count:,} {part}" for part, count in run.sizes.items()),
    ]
    verdict = run.verdict
    mood = "helps" if verdict.helps else "" if verdict.can_tell else "tendency"
    hours = run.seconds / 3600
    took = f"{run.seconds:.0f} s" if run.seconds < 600 else f"{hours:.1f} h"
    return {
        "name": config.name,
        "version": __version__,
        "facts": [fact for fact in facts if fact],
        "verdict": verdict,
        "mood": mood,
        "config": run.folder.config_path.read_text(encoding="utf-8"),
        "made_with": f"Made with {', '.join(run.versions)}; {took} of training in all."
        if run.versions
        else "",
        "failures": _failures(run),
    }


def _failures(run: Run) -> list[str]:
    every = []
    for row in run.results.rows:
        by_error: dict[str, list[str]] = {}
        for seed, error in sorted(row.failures.items()):
            by_error.setdefault(error, []).append(str(seed))
        for error, seeds in by_error.items():
            which = f"seed{'s' * (len(seeds) != 1)} {cut(', '.join(seeds), 60)}"
            every.append(f"{cut(row.label, 60)}, {which}: {cut(error, 300)}")
    more = len(every) - _MOST_FAILURES
    return every[:_MOST_FAILURES] + ([f"and {more:,} more, see table.md"] if more > 0 else [])


def _overview(verdict: Verdict) -> dict[str, Any]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in overview_lines(verdict):
        label = cut(each.finding.row.label, 60)
        line = {"label": label, "cells": each.cells, "is_recommended": each.is_recommended}
        groups.setdefault(answered_by(each.finding.rule), []).append(line)
    baseline = verdict.results.baseline
    return {
        "finding_columns": overview_columns(verdict),
        "finding_groups": list(groups.items()),
        "measured": _measured(verdict),
        "can_tell": verdict.can_tell,
        "has_bars": baseline is not None and len(baseline.cells) > 1,
    }


def _measured(verdict: Verdict) -> str:
    """The title of the first figure: "Mean error on test data, in years"."""
    title = noun(verdict.results.metric).removeprefix("the ")
    measured = unit(verdict.results.metric, verdict.results)
    return f"{title[0].upper()}{title[1:]} on test data" + (f", in {measured}" if measured else "")


def _figures(run: Run, made: Gallery) -> dict[str, Any]:
    outputs = made.outputs
    has_outputs = bool(outputs and outputs["groups"])
    if not has_outputs:
        made.outputs = None
    places = set(made.plots) | ({"outputs"} if has_outputs else set())
    return {
        "figures": {name: name in places for name in _PLACES},
        "groups": [group["label"] for group in outputs["groups"]] if outputs else [],
        "parts": outputs["parts"] if outputs else [],
        "selectable": outputs["classes"] if outputs else [],
        "first_class": outputs["first"] if outputs else 0,
        "outputs_note": _outputs_note(run, outputs),
        "parameter_plots": made.parameter_plots,
        "parameter_metrics": made.parameter_metrics,
        "effective_plots": made.effective_plots,
        "strip_families": made.strip_families,
        "confusion_variants": made.confusion_variants,
        "costliest": made.mistakes,
        "cost_word": run.costs.word,
        "confusion_note": run.costs.note,
    }


_PLACES = (
    "summary",
    "outputs",
    "tradeoff",
    "strips",
    "confusion",
    "calibration",
    "training",
    "similarity",
)


def _outputs_note(run: Run, outputs: dict[str, Any] | None) -> str:
    if not outputs:
        return ""
    notes = []
    if len(outputs["labels"]) < len(run.classes):
        notes.append(f"{len(run.classes):,} classes are put into {len(outputs['labels'])} bins.")
    if len(outputs["classes"]) < len(run.classes):
        notes.append(f"{len(outputs['classes'])} of them can be chosen.")
    if len(outputs["parts"]) == 1:
        notes.append("To keep the page small it holds the test part only.")
    return " ".join(notes)


def _sections(run: Run, made: Gallery, has_similarity: bool) -> list[tuple[str, str]]:
    """The table of contents: what is there."""
    plots = made.plots
    wanted = [
        ("overview", "At a glance", "summary" in plots),
        ("tradeoff", "Trade-off", "tradeoff" in plots),
        ("parameter", "Parameter", bool(made.parameter_plots)),
        ("outputs", "Outputs", made.outputs is not None),
        ("usage", "Classes in use", "strips" in plots),
        ("confusion", "Mistakes", "confusion" in plots),
        ("trust", "Calibration and training", "calibration" in plots or "training" in plots),
        ("results", "All results", bool(run.results.done)),
        ("failed", "Failed runs", any(row.failures for row in run.results.rows)),
        ("similarity", "The similarity", has_similarity),
        ("rerun", "Run it again", True),
    ]
    return [(place, title) for place, title, is_there in wanted if is_there]
