"""Data sets by name, as a configuration writes them."""

from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from typing import Any

from .. import _checks, data
from ..data import Dataset

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
}


def dataset(source: str, path: str | None, options: dict[str, Any]) -> Dataset:
    """The data set a configuration names; read once a process."""
    if not _checks.names_an_attribute(source):
        _checks.choice("source", source, (*SOURCES, "module:reader"))
    # YAML holds lists, which cannot be looked up.
    plain = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    return _dataset(source, path, tuple(sorted(plain.items())))


@lru_cache(maxsize=4)
def _dataset(source: str, path: str | None, options: tuple[tuple[str, Any], ...]) -> Dataset:
    arguments = () if path is None else (path,)
    read = SOURCES.get(source) or _checks.imported("data", source)
    takes = signature(read)
    try:
        takes.bind(*arguments, **dict(options))
    except TypeError as error:
        settings = ", ".join(takes.parameters) or "no settings"
        raise ValueError(f"`data` {source!r} takes {settings}, but: {error}.") from None
    made = read(*arguments, **dict(options))
    if not isinstance(made, Dataset):
        kind = type(made).__name__
        raise TypeError(f"`data` {source!r} must return a simloss.data.Dataset, but made {kind}.")
    return made
