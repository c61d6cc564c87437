"""Features and labels in .npz and .npy files, such as embeddings from other programs."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .._disk import arrays_of, expanded, regular_file
from .content import check_content
from .dataset import Dataset
from .errors import DataError, MissingDataError
from .memory import check_fits_memory
from .table import superclasses
from .target import target as classes_of

ENDINGS = (".npz", ".npy")
# The accepted names of arrays, in upper or lower case.
FEATURES = ("x", "features", "embeddings", "embedding", "inputs", "data")
LABELS = ("y", "labels", "label", "targets", "target", "classes")

Array = np.ndarray[Any, Any]


def arrays(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    class_order: Sequence[str] | None = None,
    bins: int | None = None,
    superclass: str | None = None,
    components: int | None = None,
    content: str | None = None,
) -> Dataset:
    """Features (N, D) and labels (N) from a NumPy file; nothing in it is unpickled.

    An .npz file holds both: the features as `X`, `features`, `embeddings`, `inputs` or `data`, the
    labels as `y`, `labels` or `target`; or the features are its only array of two dimensions. An
    .npy file holds features, and a second one beside it, `y.npy` or `labels.npy`, the labels.

    Args:
        path: the .npz or .npy file.
        target: the array of labels, or for .npy its file, if it has another name.
        class_order: all classes in order, if their names do not show it.
        bins: cut a number into this many ordered classes of about equal size.
        superclass: the array of an .npz file that holds the superclass of each example.
        components: the number of principal components of wide features to use, fitted on the
            training part of each split by :class:`simloss.data.Components`.
        content: the digest the file must have, so that a run resumes only on the same data.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/e.npz", X=np.eye(4), y=["low", "high", "low", "high"])
        ...     arrays(f"{folder}/e.npz")
        Dataset(e: 4 examples of 4, 2 classes)
    """
    found = expanded(path)
    features, others = features_in(found)
    check_content(found, content)
    name, labels = _labels(found, others, target)
    columns = {name: _column(found, name, labels, len(features))}
    if superclass is not None:
        kinds = _named(found, others, superclass)
        columns[superclass] = _column(found, superclass, kinds, len(features))
    frame = _checks.installed("pandas", "cli").DataFrame(columns)
    classes = classes_of(name, frame[name], class_names=class_order, bins=bins)
    frame = frame.iloc[classes.rows]
    return Dataset(
        name=found.name.split(".")[0],
        inputs=features[torch.from_numpy(classes.rows)],
        labels=classes.labels,
        class_names=classes.order.names,
        superclasses=superclasses(frame, found, superclass, classes),
        notes=classes.notes,
        components=None if components is None else _checks.class_count("components", components),
    )


def features_in(path: Path) -> tuple[Tensor, dict[str, Array]]:
    """The features of a file, float32 (N, D), and its other arrays by name."""
    if not path.exists():
        raise MissingDataError(f"Nothing was found at '{path}'.")
    check_fits_memory(path)
    found = {"X": _npy(path)} if path.suffix.lower() == ".npy" else _npz(path)
    by_name = {name.lower(): name for name in found}
    name = next((by_name[each] for each in FEATURES if each in by_name), None)
    if name is None:
        wide = [each for each, array in found.items() if array.ndim == 2]
        if len(wide) != 1:
            raise DataError(
                f"'{path}' must hold features (N, D) as {', '.join(FEATURES[:3])} or its only "
                f"array of two dimensions, but it holds {_listed(found)}."
            )
        name = wide[0]
    features = found.pop(name)
    if features.ndim != 2 or features.dtype.kind not in "fiub" or features.shape[1] == 0:
        raise DataError(
            f"'{path}' must hold numbers of shape (N, D) as {name!r}, "
            f"but it holds {features.dtype} of shape {features.shape}."
        )
    made = torch.from_numpy(features.astype(np.float32))
    if not bool(made.isfinite().all()):
        row = int((~made.isfinite().all(1)).nonzero()[0])
        raise DataError(f"'{path}' must hold finite features, but row {row} of {name!r} is not.")
    return made, found


def _labels(path: Path, others: dict[str, Array], target: str | None) -> tuple[str, Array]:
    if path.suffix.lower() == ".npy":
        return "y", _npy(_labels_file(path, target))
    if target is not None:
        return target, _named(path, others, target)
    by_name = {name.lower(): name for name in others}
    name = next((by_name[each] for each in LABELS if each in by_name), None)
    if name is None:
        flat = [each for each, array in others.items() if array.ndim == 1]
        if len(flat) != 1:
            raise DataError(
                f"`target` must name the array of labels of '{path}', which holds no "
                f"{', '.join(LABELS[:3])}; it holds {_listed(others)}."
            )
        name = flat[0]
    return name, others[name]


def _labels_file(path: Path, target: str | None) -> Path:
    names = [target] if target else [f"{name}.npy" for name in LABELS]
    found = next((file for name in names if (file := path.parent / name).exists()), None)
    if found is None:
        raise MissingDataError(
            f"`target` must name an .npy file of labels beside '{path}', "
            f"but there is no {', no '.join(names[:2])}."
        )
    return found


def _named(path: Path, found: dict[str, Array], name: str) -> Array:
    if name not in found:
        raise DataError(f"'{path}' must hold an array {name!r}, but it holds {_listed(found)}.")
    return found[name]


def _column(path: Path, name: str, values: Array, rows: int) -> Array:
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.kind not in "fiubUS":
        raise DataError(
            f"'{path}' must hold {name!r} as numbers or words of shape (N), "
            f"but it has {values.dtype} of shape {values.shape}."
        )
    if len(values) != rows:
        raise DataError(
            f"'{path}' must have a label for each of its {rows:,} rows of features, "
            f"but {name!r} has {len(values):,}."
        )
    return values.astype(str) if values.dtype.kind == "S" else values


def _npz(path: Path) -> dict[str, Array]:
    try:
        return arrays_of(path, follow_links=True)
    except ValueError as error:
        raise DataError(f"'{path}' must be an npz file of plain arrays, but: {error}.") from None


def _npy(path: Path) -> Array:
    with regular_file(path, follow_links=True) as file:
        try:
            found = np.load(file, allow_pickle=False)
        except Exception as error:  # a damaged header raises almost anything
            reason = " ".join(str(error).split()) or type(error).__name__
            raise DataError(f"'{path}' must be an npy file of numbers, but: {reason}.") from None
    if not isinstance(found, np.ndarray):
        raise DataError(f"'{path}' must be an npy file, but it is another kind of file.")
    return found


def _listed(found: dict[str, Array]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in found.items()) or "nothing else"
