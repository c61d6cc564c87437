"""Where the data is and which reader reads it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..._disk import expanded
from ..._imports import UsersName, names_an_attribute
from ...data import DataError, MissingDataError
from ...data.arrays import ENDINGS as ARRAYS
from ...data.content import content_of
from ...data.encoders.hf import with_whole_path
from ...data.memory import check_fits_memory
from ...data.table_file import ENDINGS, is_table
from ...data.text_folder import holds_texts
from .config import DataConfig
from .sources import SHIPPED

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")


def data_config(
    data: str,
    *,
    target: str | None = None,
    image_column: str | None = None,
    class_order: Sequence[str] | None = None,
    bins: int | None = None,
    superclass: str | None = None,
    drop: Sequence[str] = (),
    size: int | None = None,
    skip_unreadable: bool = False,
    encoder: UsersName | None = None,
) -> DataConfig:
    """Which reader reads what the user has named, a path or `module:reader`, and how."""
    path = expanded(data)
    source = _source(data, path, image_column)
    given: dict[str, Any] = {
        "target": target,
        "image_column": image_column,
        "class_order": list(class_order) if class_order else None,
        "bins": bins,
        "superclass": superclass,
        "drop": list(drop) or None,
        "size": size,
        "skip_unreadable": skip_unreadable or None,
        "encoder": None if encoder is None else with_whole_path(encoder),
    }
    options = {name: value for name, value in given.items() if value is not None}
    taken = _OPTIONS.get(source, set())
    for name in options:
        if name not in taken:
            flag, what = name.replace("_", "-"), _WHAT.get(source, "a reader of your own")
            if source in SHIPPED:
                raise ValueError(f"`--{flag}` is for your own files; {source} needs none.")
            raise ValueError(f"`--{flag}` does not apply to {what} like '{path}'.")
    if source not in _OPTIONS:
        return DataConfig(source)
    if source in _NEEDS_TARGET and target is None:
        raise ValueError(f"`--target` must name the column of '{path}' to predict.")
    if is_table(path):
        check_fits_memory(path)  # before the digest: a file too large is long to read
    options["content"] = content_of(path)
    return DataConfig(source, str(path.resolve()), options)


_OPTIONS = {
    "table": {"target", "class_order", "bins", "superclass", "drop", "encoder"},
    "images": {"class_order", "size", "skip_unreadable", "encoder"},
    "texts": {"class_order", "encoder"},
    "arrays": {"target", "class_order", "bins", "superclass"},
    "image-table": {
        *("target", "image_column", "class_order", "bins"),
        *("superclass", "size", "skip_unreadable", "encoder"),
    },
}
_NEEDS_TARGET = ("table", "image-table")
_WHAT = {
    "table": "a table",
    "images": "an image folder",
    "image-table": "a table of images",
    "texts": "a folder of texts",
    "arrays": "a file of arrays",
}


def _source(data: str, path: Path, image_column: str | None) -> str:
    if data in SHIPPED:
        return data
    if not path.exists():
        if names_an_attribute(data):
            return data
        raise MissingDataError(
            f"`source` must be diamonds, abalone, a table, a folder of images or texts, an .npz "
            f"file or module:reader, but nothing was found at '{path}'."
        )
    if path.is_dir() and holds_texts(path):
        return "texts"
    if path.is_dir() or path.name.lower().endswith(_ARCHIVES):
        return "images"
    if is_table(path):
        return "table" if image_column is None else "image-table"
    if path.suffix.lower() in ARRAYS:
        return "arrays"
    raise DataError(
        f"'{path}' must be a table ({', '.join(ENDINGS)}), arrays ({', '.join(ARRAYS)}) or a "
        f"folder of images or texts, but its name ends in {path.suffix or 'nothing known'!r}."
    )
