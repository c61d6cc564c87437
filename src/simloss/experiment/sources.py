"""Data sets by name, as a configuration writes them."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .. import _checks, data
from ..data import Dataset

SOURCES: dict[str, Callable[..., Dataset]] = {
    "diamonds": data.diamonds,
    "abalone": data.abalone,
    "utkface": lambda path, **options: data.utkface(path, **options),
    "afad": lambda path, **options: data.afad(path, **options),
    "cifar100": lambda path, **options: data.cifar100(path, **options),
}


def dataset(source: str, path: str | None, options: dict[str, Any]) -> Dataset:
    """The data set a configuration names; read once a process."""
    _checks.choice("source", source, tuple(SOURCES))
    return _dataset(source, path, tuple(sorted(options.items())))


@lru_cache(maxsize=4)
def _dataset(source: str, path: str | None, options: tuple[tuple[str, Any], ...]) -> Dataset:
    arguments = () if path is None else (path,)
    return SOURCES[source](*arguments, **dict(options))
