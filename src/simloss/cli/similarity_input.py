"""What `simloss similarity` reads: lists of names, small CSV files, priors."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from ..similarity import Similarity

_MOST_BYTES = 2**28


def listed_names(names: list[str] | None, file: Path | None) -> list[str]:
    """Class names from the arguments, or from a file with one name per line."""
    from .._disk import bytes_of

    if file is None:
        return names or []
    if names:
        raise ValueError("Class names must come as arguments or from a file, but both were given.")
    lines = bytes_of(file, _MOST_BYTES, follow_links=True).decode("utf-8-sig").splitlines()
    return [line.strip() for line in lines if line.strip()]


def choice(text: str) -> tuple[str, int | str]:
    """What name=offset or name=word says."""
    name, equals, meaning = text.partition("=")
    if not equals or not meaning:
        raise ValueError(f"`--choose` must be name=offset or name=word, but got {text!r}.")
    return name, int(meaning) if meaning.isdigit() else meaning


def named_numbers(path: Path, header: bool, count: int | None) -> tuple[list[str], "Tensor"]:
    """The first cell of each line, and the rest as numbers."""
    from ..similarity.csv_lines import equally_long, numbers, read_lines, refuse_semicolons

    lines = read_lines(path)
    refuse_semicolons(path, lines)
    equally_long(path, lines)
    if count is not None and len(lines[0]) != count + 1:
        raise ValueError(
            f"{path} must have a name and {count} numbers in each line, "
            f"but has {len(lines[0])} cells."
        )
    lines = lines[1:] if header else lines
    cells = [line[1:] for line in lines]
    return [line[0].strip() for line in lines], numbers(path, cells, (int(header), 1))


def prior(path: Path, made: "Similarity") -> "Tensor":
    """One number per class, in class order; with names, in any order."""
    from .. import _checks
    from ..similarity.csv_lines import equally_long, numbers, read_lines, refuse_semicolons

    lines = read_lines(path)
    refuse_semicolons(path, lines)
    equally_long(path, lines)
    shift = len(lines[0]) - 1
    column = numbers(path, [line[-1:] for line in lines], (0, shift))[:, 0]
    if shift and made.names:
        given = [line[0].strip() for line in lines]
        place = _checks.permutation("prior", made.names, given, f"classes in {path}")
        column = column[place]
    return column
