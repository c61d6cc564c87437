"""A pretrained encoder: a Hugging Face model, or the user's own function."""

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..._disk import bytes_of
from ..._imports import UsersName, imported, names_an_attribute, users_own
from ..errors import DataError
from . import hf

Kind = Literal["texts", "images"]
Features = npt.NDArray[np.float32]
_MOST_BYTES = 2**26  # of a source file


@dataclass(frozen=True)
class FrozenEncoder:
    """Examples -> features, the same for equal examples.

    Attributes:
        name: as the user wrote it.
        version: differs if its features may differ; features are cached under it.
        load: makes the function from a list of texts or images to an array (N, D), when needed.
    """

    name: str
    version: Callable[[], str]
    load: Callable[[], Callable[[list[Any]], Any]]


def frozen_encoder(name: str, kind: Kind) -> FrozenEncoder:
    """The encoder that `--encoder` names: `hf:NAME-OR-FOLDER` or `module:callable`.

    A name from a file is plain text: nothing is imported or downloaded for it.
    """
    if name.startswith(hf.PREFIX):
        model = hf.Model.named(
            name.removeprefix(hf.PREFIX), may_download=isinstance(name, UsersName)
        )
        return FrozenEncoder(name, model.version, lambda: model.encoder(kind))
    if not names_an_attribute(name):
        known = "tfidf, hf:NAME-OR-FOLDER" if kind == "texts" else "hf:NAME-OR-FOLDER"
        raise ValueError(
            f"`encoder` of {kind} must be {known} or module:callable, but got {str(name)!r}."
        )
    own = users_own("encoder", name)
    return FrozenEncoder(name, lambda: _source_digest(own), lambda: _callable(own))


def _callable(name: UsersName) -> Callable[[list[Any]], Any]:
    found = imported("encoder", name)
    if not callable(found):
        raise TypeError(
            f"`encoder` {str(name)!r} must be a function from a list to an array, "
            f"but it is {type(found).__name__}."
        )
    return found


def _source_digest(name: UsersName) -> str:
    """A digest of the file with the function: if it changes, everything is encoded again."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(_callable(name)))
        content = bytes_of(Path(file or ""), _MOST_BYTES, follow_links=True)
    except (TypeError, OSError, ValueError):
        return "unknown source"
    return hashlib.sha256(content).hexdigest()


def checked(name: str, kind: Kind, examples: list[Any], found: Any, first: int) -> Features:
    """What an encoder returned as float32 (N, D), or an error that says what is wrong with it."""
    if hasattr(found, "detach"):
        found = found.detach().cpu().float().numpy()
    try:
        features = np.asarray(found, dtype=np.float32)
    except (TypeError, ValueError):
        raise DataError(
            f"`encoder` {name!r} must return an array of numbers, "
            f"but returned {type(found).__name__}."
        ) from None
    if features.ndim != 2 or len(features) != len(examples) or features.shape[1] == 0:
        raise DataError(
            f"`encoder` {name!r} must return one row of numbers for each of the {len(examples)} "
            f"{kind} it was given, but returned shape {features.shape}."
        )
    broken = ~np.isfinite(features).all(1)
    if broken.any():
        at = int(broken.argmax())
        shown = f" ({examples[at]!r:.60})" if isinstance(examples[at], str) else ""
        raise DataError(
            f"`encoder` {name!r} must return finite numbers, but returned NaN or infinity for "
            f"number {first + at + 1:,} of the {kind}{shown}."
        )
    return features
