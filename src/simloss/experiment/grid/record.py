"""What a line of `records.jsonl` holds: docs/records.md as types."""

import re
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ..._schema import AtLeastOne, Finite, Measured, Positive, misfit

# Part of the name of a file, so it leads nowhere else.
CellName = Annotated[str, lambda name: re.fullmatch(r"[\w.-]{1,200}", name) is not None]


class TreatmentRecord(TypedDict):
    """A treatment with the words for it."""

    loss: str
    label: str
    family: str
    similarity: NotRequired[str | None]
    value: NotRequired[Finite | None]
    options: NotRequired[dict[str, Any]]
    parameter: NotRequired[str | None]


class Epoch(TypedDict):
    """How far training was."""

    epoch: NotRequired[int]
    loss: NotRequired[Measured]
    validation: NotRequired[dict[str, Measured]]


class Constant(TypedDict):
    """One answer, always given."""

    answer: str
    validation: Measured
    test: Measured


class Failed(TypedDict):
    """What every record has; of a cell that failed, all of it."""

    cell: CellName
    together: AtLeastOne
    status: Literal["done", "failed"]
    treatment: TreatmentRecord
    seed: int
    versions: NotRequired[dict[str, str]]
    error: NotRequired[str]


class Done(Failed):
    """A cell that was measured."""

    metrics: dict[str, dict[str, dict[str, Measured]]]
    constant: NotRequired[dict[str, Constant]]
    temperature: NotRequired[dict[str, Positive]]
    best_epoch: NotRequired[dict[str, int]]
    epochs: NotRequired[int]
    history: NotRequired[list[Epoch]]
    sizes: NotRequired[dict[str, int]]
    seconds: NotRequired[dict[str, Measured]]
    threads: NotRequired[int]


def record_misfit(record: Any) -> str | None:
    """The name of the first thing in a record that is not as it should be, or None."""
    is_done = isinstance(record, dict) and record.get("status") == "done"
    return misfit(record, Done if is_done else Failed)
