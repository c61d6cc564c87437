"""The page of a run, self-contained: it works offline and loads nothing."""

import os
import re
from pathlib import PurePath
from typing import Any

from ..figures.gallery import Gallery, gallery
from ..figures.similarity import relabelled
from ..judge.overview import overview_columns, overview_lines
from ..judge.run import Run
from ..judge.sentence import about_relabelling
from ..judge.verdict import Verdict
from ..judge.wording import answered_by, cut, noun, unit
from ..tables.page_tables import page_tables
from .about_similarity import about_similarity
from .shell import rendered

_MOST_FAILURES = 200


def page(run: Run) -> str:
    """The report as HTML."""
    made = gallery(run)
    similarity = about_similarity(run)
    if similarity is not None:
        made.hang("similarity", similarity.figure)
        made.hang("relabelling", relabelled(run.verdict.relabelling))
    context = {
        **_head(run),
        **_overview(run.verdict),
        **page_tables(run.verdict),
        **_figures(run, made),
        "similarity": similarity,
        "relabelling": about_relabelling(run.verdict.relabelling, run.classes.is_ordered),
        "sections": _sections(run, made, similarity is not None),
    }
    return rendered("report.html", context, made.plots, made.outputs)


def _head(run: Run) -> dict[str, Any]:
    import yaml

    config, names = run.config, _short_names(run)
    treatments, seeds = len(config.treatments), len(config.seeds)
    facts = [
        f"data {config.data.source}" if config.data.source != config.name else "",
        f"{len(run.classes):,} classes" if len(run.classes) else "",
        f"net {config.model}",
        "" if run.is_one_net else f"{treatments:,} treatment{'s' * (treatments != 1)}",
        "" if run.is_one_net else f"{seeds:,} seed{'s' * (seeds != 1)}",
        " / ".join(f"{count:,} {part}" for part, count in run.sizes.items()),
    ]
    verdict = run.verdict
    mood = "helps" if verdict.helps else "" if verdict.can_tell else "tendency"
    hours = run.seconds / 3600
    took = f"{run.seconds:.0f} s" if run.seconds < 600 else f"{hours:.1f} h"
    took = "" if run.is_one_net else f"; {took} of training in all"
    return {
        "name": config.name,
        "is_one_net": run.is_one_net,
        "facts": [fact for fact in facts if fact],
        "verdict": verdict,
        "points": _points(verdict.sentence),
        "mood": mood,
        "advice": [_told_shortly(text, names) for text in verdict.advice],
        "config": yaml.safe_dump(_named_shortly(config.as_dict(), names), sort_keys=False),
        "made_with": f"Made with {', '.join(run.versions)}{took}." if run.versions else "",
        "failures": _failures(run, names),
    }


def _short_names(run: Run) -> dict[str, str]:
    """The names of the run's files: whoever reads the page need not know where things lie here."""
    config = run.config
    texts = [config.data.path, config.cost, *config.data.options.values(), str(run.folder.path)]
    texts += [each.similarity for each in config.treatments]
    named = {each: each.removeprefix("hf:") for each in texts if isinstance(each, str)}
    return {each: PurePath(path).name for each, path in named.items() if os.path.isabs(path)}


def _named_shortly(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _named_shortly(each, names) for name, each in value.items()}
    if isinstance(value, list):
        return [_named_shortly(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


def _told_shortly(text: str, names: dict[str, str]) -> str:
    for path, name in names.items():
        text = text.replace(path, name)
    return text


def _points(sentence: str) -> list[str]:
    """The sentences of a verdict, each without its intervals and its count of runs.

    Example:
        >>> _points("Trees (L2) are better: 2.3 (−12 %; all 10 runs). Not told apart: a net.")
        ['Trees (L2) are better: 2.3.', 'Not told apart: a net.']
    """
    short = re.sub(r" \((?=[^()]*(?:%|run))[^()]*\)", "", sentence)
    short = re.sub(r"(The \w+ shows in [^:]*): .*? as well or better", r"\1", short)
    return re.split(r"(?<=\.) (?=[A-Z\d])", short)


def _failures(run: Run, names: dict[str, str]) -> list[str]:
    every = []
    for row in run.results.rows:
        by_error: dict[str, list[str]] = {}
        for seed, error in sorted(row.failures.items()):
            by_error.setdefault(_told_shortly(error, names), []).append(str(seed))
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
    "relabelling",
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
    """The table of contents: the sections that exist."""
    plots = made.plots
    wanted = [
        ("overview", "At a glance", "summary" in plots or run.is_one_net),
        ("confusion", "Mistakes", "confusion" in plots),
        ("parameter", "Parameter", bool(made.parameter_plots)),
        ("tradeoff", "Trade-off", "tradeoff" in plots),
        ("outputs", "Outputs", made.outputs is not None),
        ("usage", "Classes in use", "strips" in plots),
        ("trust", "Calibration and training", "calibration" in plots or "training" in plots),
        ("results", "All results", bool(run.results.done)),
        ("failed", "Failed runs", any(row.failures for row in run.results.rows)),
        ("similarity", "The similarity", has_similarity),
        ("rerun", "How it was trained" if run.is_one_net else "Run it again", True),
    ]
    return [(place, title) for place, title, is_there in wanted if is_there]
