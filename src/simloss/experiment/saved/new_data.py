"""New examples for a saved net: rows of a table or images, without their classes."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ... import _checks
from ..._disk import expanded
from ..._imports import names_an_attribute
from ...data import DataError, Encoder, encoded_texts, rows
from ...data.arrays import features_in
from ...data.columns import not_understood
from ...data.encoder import by_column
from ...data.image_folder import listed_images, loose_images
from ...data.images import UNREADABLE, Images
from ...data.table import table_numbers
from ...data.table_file import column, is_table, read_table
from ...data.target import known_classes
from ...data.text_columns import text_cells
from ...data.text_folder import texts_in
from ..plan.sources import dataset, tell
from .model import SavedModel
from .row_facts import identifiers, outside

# One a shipped table: they come by name, without a file.
_BY_NAME = ("diamonds", "abalone")
# What a cell is not, where its text has no number.
_KINDS = {"number": "numbers", "date": "such dates", "rank": "words the model knows"}


@dataclass(frozen=True)
class NewData:
    """Inputs as a saved net takes them.

    Attributes:
        inputs: (N, ...).
        names: what each example is called: the number of its row, or its file.
        name_heading: what these are.
        truth: the class of each example as text, where the data says it.
        notes: what a user should know, a sentence each.
        carried: columns that identify the examples, by heading.
        outside: what of each example lies outside what the net was trained on; None where that
            is not known.
    """

    inputs: Tensor
    names: list[Any]
    name_heading: str
    truth: list[str | None] | None = None
    notes: tuple[str, ...] = ()
    carried: dict[str, list[Any]] = field(default_factory=dict)
    outside: list[str | None] | None = None


def new_data(saved: SavedModel, path: str, image_column: str | None = None) -> NewData:
    """What is at `path`, read as the net's training data was."""
    is_shipped = path in _BY_NAME and saved.encoder is None and len(saved.input_shape) == 1
    found = expanded(path)
    if is_shipped or (names_an_attribute(path) and not found.exists()):
        known = dataset(path, None, {})
        truth = [known.class_names[i] for i in known.labels.tolist()]
        return NewData(known.inputs, list(range(1, len(known) + 1)), "row", [*truth])
    if saved.is_of_images:
        return _images(saved, found, image_column)
    if saved.config.data.source == "arrays":
        features, _ = features_in(found)
        return NewData(features, list(range(1, len(features) + 1)), "row")
    if saved.config.data.source == "texts" and found.is_dir():
        names, texts, _ = texts_in(found)
        return NewData(_with_texts(saved, torch.empty(len(texts), 0), texts), [*names], "file")
    if saved.encoder is None:
        raise DataError(
            f"`source` must be {saved.config.data.source}, which the model was trained on, "
            f"but got '{path}'."
        )
    return _table(saved, saved.encoder, found)


def _table(saved: SavedModel, encoder: Encoder, path: Path) -> NewData:
    texts = [each.name for each in encoder.columns if each.kind in ("rank", "category")]
    with_commas = [each.name for each in encoder.columns if each.form == ","]
    headings = [name for each in encoder.columns for name in each.headings]
    frame = read_table(path, (*texts, _target(saved)), tuple(with_commas))
    lacking = [name for name in headings if name not in frame.columns]
    if lacking:
        raise DataError(
            f"'{path}' must have the columns the model was trained on, but it has no "
            f"{', '.join(map(repr, lacking[:5]))}{', …' * (len(lacking) > 5)}."
        )
    cells = table_numbers(frame, encoder.columns)
    notes = tuple(_news(encoder, frame, cells))
    known = {*headings, _target(saved)}
    facts = identifiers(frame, known), outside(encoder, frame, cells)
    if encoder.columns[-1].kind == "text":
        cells = _with_texts(saved, cells, text_cells(frame, encoder.columns[-1].words))
    return NewData(
        cells, list(range(1, len(frame) + 1)), "row", _truth(saved, frame), notes, *facts
    )


def _with_texts(saved: SavedModel, cells: Tensor, texts: list[str]) -> Tensor:
    """The cells with the numbers of the texts behind them, by the model's own encoder."""
    if saved.tfidf is not None:
        features = saved.tfidf(texts)
    else:
        name = saved.config.data.options.get("encoder", "")
        features = encoded_texts(texts, name, cache=False, tell=tell)
    assert saved.encoder is not None
    wanted = saved.encoder.columns[-1].size
    if features.shape[1] != wanted:
        raise DataError(
            f"`encoder` must make the {wanted} numbers per text that the model was trained on, "
            f"but it makes {features.shape[1]}."
        )
    return torch.cat([cells.double(), features.double()], dim=1)


def _target(saved: SavedModel) -> str:
    """The heading of the classes; of images in folders, none that a table has."""
    return str(saved.config.data.options.get("target", ""))


def _truth(saved: SavedModel, frame: Any) -> list[str | None] | None:
    """The classes as the model calls them, where the table has them."""
    if _target(saved) not in frame.columns:
        return None
    return known_classes(frame[_target(saved)], saved.class_names, saved.edges)


def _news(encoder: Encoder, frame: Any, cells: Tensor) -> list[str]:
    """What the cells hold that no cell of the training file did."""
    notes = []
    for each, some in by_column([e for e in encoder.columns if e.kind != "text"], cells):
        numbers = some.numpy()
        unseen = int((numbers == -1).sum()) if each.kind == "category" else 0
        if unseen:
            rows_with = _checks.counted(unseen, "row has", "rows have")
            notes.append(f"{rows_with} a {each.name!r} the model has never seen")
        gaps = int(frame[each.name].isna().sum())
        if gaps and not each.has_missing:
            rows_with = _checks.counted(gaps, "row has", "rows have")
            notes.append(f"{rows_with} no {each.name!r}, which no training row lacked")
        odd = not_understood(frame[each.name], numbers)
        if odd is not None:
            count, shown = odd
            notes.append(
                f"cells of {each.name!r} that are not {_KINDS[each.kind]} count as missing: "
                f"{count:,}, such as {shown!r}"
            )
    return notes


def _images(saved: SavedModel, path: Path, image_column: str | None) -> NewData:
    encoder = saved.config.data.options.get("encoder")
    size = saved.config.data.options.get("size") if encoder else saved.input_shape[-1]
    if not path.exists():
        raise DataError(f"Nothing was found at '{path}'.")
    if not is_table(path):
        pictures = loose_images(path, size, encoder, tell)
        return NewData(pictures.inputs, list(pictures.names), "file", notes=_unread(pictures))
    heading = image_column or saved.config.data.options.get("image_column")
    if heading is None:
        raise DataError(f"`--image-column` must name the column of '{path}' that holds images.")
    frame = read_table(path, (heading, _target(saved)))
    has_image = column(frame, heading, "image_column", path).notna()
    frame = frame[has_image]
    listed = [str(name) for name in frame[heading]]
    pictures = listed_images(path, listed, size, encoder, cache=False, tell=tell)
    at = {name: row for row, name in enumerate(pictures.names)}
    frame = frame[[str(name) in at for name in frame[heading]]]
    names = [str(name) for name in frame[heading]]
    inputs = rows(pictures.inputs, torch.tensor([at[name] for name in names]))
    lacking = int((~has_image).sum())
    counted = _checks.counted(lacking, "row without an image is", "rows without an image are")
    notes = (f"{counted} left out",) if lacking else ()
    return NewData(inputs, names, "file", _truth(saved, frame), (*notes, *_unread(pictures)))


def _unread(pictures: Images) -> tuple[str, ...]:
    """What has no answer, a sentence each."""
    return tuple(
        f"{_unread_files(entry['count'], reason)}: {', '.join(entry['names'][:3])}"
        for reason, entry in pictures.left_out.items()
    )


def _unread_files(count: int, reason: str) -> str:
    if reason == UNREADABLE:
        return f"{_checks.counted(count, 'file', 'files')} cannot be read"
    return f"{_checks.counted(count, 'file is', 'files are')} left out ({reason})"
