"""Data sets by name, as a configuration writes them."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .. import _checks, data
from ..data import Dataset

SOURCES: dict[str, Callable[..., Dataset]] = {
    "diamonds": data.diamonds,
    "abalone": data.abalone,
    "utkface": data.utkface,
    "afad": data.afad,
    "cifar100": data.cifar100,
}


def dataset(source: str, path: str | None, options: dict[str, Any]) -> Dataset:
    """The data set a configuration names; read once a process."""
    _checks.choice("source", source, tuple(SOURCES))
    return _dataset(source, path, tuple(sorted(options.items())))


@lru_cache(maxsize=4)
def _dataset(source: str, path: str | None, options: tuple[tuple[str, Any], ...]) -> Dataset:
    arguments = () if path is None else (path,)
    return SOURCES[source](*arguments, **dict(options))
