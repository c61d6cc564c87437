"""The columns of a table: what each one holds, and its cells as numbers.

Telling numbers from dates by all rows is not a leak; what depends on the values of one part
(medians, frequent categories) is fitted by :class:`simloss.data.Encoder`.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .number_spelling import looks_like_a_number
from .ordered_words import ranks

# The number of categories with a 0/1 column each; less frequent ones share one.
MOST_CATEGORIES = 30

_DATE_FORMS = ("ISO8601", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d")
_LOOKS_LIKE_A_DATE = r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ].*)?"
# Texts differ from categories and identifiers: mostly unique, and of several words.
_FEW_TEXTS = 20
_OFTEN_NEW = 0.2
_SEVERAL_WORDS = 3
# With fewer numbers than this, the words are more than an occasional "unknown".
_MOSTLY = 0.8
_SECONDS_A_DAY = 86_400
_IDENTIFIER = re.compile(r"(?:^|[\W_])[iI][dD]$|[a-z]I[Dd]$")
# The name pandas gives to the column of row numbers that `to_csv` writes without a heading.
_ROW_NUMBER = re.compile(r"Unnamed: \d+|index|", re.IGNORECASE)
NOT_ONE_VALUE = (list, tuple, dict, set, np.ndarray)

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """One column that is used.

    Attributes:
        name: its heading.
        kind: "number", "date", "rank" (words with an order), "category", "vector" (a list of
            numbers in each cell) or "text", which an encoder turns into numbers.
        words: the categories, the words from the lowest rank to the highest, or the headings of
            the texts that are joined.
        form: the format of its dates, or "," if points separate the thousands of its numbers.
        has_missing: whether a cell of the file is empty.
        size: how many numbers a cell becomes.
    """

    name: str
    kind: str
    words: tuple[str, ...] = ()
    form: str | None = None
    has_missing: bool = False
    size: int = 1

    @property
    def width(self) -> int:
        """The number of inputs of a net it becomes; independent of how the data is split."""
        values = self.size
        if self.kind == "category":
            values = min(len(self.words), MOST_CATEGORIES) + (len(self.words) > MOST_CATEGORIES)
        return values + self.has_missing

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns of the file that it is made from."""
        return self.words if self.kind == "text" else (self.name,)

    def numbers(self, cells: Any) -> Numbers:
        """The cells as numbers, (N) or (N, size): NaN if empty, -1 for an unseen category."""
        if self.kind == "vector":
            return _vectors(cells, self.size)
        if self.kind == "number":
            return _floats(cells)
        if self.kind == "date":
            return _days(_dates(cells, self.form))
        place = {_plain(word, self.kind): i for i, word in enumerate(self.words)}
        unknown = -1.0 if self.kind == "category" else np.nan
        texts = as_text(cells)
        return np.array(
            [np.nan if t is None else place.get(_plain(t, self.kind), unknown) for t in texts],
            dtype=np.float64,
        )


def _vectors(cells: Any, size: int) -> Numbers:
    """Lists of numbers as rows (N, size); NaN for any other cell."""
    rows = np.full((len(cells), size), np.nan)
    for row, cell in zip(rows, cells, strict=True):
        with suppress(ValueError, TypeError):  # for example a list of words
            row[:] = np.asarray(cell, dtype=np.float64) if np.size(cell) == size else np.nan
    return np.where(np.isfinite(rows).all(1, keepdims=True), rows, np.nan)


def _floats(cells: Any) -> Numbers:
    import pandas as pd

    try:
        found = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    except OverflowError:  # an integer of hundreds of digits
        wide = cells.map(lambda cell: isinstance(cell, int) and cell.bit_length() > 1000)
        found = pd.to_numeric(cells.mask(wide), errors="coerce").to_numpy(np.float64)
    return np.where(np.isfinite(found), found, np.nan)


def columns_of(frame: Any) -> tuple[tuple[Column, ...], dict[str, str]]:
    """The columns to use, and why the others are not used, by name."""
    used, unused = [], {}
    with_commas = frame.attrs.get("with_commas", ())
    for name in frame.columns:
        found = _column(str(name), frame[name])
        if not isinstance(found, Column):
            unused[str(name)] = found
        elif found.kind == "number" and name in with_commas:
            used.append(replace(found, form=","))
        else:
            used.append(found)
    return tuple(used), unused


def not_understood(cells: Any, numbers: Any) -> tuple[int, str] | None:
    """How many non-empty cells are not numbers, and the first of them."""
    lacking = np.isnan(numbers) if numbers.ndim == 1 else np.isnan(numbers[:, 0])
    odd = (cells.notna().to_numpy() & lacking).nonzero()[0]
    return (len(odd), str(cells.iloc[odd[0]])[:40]) if len(odd) else None


def as_text(cells: Any) -> list[str | None]:
    """Each cell as text, None if empty."""
    return [
        None if missing else str(cell).strip()
        for cell, missing in zip(cells, cells.isna(), strict=True)
    ]


def names_rows(heading: str) -> bool:
    """Whether a column with this heading numbers or names the rows.

    Example:
        >>> [names_rows(heading) for heading in ("id", "Unnamed: 0", "image_id", "paid")]
        [True, True, True, False]
    """
    return bool(_IDENTIFIER.search(heading) or _ROW_NUMBER.fullmatch(heading))


def _column(name: str, cells: Any) -> Column | str:
    """The kind of the column, or why it is not used."""
    import pandas as pd

    has_missing = bool(cells.isna().any())
    present = cells.dropna()
    if present.empty:
        return "empty"
    if any(isinstance(cell, NOT_ONE_VALUE) for cell in present.head(10)):
        return _vector_column(name, present, has_missing)
    if present.nunique() == 1 and not has_missing:
        return "always the same"
    if pd.api.types.is_bool_dtype(cells) or pd.api.types.is_numeric_dtype(cells):
        if _counts_rows(present) or (_ROW_NUMBER.fullmatch(name) and _numbers_rows(present)):
            return "counts the rows"
        if _IDENTIFIER.search(name) and len(present) > 20 and present.is_unique:
            return "every value is different, like an identifier"
        return Column(name, "number", has_missing=has_missing)
    if pd.api.types.is_datetime64_any_dtype(cells):
        return Column(name, "date", has_missing=has_missing)
    return _text_column(name, present.astype(str).str.strip(), has_missing)


def _vector_column(name: str, present: Any, has_missing: bool) -> Column | str:
    """A column of lists, such as embeddings, if they are numbers and of equal length."""
    sizes = {np.size(cell) for cell in present}
    if len(sizes) > 1:
        return "its cells hold lists of different lengths"
    column = Column(name, "vector", has_missing=has_missing, size=sizes.pop())
    numbers = column.numbers(present)
    if column.size == 0 or np.isnan(numbers).any():
        return "its cells hold lists that are no numbers"
    return "always the same" if not has_missing and (numbers == numbers[0]).all() else column


def _is_running_text(texts: Any, distinct: int) -> bool:
    """Whether the cells are written language: several words each, almost all different."""
    is_varied = distinct > _FEW_TEXTS and distinct > _OFTEN_NEW * len(texts)
    return is_varied and float(texts.str.split().str.len().mean()) >= _SEVERAL_WORDS


def _text_column(name: str, texts: Any, has_missing: bool) -> Column | str:
    import pandas as pd

    are_numbers = pd.to_numeric(texts, errors="coerce").notna()
    if are_numbers.mean() >= _MOSTLY:
        return Column(name, "number", has_missing=has_missing or not are_numbers.all())
    form = _date_form(texts)
    if form is not None:
        return Column(name, "date", form=form, has_missing=has_missing)
    words = sorted(texts.unique())
    places = ranks(words)
    if places is not None and len(words) > 1:
        in_order = sorted(zip(places, words, strict=True))
        return Column(name, "rank", tuple(w for _, w in in_order), has_missing=has_missing)
    if _is_running_text(texts, len(words)):
        return Column(name, "text", (name,))
    if len(words) > 20 and len(words) > len(texts) / 2:
        others = texts.map(looks_like_a_number)
        if (are_numbers | others).mean() >= _MOSTLY:
            return "looks like numbers in an unknown format"
        return "almost every value is different, like an identifier"
    return Column(name, "category", tuple(words), has_missing=has_missing)


def _counts_rows(numbers: Any) -> bool:
    """1, 2, 3, ...: the number of the row, which gives the class away in a sorted file.

    A few rows may be missing, because they have no class.
    """
    values = numbers.to_numpy(np.float64)
    return len(values) > 20 and bool((np.diff(values) == 1).mean() > 0.95)


def _numbers_rows(numbers: Any) -> bool:
    """The same in any order, even if up to half of the rows are missing: a shuffled part."""
    values = np.sort(numbers.to_numpy(np.float64))
    steps = np.diff(values)
    is_whole = bool((values == np.floor(values)).all())
    return len(values) > 20 and is_whole and bool((steps > 0).all() and (steps == 1).mean() > 0.5)


def _date_form(texts: Any) -> str | None:
    if not texts.str.fullmatch(_LOOKS_LIKE_A_DATE).all():
        return None
    forms = (form for form in _DATE_FORMS if not _dates(texts, form).isna().any())
    return next(forms, None)


def _dates(cells: Any, form: str | None) -> Any:
    import pandas as pd

    return pd.to_datetime(cells, format=form, errors="coerce", utc=True)


def _days(moments: Any) -> Numbers:
    seconds = (moments.dt.tz_localize(None) - np.datetime64("1970-01-01")).dt.total_seconds()
    return seconds.to_numpy(np.float64) / _SECONDS_A_DAY


def _plain(word: str, kind: str) -> str:
    return word.casefold() if kind == "rank" else word
