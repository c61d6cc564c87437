"""A saved net measured again: the record a run would have left, for the report's figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from ..._disk import expanded
from ..._imports import names_an_attribute
from ...data import DataError, Dataset, rows
from ...data.table_file import is_table
from ..grid.cell import head
from ..grid.store import Arrays, RunFolder
from ..plan.config import Config
from ..plan.sources import dataset
from ..train.measure import output_summary
from ..train.splits import indices_of
from .model import SavedModel
from .new_data import new_data

# Of files that tell the classes themselves.
_WITH_CLASSES = ("utkface", "afad", "cifar100", "images", "texts", "arrays")
_OF_THE_TRAINING_DATA = ("content", "class_order")


@dataclass(frozen=True)
class Labelled:
    """Examples whose classes are known, and which of them belong to which part."""

    inputs: Tensor
    labels: Tensor  # by the model's class order
    parts: dict[str, Tensor]
    unit: str | None = None
    notes: tuple[str, ...] = ()  # what a user should know, a sentence each


@contextmanager
def results_folder(saved: SavedModel, name: str, examples: Labelled) -> Iterator[Path]:
    """A run folder with one cell, the saved net on that data; it goes when it has been read."""
    config = saved.config
    only = replace(config, name=name, treatments=(config.treatments[-1],), seeds=config.seeds[:1])
    finished = _measured(only, saved, examples)
    with TemporaryDirectory(prefix="simloss-") as path:
        folder = RunFolder(Path(path))
        with folder.open_for_writing(only, resume=False):
            folder.describe(_classes(saved, examples.unit))
            folder.append([finished])
        yield folder.path


def labelled(saved: SavedModel, data: str, image_column: str | None = None) -> Labelled:
    """The data with its classes. What the net was trained on comes in its parts, else all is test.

    So a net is never judged on what it has seen, unless the data is a copy of it.
    """
    config = saved.config
    if is_what_it_learned_from(config, data):
        if config.split.shares[0] == 1:
            raise DataError(
                f"`--data` must be examples that the model has not seen, but it was trained on all "
                f"of '{data}'; the run it comes from says how good it is."
            )
        known = _as_it_was_read(config, data)
        parts = indices_of(known, config.split, config.seeds[0])
        inputs = _inputs(saved, known)
        return Labelled(inputs, known.labels, parts, known.notes.get("unit"))
    if config.data.source in _WITH_CLASSES and not is_table(Path(data)):
        # Other files need not be the same files, nor show every class.
        options = {k: v for k, v in config.data.options.items() if k not in _OF_THE_TRAINING_DATA}
        read = dataset(config.data.source, data, options)
        truth: list[str | None] = [read.class_names[i] for i in read.labels.tolist()]
        return _all_test(saved, _inputs(saved, read), truth, data)
    new = new_data(saved, data, image_column)
    truth = new.truth or [None] * len(new.inputs)
    return _all_test(saved, new.inputs, truth, data, new.notes)


def _inputs(saved: SavedModel, known: Dataset) -> Tensor:
    """As the model takes them: with the numbers of texts that were fitted when it was trained."""
    if known.texts is None or saved.tfidf is None:
        return known.inputs
    return torch.cat([known.inputs, saved.tfidf(known.texts).double()], dim=1)


def is_what_it_learned_from(config: Config, data: str) -> bool:
    """Whether this names the data the model was trained on; a copy of it goes unnoticed."""
    if config.data.path is None or names_an_attribute(data):
        return data == config.data.source
    return expanded(data).resolve() == expanded(config.data.path).resolve()


def _as_it_was_read(config: Config, data: str) -> Dataset:
    """By a reader that is built in, or by the user's own in the user's words, without options."""
    if not names_an_attribute(data):
        return dataset(config.data.source, config.data.path, config.data.options)
    if config.data.options:
        raise DataError(
            f"`--data` {str(data)!r} was read with options when the model was trained, and a file "
            f"may not say with what your own code is called; give a table or images instead."
        )
    return dataset(data, None, {})


def _all_test(
    saved: SavedModel,
    inputs: Tensor,
    truth: list[str | None],
    data: str,
    notes: tuple[str, ...] = (),
) -> Labelled:
    place = {name: index for index, name in enumerate(saved.class_names)}
    known = [at for at, name in enumerate(truth) if name in place]
    if not known:
        raise DataError(
            f"`--data` must say the class of its examples by one of the model's "
            f"{len(place)} names, such as {saved.class_names[0]!r}, but '{data}' does not."
        )
    labels = torch.tensor([place[str(truth[at])] for at in known])
    kept = rows(inputs, torch.tensor(known))
    if len(known) < len(truth):
        others = len(truth) - len(known)
        notes = (*notes, f"{others:,} of {len(truth):,} examples have no class the model knows")
    return Labelled(kept, labels, {"test": torch.arange(len(known))}, notes=notes)


def _measured(
    config: Config, saved: SavedModel, examples: Labelled
) -> tuple[dict[str, Any], Arrays]:
    """The record and the sidecar, as of a cell that has just finished."""
    judge = saved.judge()
    record: dict[str, Any] = {
        **head(config, config.treatments[0], config.seeds[0], "done"),
        "metrics": {"validation": {}, "test": {}},
        "temperature": dict.fromkeys(config.rules, 1.0),  # that of the model is in its outputs
        "best_epoch": {},
        "epochs": 0,
        "history": [],
        "sizes": {name: len(part) for name, part in examples.parts.items()},
        "seconds": {"total": 0.0},
        "threads": torch.get_num_threads(),
    }
    sidecar: Arrays = {}
    for name, part in examples.parts.items():
        inputs, truth = rows(examples.inputs, part), examples.labels[part]
        p = saved.probabilities(inputs)
        answers = {rule: judge.answers(p, rule) for rule in config.rules}
        if name != "train":
            record["metrics"][name] = {
                rule: judge.all_metrics(answer, truth, p) for rule, answer in answers.items()
            }
        summary = output_summary(p, answers, truth, judge.num_classes)
        sidecar |= {f"{name}_{key}": value for key, value in summary.items()}
    return record, sidecar


def _classes(saved: SavedModel, unit: str | None) -> Dataset:
    nothing = torch.empty(0, 1), torch.empty(0, dtype=torch.long)
    notes = {"unit": unit} if unit else {}
    return Dataset(
        "the model", *nothing, saved.class_names, superclasses=saved.superclasses, notes=notes
    )
