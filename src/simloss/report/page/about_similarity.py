"""The similarity behind the best treatment, and its diagnosis."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import torch

from ...similarity import Similarity
from ..figures.similarity import similarity as heat_map
from ..figures.style import Figure
from ..judge.candidates import score
from ..judge.relabelled import treatment_of
from ..judge.results import Row
from ..judge.run import Run


@dataclass
class AboutSimilarity:
    """What the page says about the similarity.

    Attributes:
        text: which similarity it is, or why it cannot be shown.
        figure: its heat map.
        facts: (term, text) of its diagnosis.
        advice: what to worry about.
    """

    text: str
    figure: Figure | None = None
    facts: list[tuple[str, str]] = field(default_factory=list)
    advice: tuple[str, ...] = ()


def about_similarity(run: Run) -> AboutSimilarity | None:
    """The similarity of the recommended treatment, else of the best family with one, or None."""
    row = _row(run)
    if row is None or len(run.classes) < 2:
        return None
    try:
        known = treatment_of(run.config, row).similarity_for(
            run.classes.as_dataset(run.config.name)
        )
        assert known is not None
        figure = heat_map(known, is_ordered=run.classes.is_ordered)
        with _one_thread():
            facts, advice = _diagnosis(known)
        if row.treatment["loss"] != "simloss":
            advice = ()  # it is about SimLoss; the others are good at values that ruin it
    except (ValueError, TypeError, OSError, ImportError) as error:
        named = row.treatment["similarity"]  # without the folders of a file's path
        reason = str(error).replace(named, PurePath(named).name)
        return AboutSimilarity(f"The similarity of {row.label} cannot be shown: {reason}")
    return AboutSimilarity(f"That of {row.label}: {known}.", figure, facts, advice)


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread: for many small matrices, more would only slow each other down."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _row(run: Run) -> Row | None:
    best = run.verdict.recommendation
    if best is not None and _has_one(best.row):
        return best.row
    rivals = [each for each in run.verdict.findings if _has_one(each.row)]
    if not rivals:
        return None
    return max(rivals, key=lambda each: score(run.results, each.row, each.rule)).row


def _has_one(row: Row) -> bool:
    """Whether the treatment names a similarity; a blended or annealed SimLoss makes its own."""
    return row.treatment.get("similarity") is not None


def _diagnosis(known: Similarity) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    found = known.diagnose()
    facts: list[tuple[str, Any]] = [
        ("Symmetric", _yes(found.symmetric)),
        ("Positive definite", _yes(found.positive_definite)),
        ("Triangle inequality of −log S", _yes(found.triangle)),
        ("The proper loss is proper with it", found.properness),
        ("Mean similarity of two classes", f"{found.mean_similarity:.3g}"),
    ]
    if found.effective_classes is not None:
        count = f"{found.effective_classes:.1f} of {known.num_classes:,}"
        facts.append(("Effective number of classes", count))
    if found.vanishing:
        names = ", ".join(found.name(place) for place in found.vanishing[:8])
        facts.append((f"Classes SimLoss may drop ({len(found.vanishing)})", names))
    return facts, found.advice


def _yes(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: "does not apply"}[answer]
