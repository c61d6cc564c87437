"""How alike the classes are, proposed from what is known about them."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from ... import _checks, metrics, similarity
from ...data import Dataset
from ...data.class_order import positions
from ...decision.rules import suiting
from .config import argmax_and
from .similarities import WORDS, check_name, values_of

_BY_PLACE = ("order", "gaussian")  # these go by the places of the classes in their order
# What is asked for all the same gives this up, and what would keep it.
_MOSTLY_IMPROPER = {"words": "words-angle", "gaussian": "order"}
_EVEN = 1e-6
# Names for which a proposal takes the second or two to test their similarity.
_TESTED_UP_TO = 200


@dataclass(frozen=True)
class Proposal:
    """A similarity, and what follows from it.

    Attributes:
        similarity: a name in `SIMILARITIES`, or the path of a saved one.
        reason: why, in words that go after "because".
        values: of its parameter, to try.
        metrics: what is measured, the one that counts first.
        rules: how probabilities are answered.
        cost: as a configuration has it.
    """

    similarity: str
    reason: str
    values: tuple[float, ...]
    metrics: tuple[str, ...]
    rules: tuple[str, ...]
    cost: str | None = None


def proposed(dataset: Dataset, missing: str = "error") -> tuple[str, str] | None:
    """The kind of similarity that the classes suggest, and why; None where they suggest none.

    With `missing="alone"`, classes whose names have no vector are like no other; else they are the
    reason why words are not proposed.

    Example:
        >>> from simloss.data import abalone
        >>> proposed(abalone())
        ('order', 'the classes are equally spaced numbers')
    """
    names, kind = dataset.class_names, dataset.notes.get("class_order")
    if dataset.superclasses is not None:
        return "tree", "the classes have superclasses"
    if kind == "given":
        return "order", "you gave their order"
    if kind == "column":
        return "order", "their column says their order"
    if kind == "words":
        return "order", "the class names are words with an order"
    at = dataset.positions
    if at is not None and _is_even(sorted(at)):
        return "order", "the classes are equally spaced numbers"
    if at is not None:
        what = "dates" if kind == "dates" else "numbers"
        return "values", f"the classes are {what} at unequal distances"
    if why_not_words(names, missing) is None:
        angles = "words-angle" if missing == "error" else WORDS["words-angle"]
        return angles, f"the class names are words{_about_angles(names, missing)}"
    return None


def proposal(dataset: Dataset, kind: str | None = None, missing: str = "error") -> Proposal:
    """What to compare on this data: the kind asked for, or the one the classes suggest."""
    if kind is None:
        found = proposed(dataset, missing)
        if found is None:
            raise ValueError(_which(dataset, missing))
        _check_use(missing, found[0])
        return _following(dataset, *found)
    check_name(kind)
    if missing != "error":
        kind = WORDS.get(kind, kind)
        _check_use(missing, kind)
    if (
        kind in _BY_PLACE
        and dataset.notes.get("class_order") == "names"
        and len(dataset.class_names) > 2
    ):
        some = ",".join(dataset.class_names[:3])
        raise ValueError(
            f"`similarity` {kind!r} needs an order, which the class names do not tell; "
            f"give it with --class-order, for example {some}{',...' * (dataset.num_classes > 3)}."
        )
    reason = "you asked for it"
    if kind in _MOSTLY_IMPROPER:
        reason += ", though it mostly makes the proper losses improper"
        reason += f" ({_MOSTLY_IMPROPER[kind]} keeps them proper)"
    return _following(dataset, kind, reason)


def _check_use(missing: str, kind: str) -> None:
    if missing != "error" and kind not in WORDS.values():
        raise ValueError(
            f"`--missing` is for classes compared as words, but the similarity is {kind!r}."
        )


def with_metric(dataset: Dataset, made: Proposal, metric: str) -> Proposal:
    """The same with another metric as the one that counts."""
    found = metrics.find(metric)
    lacking = sorted(found.needs - _known(dataset, made) - {"probabilities"})
    if lacking:
        raise ValueError(
            f"`metric` {found.name!r} needs {lacking[0]}, which similarity {made.similarity!r} "
            f"does not have; choose another metric or similarity."
        )
    # Beside a metric that knows no better mistakes, one that does would be the one that counts.
    others = made.metrics if knows_better_mistakes(found) else ()
    names = tuple(dict.fromkeys((found.name, *others)))
    return replace(made, metrics=names)


def knows_better_mistakes(metric: metrics.Metric) -> bool:
    """Whether some wrong answers are less bad by it than others; by accuracy they are not."""
    return bool(metric.needs - {"probabilities"})


def with_rule(dataset: Dataset, made: Proposal, rule: str) -> Proposal:
    """The same with another decision beside argmax."""
    _checks.choice("decision", rule, sorted(suiting(_known(dataset, made))))
    return replace(made, rules=argmax_and(rule))


def _known(dataset: Dataset, made: Proposal) -> set[str]:
    """What metrics and decision rules can go by."""
    known = {"order"} if "mae" in made.metrics else set()
    known |= {"tree"} if dataset.superclasses is not None else set()
    return known | ({"cost", "similarity"} if made.cost not in (None, "values") else set())


def _is_in_turn(at: list[float]) -> bool:
    """Whether positions only rise or only fall."""
    return list(at) in (sorted(at), sorted(at, reverse=True))


def _following(dataset: Dataset, kind: str, reason: str) -> Proposal:
    """The grid, the metrics and the decisions that go with a kind of similarity."""
    values = values_of(kind)
    if kind in (*_BY_PLACE, "values"):
        at = dataset.positions
        if kind in _BY_PLACE and at is not None and not _is_in_turn(at):
            at = None  # the order was given, and it is not that of the numbers
        is_by_value = kind == "values" or (at is not None and not _is_even(at, step=1.0))
        cost = "values" if is_by_value and at is not None else None
        return Proposal(
            kind, reason, values, ("mae", "mse", "accuracy"), ("argmax", "median"), cost
        )
    if kind == "tree":
        measured = ("mean_height", "superclass_accuracy", "accuracy")
        return Proposal(kind, reason, values, measured, ("argmax", "tree"))
    rules = ("argmax", "similarity")
    return Proposal(kind, reason, values, ("mean_similarity", "accuracy"), rules, kind)


def _is_even(at: list[float], step: float | None = None) -> bool:
    """Whether neighbours are equally far apart, by `step` if given."""
    gaps = [high - low for low, high in pairwise(at)]
    wanted = gaps[0] if step is None else step
    return all(abs(gap - wanted) <= _EVEN * abs(wanted) for gap in gaps)


def why_not_words(names: tuple[str, ...], missing: str = "error") -> str | None:
    """Why the names are not compared as words; None if they can be."""
    short = next((name for name in names if not re.search(r"[^\W\d_]{3}", name)), None)
    if short is not None:
        return f"{short!r} has no word of three letters."
    try:
        similarity.words(names, missing=missing)
    except ValueError as error:
        return str(error)
    return None


@lru_cache(maxsize=4)
def _about_angles(names: tuple[str, ...], missing: str) -> str:
    """A warning if the angles of the names may make the proper losses improper at some value."""
    if len(names) > _TESTED_UP_TO:
        return ""
    for temperature in values_of("words-angle"):
        known = similarity.words(names, kernel="angle", temperature=temperature, missing=missing)
        if not known.diagnose().proper:
            return f", though the proper losses are not proved proper at t = {temperature}"
    return ""


def _which(dataset: Dataset, missing: str) -> str:
    names = dataset.class_names
    strays = [repr(name) for name in names if positions([name]) is None][:3]
    some = f"{', '.join(repr(name) for name in names[:3])}, ..."
    if 0 < len(strays) < min(3, len(names) / 2):
        some = f"numbers, but for {' and '.join(strays)}"
    return (
        f"`similarity` must be chosen, because the class names ({some}) do not tell it: "
        f"--similarity order, words, hf:NAME-OR-FOLDER (the names by a text encoder), tree or the "
        f"path of a saved one; order needs --class-order, tree needs --superclass. As words they "
        f"were not compared, because {why_not_words(names, missing)}"
    )
