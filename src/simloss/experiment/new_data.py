"""New examples for a saved net: rows of a table or images, without their classes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..data import DataError, Encoder, rows
from ..data.columns import as_text
from ..data.image_folder import listed_images, loose_images
from ..data.images import UNREADABLE, Images
from ..data.table import table_numbers
from ..data.table_file import column, is_table, read_table
from ..data.target import as_numbers_write
from .saved import SavedModel
from .sources import dataset

# One a shipped table: they come by name, without a file.
_BY_NAME = ("diamonds", "abalone")


@dataclass(frozen=True)
class NewData:
    """Inputs as a saved net takes them.

    Attributes:
        inputs: (N, ...).
        names: what each example is called: the number of its row, or its file.
        name_heading: what these are.
        truth: the class of each example as text, where the data says it.
        notes: what a user should know, a sentence each.
    """

    inputs: Tensor
    names: list[Any]
    name_heading: str
    truth: list[str | None] | None = None
    notes: tuple[str, ...] = ()


def new_data(saved: SavedModel, path: str, image_column: str | None = None) -> NewData:
    """What stands at `path`, read as the net's training data was."""
    is_shipped = path in _BY_NAME and saved.encoder is None and len(saved.input_shape) == 1
    found = Path(path).expanduser()
    if is_shipped or (_checks.names_an_attribute(path) and not found.exists()):
        known = dataset(path, None, {})
        truth = [known.class_names[i] for i in known.labels.tolist()]
        return NewData(known.inputs, list(range(1, len(known) + 1)), "row", [*truth])
    if len(saved.input_shape) == 3:
        return _images(saved, found, image_column)
    if saved.encoder is None:
        raise DataError(
            f"`data` must be {saved.config.data.source}, which the model was trained on, "
            f"but got '{path}'."
        )
    return _table(saved, saved.encoder, found)


def _table(saved: SavedModel, encoder: Encoder, path: Path) -> NewData:
    target = saved.config.data.options["target"]
    texts = tuple(each.name for each in encoder.columns if each.kind in ("rank", "category"))
    frame = read_table(path, texts)
    for each in encoder.columns:
        column(frame, each.name, "data", path)
    cells = table_numbers(frame, encoder.columns)
    truth = None
    if target in frame.columns and "bins" not in saved.config.data.options:
        truth = _truth(saved, frame[target])
    return NewData(
        cells, list(range(1, len(frame) + 1)), "row", truth, tuple(_news(encoder, cells))
    )


def _truth(saved: SavedModel, cells: Any) -> list[str | None]:
    """The classes as the model calls them; None where there is none or one it does not know."""
    texts = as_text(cells)
    known = set(saved.class_names)
    present = as_numbers_write([text or "nan" for text in texts])
    pairs = zip(texts, present, strict=True)
    return [text if text in known else other if other in known else None for text, other in pairs]


def _news(encoder: Encoder, cells: Tensor) -> list[str]:
    """What the cells hold that no cell of the training file did."""
    notes = []
    for at, each in enumerate(encoder.columns):
        unseen = int((cells[:, at] == -1).sum()) if each.kind == "category" else 0
        if unseen:
            notes.append(f"{unseen:,} rows have a {each.name!r} the model has never seen")
        gaps = int(cells[:, at].isnan().sum())
        if gaps and not each.has_missing:
            notes.append(f"{gaps:,} rows have no {each.name!r}, which no training row lacked")
    return notes


def _images(saved: SavedModel, path: Path, image_column: str | None) -> NewData:
    size = saved.input_shape[-1]
    if not path.exists():
        raise DataError(f"Nothing was found at '{path}'.")
    if not is_table(path):
        pictures = loose_images(path, size)
        return NewData(pictures.pixels, list(pictures.names), "file", notes=_unread(pictures))
    heading = image_column or saved.config.data.options.get("image_column")
    if heading is None:
        raise DataError(f"`--image-column` must name the column of '{path}' that holds images.")
    frame = read_table(path, (heading,))
    names = [str(name) for name in column(frame, heading, "image_column", path).dropna()]
    pictures = listed_images(path, names, size, cache=False)
    at = {name: row for row, name in enumerate(pictures.names)}
    kept = [name for name in names if name in at]
    inputs = rows(pictures.pixels, torch.tensor([at[name] for name in kept]))
    return NewData(inputs, kept, "file", notes=_unread(pictures))


def _unread(pictures: Images) -> tuple[str, ...]:
    entry = pictures.left_out.get(UNREADABLE)
    if not entry:
        return ()
    return (f"{entry['count']:,} files cannot be read: {', '.join(entry['names'][:3])}",)
