"""Any table with a column of classes."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._disk import expanded
from .columns import Column, columns_of, not_understood
from .content import check_content
from .dataset import Dataset, tree_of_superclasses
from .encoder import by_column
from .encoders.encode import Tell
from .errors import DataError
from .images import Cache
from .leaks import telling_columns
from .node_labels import with_node_labels
from .table_file import column, notes_on_rows, read_table
from .target import Target
from .target import target as classes_of
from .text_columns import TFIDF, check_encoder, text_cells, texts_joined, with_texts


def table(
    path: str | os.PathLike[str],
    *,
    target: str,
    class_order: Sequence[str] | None = None,
    bins: int | None = None,
    superclass: str | None = None,
    drop: Sequence[str] = (),
    content: str | None = None,
    nodes: bool = False,
    encoder: str | None = None,
    cache: Cache = None,
    tell: Tell | None = None,
) -> Dataset:
    r"""A CSV, TSV (also .gz) or parquet file; the column `target` holds the class of each row.

    All other columns are features: numbers, words, dates, yes and no, with gaps, lists of numbers
    such as embeddings, and texts, of which several are joined. Columns that are empty, never vary,
    or look like an identifier are not used; `notes["unused"]` lists them, `notes["not_numbers"]`
    the cells in columns of numbers that are not numbers and count as missing, and
    `notes["tells_class"]` the columns that give the class away, as one does that is known only
    after it. `inputs` holds the cells as numbers, and `columns` their meaning; an
    :class:`simloss.data.Encoder` fitted on the training part turns them into inputs of a net.

    Args:
        path: the file.
        target: the heading of the column to predict.
        class_order: all classes in order, if their names do not show it.
        bins: cut a number into this many ordered classes of about equal size.
        superclass: the heading of a column with each class's superclass.
        drop: headings of columns to ignore.
        content: the digest the file must have, so that a run resumes only on the same data.
        nodes: whether to keep rows without a class if they have a `superclass`; their label
            is that node of the data set's `tree`, C or more. The commands cannot train on them;
            :func:`simloss.similarity.with_nodes` makes a similarity for them.
        encoder: turns texts into numbers: by default "tfidf", fitted on the training part of each
            split (:class:`simloss.data.Tfidf`); `hf:NAME-OR-FOLDER` for a Hugging Face model;
            or your own `module:callable`, from a list of texts to an array (N, D).
        cache: the folder for encoded texts, as for :func:`simloss.data.image_folder`.
        tell: called with lines on how long encoding takes.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = os.path.join(folder, "cups.csv")
        ...     with open(file, "w") as csv:
        ...         _ = csv.write("weight,colour,size\n1,red,S\n2,,L\n3,blue,M\n")
        ...     cups = table(file, target="size")
        >>> cups.class_names
        ('S', 'M', 'L')
        >>> [(column.name, column.kind) for column in cups.columns]
        [('weight', 'number'), ('colour', 'category')]
    """
    found = expanded(path)
    frame = read_table(found, (target,) if superclass is None else (target, superclass))
    check_content(found, content)
    classes = _classes(frame, found, target, class_order, bins)
    special = [target, *([] if superclass is None else [superclass])]
    for name in drop:
        column(frame, name, "drop", found)
        if name in special:
            raise DataError(f"`drop` must not name {name!r}, the column of classes.")
    every, frame = frame, frame.iloc[classes.rows]
    above = superclasses(frame, found, superclass, classes)
    labels = classes.labels
    if nodes:
        if superclass is None or above is None:
            raise ValueError("`nodes` must be used with `superclass`, the column that names them.")
        tree = tree_of_superclasses(classes.order.names, above)
        labels, rows = with_node_labels(classes, every[superclass], tree, above)
        frame = every.iloc[rows]
    columns, unused = columns_of(frame.drop(columns=[*special, *set(drop)]))
    if not columns:
        raise DataError(f"'{found}' must have a usable column besides the target, but it does not.")
    check_encoder(encoder, columns, found)
    columns, inputs, texts = texts_joined(columns), table_numbers(frame, columns), None
    about = {
        **notes_on_rows(every),
        "unused": unused,
        "not_numbers": _not_numbers(frame, columns, inputs),
        "tells_class": telling_columns(columns, inputs, labels),
    }
    if columns[-1].kind == "text":
        together = text_cells(frame, columns[-1].words)
        columns, inputs, texts = with_texts(
            columns, inputs, together, encoder or TFIDF, cache=cache, tell=tell
        )
    return Dataset(
        name=found.name.split(".")[0],
        inputs=inputs,
        labels=labels,
        class_names=classes.order.names,
        superclasses=above,
        columns=columns,
        texts=texts,
        notes=_notes(classes, len(every) - len(labels), about),
    )


def _notes(classes: Target, left_out: int, about: dict[str, Any]) -> dict[str, Any]:
    notes = classes.notes | {name: note for name, note in about.items() if note}
    if left_out:
        return notes | {"rows_without_class": left_out}
    return {name: note for name, note in notes.items() if name != "rows_without_class"}


def table_numbers(frame: Any, columns: Sequence[Column]) -> Tensor:
    """The cells of all columns except texts as numbers, float64 (N, K), NaN if empty."""
    cells = [each.numbers(frame[each.name]) for each in columns if each.kind != "text"]
    shaped = [np.empty((len(frame), 0)), *(each.reshape(len(frame), -1) for each in cells)]
    return torch.from_numpy(np.concatenate(shaped, axis=1))


def _not_numbers(
    frame: Any, columns: tuple[Column, ...], inputs: Tensor
) -> dict[str, dict[str, Any]]:
    """Per column of numbers: how many cells are not numbers, and an example."""
    notes = {}
    for each, cells in by_column([each for each in columns if each.kind != "text"], inputs):
        odd = not_understood(frame[each.name], cells.numpy())
        if odd is not None:
            notes[each.name] = {"count": odd[0], "example": odd[1]}
    return notes


def superclasses(
    frame: Any, path: Path, name: str | None, classes: Target
) -> tuple[str, ...] | None:
    """The superclass of each class: from its column, or from class names that are paths."""
    if name is None:
        return parents_of(classes.order.names)
    cells = column(frame, name, "superclass", path)
    found: dict[str, str] = {}
    for label, cell, missing in zip(classes.labels.tolist(), cells, cells.isna(), strict=True):
        class_name = classes.order.names[label]
        if not missing and found.setdefault(class_name, str(cell)) != str(cell):
            raise DataError(
                f"`superclass` must hold one value for each class, but {class_name!r} has "
                f"{found[class_name]!r} and {str(cell)!r}."
            )
    lacking = [each for each in classes.order.names if each not in found]
    if lacking:
        raise DataError(f"`superclass` must be given for each class, but {lacking[0]!r} has none.")
    return tuple(found[each] for each in classes.order.names)


def parents_of(names: Sequence[str]) -> tuple[str, ...] | None:
    """The path above each class if all names are paths, "animal/bird/robin"; else None.

    Example:
        >>> parents_of(["animal/bird/robin", "plant/rose"])
        ('animal/bird', 'plant')
    """
    parents = [name.rpartition("/")[0] for name in names]
    is_tree = all(parents) and len(set(parents)) > 1
    return tuple(parents) if is_tree else None


def _classes(
    frame: Any, path: Path, name: str, order: Sequence[str] | None, bins: int | None
) -> Target:
    return classes_of(name, column(frame, name, "target", path), class_names=order, bins=bins)
