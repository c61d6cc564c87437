"""The number format of a file: 1,234.5 or 1.234,5.

One cell is not enough: "1,250" can be either. So the whole file is examined; if that does not
decide it, such cells stay text, which is not used, rather than become a wrong number.
"""

import re
from collections.abc import Iterable
from typing import Any

_COMMAS = r"[-+]?[1-9]\d{0,2}(?:,\d{3})+"
_POINTS = r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+"
_EXPONENT = r"(?:[eE][-+]?\d+)?"
_WITH_COMMAS = re.compile(rf"{_COMMAS}(?:\.\d+)?")
_WITH_POINTS = re.compile(rf"{_POINTS}(?:,\d+)?|[-+]?\d*,\d+{_EXPONENT}")
_EITHER = re.compile(rf"{_COMMAS}|{_POINTS}")
_DECIMAL_COMMA = re.compile(rf"[-+]?\d*,\d+|{_POINTS},\d+")
_DECIMAL_POINT = re.compile(rf"[-+]?\d*\.\d+|{_COMMAS}\.\d+|[-+]?[1-9]\d{{0,2}}(?:,\d{{3}}){{2,}}")
# With a comma somewhere, or thousands separated by (narrow) spaces or apostrophes.
_LIKE_A_NUMBER = re.compile(r"[-+]?(?:[\d.]*,[\d.,]*\d|\d{1,3}(?:[\s'’]\d{3})+(?:[.,]\d+)?)")


def decimal_of(lines: Iterable[str], separator: str) -> str | None:
    r"""The decimal sign of the file's numbers; None if it has no such cell.

    A file with commas between cells uses points; one with semicolons uses commas, if any, unless
    "0.5" shows that they separate thousands. For other separators, "0,5" must show it.

    Example:
        >>> decimal_of(["1,5;a", "1.250;b"], ";"), decimal_of(["1,250\ta"], "\t")
        (',', None)
    """
    if separator == ",":
        return "."
    edge = re.escape(separator)
    cell = re.compile(rf'(?:^|{edge})[ "]*([-+]?[\d.,]*\d)[ "]*(?={edge}|[\r\n]|$)')
    commas = points = undecided = False
    for line in lines:
        for text in cell.findall(line):
            if _EITHER.fullmatch(text) and text.count(",") < 2:
                undecided |= "," in text
            else:
                commas |= bool(_DECIMAL_COMMA.fullmatch(text))
                points |= bool(_DECIMAL_POINT.fullmatch(text))
        if commas if separator == ";" else points:
            break
    if separator == ";":
        return "," if commas or (undecided and not points) else "." if points else None
    return "." if points else "," if commas else None


def spelled_plainly(cells: Any, decimal: str | None) -> Any:
    """A column (pandas Series) of text with its numbers in Python's format.

    Only if every cell with a comma (and, if that is the decimal sign, with a point) is such a
    number: "Paris, France" in the same column shows that it holds something else.

    Example:
        >>> import pandas
        >>> spelled_plainly(pandas.Series(["1,250", "unknown"]), ".").tolist()
        ['1250', 'unknown']
    """
    form, marks = (_WITH_POINTS, ",.") if decimal == "," else (_WITH_COMMAS, ",")
    texts = {cell for cell in cells if isinstance(cell, str)}
    marked = {text for text in texts if any(mark in text for mark in marks)}
    if decimal is None or not marked or not all(form.fullmatch(text.strip()) for text in marked):
        return cells
    plain = {text: _plain(text, decimal) for text in marked}
    return cells.map(lambda cell: plain.get(cell, cell) if isinstance(cell, str) else cell)


def looks_like_a_number(text: str) -> bool:
    """Whether it is a number apart from its commas and thousands separators.

    Example:
        >>> looks_like_a_number("1,5"), looks_like_a_number("1,5 m"), looks_like_a_number("15")
        (True, False, False)
        >>> looks_like_a_number("1 250,5"), looks_like_a_number("0171 555")
        (True, False)
    """
    return bool(_LIKE_A_NUMBER.fullmatch(text))


def _plain(text: str, decimal: str) -> str:
    if decimal == ",":
        return text.strip().replace(".", "").replace(",", ".")
    return text.strip().replace(",", "")
