"""A folder of text files, with one folder per class."""

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import torch

from .class_folders import dataset_of_folders
from .columns import Column
from .content import check_content
from .dataset import Dataset
from .duplicates import groups, repeated
from .encoders.encode import Tell
from .errors import DataError
from .faces import existing_path
from .image_cache import Index
from .image_folder import IMAGE_ENDINGS
from .images import Cache, LeftOut, wanted_files
from .source import Folder
from .text_columns import TFIDF, with_texts

TEXT_ENDINGS = (".txt", ".text", ".md")
_DEPTH = 12


def text_folder(
    path: str | os.PathLike[str],
    *,
    class_order: Sequence[str] | None = None,
    content: str | None = None,
    encoder: str | None = None,
    cache: Cache = None,
    tell: Tell | None = None,
) -> Dataset:
    """A folder in which each class has a folder with its texts, one per file (.txt, .text, .md).

    Parts, trees and class order are as in :func:`simloss.data.image_folder`, the encoder as in
    :func:`simloss.data.table`. Equal texts form one group.

    Example:
        >>> text_folder("reviews").class_names  # doctest: +SKIP
        ('negative', 'positive')
    """
    found = existing_path(path, "pass the path of a folder with one folder of texts per class")
    check_content(found, content)
    names, texts, left_out = texts_in(found, needs_class=True)
    columns, cells, waiting = with_texts(
        (Column("text", "text", ("text",)),),
        torch.empty(len(texts), 0, dtype=torch.float64),
        texts,
        encoder or TFIDF,
        cache=cache,
        tell=tell,
    )
    return dataset_of_folders(
        found,
        names,
        class_order,
        what="texts",
        groups=groups(len(texts), repeated(texts)),
        notes={"left_out": left_out} if left_out else {},
        inputs=cells,
        columns=columns,
        texts=waiting,
    )


def holds_texts(path: Path) -> bool:
    """Whether there are more texts than images in its folders; what lies beside them is a note."""
    names = [name.lower() for name in Folder(path, _DEPTH).names() if "/" in name]
    texts = sum(name.endswith(TEXT_ENDINGS) for name in names)
    return texts > sum(name.endswith(IMAGE_ENDINGS) for name in names)


def texts_in(
    path: Path, *, needs_class: bool = False
) -> tuple[list[str], list[str], dict[str, dict[str, object]]]:
    """Names and contents of the text files in a folder, and what was left out, by the reason."""

    def row_name(name: str) -> str | LeftOut | None:
        if not name.lower().endswith(TEXT_ENDINGS) or PurePosixPath(name).name.startswith("."):
            return None
        has_class = "/" in name or not needs_class
        return name if has_class else LeftOut("not in the folder of a class")

    index, names, texts = Index(), [], []
    for name, file in wanted_files(Folder(path, _DEPTH), row_name, index):
        try:
            text = file.read().decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            raise DataError(f"'{name}' in '{path}' must be UTF-8 text, but it is not.") from None
        if text:
            names.append(name)
            texts.append(text)
        else:
            index.leave_out(name, "empty")
    if not names:
        raise DataError(
            f"'{path}' must hold folders of texts, one per class ({', '.join(TEXT_ENDINGS)}), "
            f"but no such file is there."
        )
    return names, texts, index.left_out
