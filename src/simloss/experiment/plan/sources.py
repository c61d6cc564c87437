"""Data sets by name, as a configuration writes them."""

import json
import sys
from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from typing import Any, get_type_hints

from ... import _checks, data
from ..._imports import imported, names_an_attribute, users_own
from ..._schema import fits
from ...data import Dataset

SHIPPED = ("diamonds", "abalone")
SOURCES: dict[str, Callable[..., Dataset]] = {
    "diamonds": data.diamonds,
    "abalone": data.abalone,
    "skordinal": data.skordinal,
    "fair": data.fair,
    "utkface": data.utkface,
    "utkface-components": data.utkface_components,
    "afad": data.afad,
    "cifar100": data.cifar100,
    "cifar100-components": data.cifar100_components,
    "table": data.table,
    "images": data.image_folder,
    "image-table": data.image_table,
    "texts": data.text_folder,
    "arrays": data.arrays,
}

# What a reader may be told by its caller only: where it writes, and that it uses the network.
_NOT_FROM_A_FILE = {"path", "cache", "progress", "tell", "download", "return"}


def dataset(source: str, path: str | None, options: dict[str, Any]) -> Dataset:
    """The data set that a configuration names; read once per process.

    Of what a file says, only readers that are built in are called, with nothing but settings.
    """
    if names_an_attribute(source):
        source = users_own("data", source)
    else:
        _checks.choice("source", source, (*SOURCES, "module:reader"))
        _check_options(source, options)
    return _dataset(source, path, _Options(options))


class _Options(dict[str, Any]):
    """Told apart from others by what they say, so that data can be looked up by them."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(json.dumps(self, sort_keys=True, default=str))


@lru_cache(maxsize=4)
def _dataset(source: str, path: str | None, options: _Options) -> Dataset:
    arguments = () if path is None else (path,)
    read = SOURCES.get(source) or imported("data", users_own("data", source))
    takes = signature(read)
    try:
        takes.bind(*arguments, **options)
    except TypeError as error:
        settings = ", ".join(takes.parameters) or "no settings"
        raise ValueError(f"`data` {source!r} takes {settings}, but: {error}.") from None
    told = {"tell": tell} if "encoder" in options and "tell" in takes.parameters else {}
    made = read(*arguments, **options, **told)
    if not isinstance(made, Dataset):
        kind = type(made).__name__
        raise TypeError(f"`data` {source!r} must return a simloss.data.Dataset, but made {kind}.")
    return made


def tell(line: str) -> None:
    """How far a long encoding is, for those who wait."""
    print(line, file=sys.stderr, flush=True)


def _check_options(source: str, options: dict[str, Any]) -> None:
    """Settings of the kind that the reader is annotated with, and no others."""
    hints = get_type_hints(SOURCES[source])
    for name, value in options.items():
        if name not in hints.keys() - _NOT_FROM_A_FILE:
            known = ", ".join(sorted(hints.keys() - _NOT_FROM_A_FILE)) or "none"
            raise ValueError(
                f"`data` {source!r} takes no {name!r:.80} from a configuration; "
                f"its settings: {known}."
            )
        if not fits(value, hints[name]):
            wanted = str(getattr(hints[name], "__name__", hints[name])).replace("typing.", "")
            raise ValueError(f"`{name}` of the data must be {wanted}, but got {value!r:.80}.")
