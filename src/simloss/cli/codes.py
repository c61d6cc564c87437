"""Whole numbers that may be codes: an order by their looks, and perhaps by nothing else."""

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data import Dataset

_MOST = 30
# What a column of grades, counts or measurements is called, in part.
_GRADES = (
    "age|amount|attain|class_order|count|degree|dose|grade|height|hour|importance|income|level|like|"
    "mark|month|number|order|percent|points|price|quality|quantity|rank|rate|rating|rings|satisf|"
    "score|sever|size|stage|star|step|time|weight|year"
)


def may_be_codes(dataset: "Dataset", target: str | None) -> bool:
    """Whether the classes are 0 to k or 1 to k and nothing says that they are more than names.

    Example:
        >>> from simloss.data import abalone
        >>> may_be_codes(abalone(), "rings"), may_be_codes(abalone(), "label")
        (False, True)
    """
    names = dataset.class_names
    if len(names) > _MOST or target is None or dataset.notes.get("edges") is not None:
        return False
    if dataset.notes.get("class_order") in ("given", "column", "words", "dates"):
        return False
    counted = any(list(names) == [str(i + k) for i in range(len(names))] for k in (0, 1))
    return counted and re.search(_GRADES, target, re.IGNORECASE) is None


def confirmed(dataset: "Dataset", target: str | None) -> Iterator[str]:
    """Ask at a terminal whether such numbers are an order; elsewhere say it before training."""
    if not may_be_codes(dataset, target):
        return
    numbers = f"{dataset.class_names[0]} to {dataset.class_names[-1]}"
    if not sys.stdin.isatty():
        yield (
            f"NOTE: {target!r} is {numbers}, taken for an order. If these numbers are codes of "
            f"classes in no order, give --similarity; --yes says that they are an order"
        )
        return
    try:
        answer = input(f"{target!r} is {numbers}. Is {numbers} an order, as of grades? [y/n] ")
    except EOFError:
        answer = ""
    if not answer.strip().lower().startswith("y"):
        raise ValueError(
            f"`--similarity` must say how alike the classes of {target!r} are if their numbers are "
            f"codes: the path of a saved one, words or tree; --yes if they are an order."
        )
