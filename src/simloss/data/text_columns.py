"""The texts of a table: several columns joined into one, and its numbers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .columns import Column, as_text
from .encoders.encode import Tell
from .encoders.texts import encoded_texts
from .encoders.tfidf import SIZE
from .errors import DataError
from .images import Cache

TFIDF = "tfidf"


def texts_joined(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns, with all texts joined into one at the end.

    Example:
        >>> some = [Column("title", "text", ("title",)), Column("body", "text", ("body",))]
        >>> texts_joined([*some, Column("stars", "number")])[-1].name
        'title + body'
    """
    texts = [each for each in columns if each.kind == "text"]
    others = [each for each in columns if each.kind != "text"]
    if not texts:
        return tuple(others)
    headings = tuple(heading for each in texts for heading in each.words)
    return (*others, Column(" + ".join(headings), "text", headings))


def text_cells(frame: Any, headings: Sequence[str]) -> list[str]:
    """The texts of each row, joined by line breaks; empty cells are left out."""
    cells = [as_text(frame[heading]) for heading in headings]
    return ["\n".join(cell or "" for cell in row).strip() for row in zip(*cells, strict=True)]


def check_encoder(encoder: str | None, columns: Sequence[Column], path: Path) -> None:
    """Refuse an encoder if there is no text for it."""
    if encoder is not None and not any(each.kind == "text" for each in columns):
        raise DataError(
            f"`encoder` must have texts to encode, but no column of '{path}' is read as one: "
            f"a text has several words in most cells, and hardly two that are alike."
        )


def with_texts(
    columns: tuple[Column, ...],
    cells: Tensor,
    texts: list[str],
    encoder: str,
    *,
    cache: Cache = None,
    tell: Tell | None = None,
) -> tuple[tuple[Column, ...], Tensor, tuple[str, ...] | None]:
    """Columns, cells and the texts to encode when the table is split.

    A pretrained encoder turns them into further cells at once.
    """
    *others, column = columns
    if encoder == TFIDF:
        return (*others, replace(column, size=SIZE)), cells, tuple(texts)
    features = encoded_texts(texts, encoder, cache=cache, tell=tell)
    together = torch.cat([cells, features.double()], dim=1)
    return (*others, replace(column, size=features.shape[1])), together, None
