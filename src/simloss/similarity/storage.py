"""Similarities in files: CSV for people and spreadsheets, npz and safetensors for programs.

Never pickle: loading a file cannot run code. CSV holds all of S; the others hold the structure's
own tensors, so an order of a million classes is one number.
"""

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .._disk import arrays_of, tensors_of, whole_file
from .base import Similarity
from .circular import CircularSimilarity
from .embedding import EmbeddingSimilarity
from .geo import GeoSimilarity
from .grid import GridSimilarity
from .matrix import DenseSimilarity
from .nodes import NodeSimilarity
from .order import OrderSimilarity
from .sparse import SparseSimilarity
from .spreadsheet import read_csv, write_csv
from .taxonomy import TreeSimilarity
from .values import ValueSimilarity

_ABOUT = "about"
# The errors of reading a file of another kind, or one that was changed.
_UNREADABLE = (
    *(KeyError, TypeError, IndexError, ValueError, AttributeError, OverflowError),
    *(RuntimeError, RecursionError, MemoryError, SystemError, StopIteration),
)
# Two rows of more classes would need more memory than a small file should be able to claim.
_MOST_CLASSES = 10_000_000
_STRUCTURES: dict[str, type[Similarity]] = {
    kind.structure: kind
    for kind in (
        CircularSimilarity,
        DenseSimilarity,
        EmbeddingSimilarity,
        GeoSimilarity,
        GridSimilarity,
        NodeSimilarity,
        OrderSimilarity,
        SparseSimilarity,
        TreeSimilarity,
        ValueSimilarity,
    )
}


def save(similarity: Similarity, path: str | PathLike[str]) -> None:
    """Write a similarity; the file ending chooses the format: .csv, .npz or .safetensors.

    Reading it back with :func:`load` gives the same values to the last digit.

    Example:
        >>> import os, tempfile
        >>> from simloss.similarity import load, order
        >>> S = order(3, r=0.5, names=["low", "middle", "high"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     S.save(os.path.join(folder, "s.csv"))
        ...     load(os.path.join(folder, "s.csv")) == S
        True
    """
    if similarity.num_classes > _MOST_CLASSES:
        raise ValueError(
            f"A saved similarity must have at most {_MOST_CLASSES:,} classes, but this one has "
            f"{similarity.num_classes:,}; make it anew where it is needed."
        )
    write, _ = _FORMATS[_ending(path)]
    write(similarity.detached(), Path(path))


def load(path: str | PathLike[str]) -> Similarity:
    """Read a similarity that :meth:`Similarity.save` wrote, or a CSV file made by hand.

    A CSV file has the class names in its first line and first column, and row = true class. The
    corner cell is empty or "similarity", or "probability" for rows that sum to 1. A file may also
    hold only the C x C numbers.
    """
    _, read = _FORMATS[_ending(path)]
    return read(Path(path))


def _ending(path: str | PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        raise ValueError(f"`path` must end in {', '.join(_FORMATS)}, but got {str(path)!r}.")
    return ending


def _about(similarity: Similarity) -> str:
    """Everything that is not a tensor, as JSON."""
    return json.dumps(
        {
            "structure": similarity.structure,
            "num_classes": similarity.num_classes,
            "names": similarity.names,
            "kind": similarity.kind,
            "options": similarity.options,
            "kept": similarity.kept,
            "notes": similarity.notes,
        }
    )


def _rebuilt(path: Path, about: str, tensors: dict[str, Tensor]) -> Similarity:
    known = json.loads(about)
    names = None if known["names"] is None else tuple(known["names"])
    structure = _STRUCTURES[known["structure"]]
    if not 1 <= known["num_classes"] <= _MOST_CLASSES:
        raise ValueError(f"{path} must have at most {_MOST_CLASSES:,} classes.")
    similarity = structure(
        known["num_classes"], tensors, names=names, kind=known["kind"], **known["options"]
    )
    similarity.kept = None if known["kept"] is None else tuple(known["kept"])
    similarity.notes = tuple(known["notes"])
    _checks.class_names(names, similarity.num_classes)
    rows = _ends(path, similarity)
    if rows.shape != (2, similarity.num_classes) or not bool(((rows >= 0) & (rows <= 1)).all()):
        raise ValueError(f"{path} must hold rows of numbers in [0, 1], one per class.")
    if isinstance(similarity, NodeSimilarity):
        values = similarity.tensors["rows"]
        if len(values) < similarity.num_classes or not bool(((values >= 0) & (values <= 1)).all()):
            raise ValueError(f"{path} must hold rows of numbers in [0, 1], at least one per class.")
    if isinstance(similarity, DenseSimilarity):
        _checks.similarity_values(similarity.tensors["matrix"], similarity.kind)
    return similarity


def _ends(path: Path, similarity: Similarity) -> Tensor:
    """The first and the last row, (2, C), of one that can also be shown and holds no NaN."""
    try:
        str(similarity)
        if not any(t.isnan().any() for t in similarity.tensors.values() if t.is_floating_point()):
            return similarity.rows([0, similarity.num_classes - 1])
    except Exception:  # it may hold tensors of any shape and kind
        pass
    raise ValueError(_not_ours(path))


def _write_npz(similarity: Similarity, path: Path) -> None:
    arrays: dict[str, Any] = {name: value.numpy() for name, value in similarity.tensors.items()}
    with whole_file(path) as file:
        np.savez_compressed(file, **arrays, about=np.array(_about(similarity)))


def _read_npz(path: Path) -> Similarity:
    try:
        arrays = arrays_of(path, follow_links=True)
        about = str(arrays.pop(_ABOUT))
        tensors = {name: torch.from_numpy(value) for name, value in arrays.items()}
        return _rebuilt(path, about, tensors)
    except _UNREADABLE:
        raise ValueError(_not_ours(path)) from None


def _write_safetensors(similarity: Similarity, path: Path) -> None:
    safetensors = _checks.installed("safetensors.torch", "cli")
    tensors = {name: value.contiguous() for name, value in similarity.tensors.items()}
    content = safetensors.save(tensors, metadata={_ABOUT: _about(similarity)})
    with whole_file(path) as file:
        file.write(content)


def _read_safetensors(path: Path) -> Similarity:
    _checks.installed("safetensors", "cli")
    try:
        tensors, about = tensors_of(path)
        return _rebuilt(path, about[_ABOUT], tensors)
    except _UNREADABLE:
        raise ValueError(_not_ours(path)) from None


def _not_ours(path: Path) -> str:
    return f"{path} must be a similarity saved by simloss, but it is not."


_FORMATS: dict[str, tuple[Callable[[Similarity, Path], Any], Callable[[Path], Similarity]]] = {
    ".csv": (write_csv, read_csv),
    ".npz": (_write_npz, _read_npz),
    ".safetensors": (_write_safetensors, _read_safetensors),
}
