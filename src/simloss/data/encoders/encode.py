"""Examples -> features with a pretrained encoder, with an estimate of the time it takes."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import DataError
from .frozen import Features, FrozenEncoder, Kind, checked

PIECE = 256  # examples to encode and store together
_WARM_UP = 4  # examples, which take longer than others
_FIRST = 36  # the time is measured from the warm-up to here
_TELL_AFTER_SECONDS = 10

Tell = Callable[[str], None]
"""Called with a line on the progress."""


class Work:
    """An encoding, piece by piece; the model is loaded for the first one."""

    def __init__(self, encoder: FrozenEncoder, kind: Kind, tell: Tell | None) -> None:
        self.encoder, self.kind, self._tell = encoder, kind, tell or (lambda line: None)
        self._encode: Callable[[list[Any]], Any] | None = None
        self._width: int | None = None
        self._told: float | None = None
        self._seconds, self._count = 0.0, 0

    def __call__(self, examples: list[Any], first: int, total: int) -> Features:
        """The features of some examples; `first` is the number of examples before them."""
        parts = [examples]
        if self._encode is None:
            self._encode = self.encoder.load()
            parts = [examples[:_WARM_UP], examples[_WARM_UP:_FIRST], examples[_FIRST:]]
        made: list[Features] = []
        for part in parts:
            if part:
                if made and self._count == _WARM_UP:
                    self._seconds, self._count = 0.0, 0
                made.append(self._timed(part, first))
                first += len(part)
                self._say_how_long(total - first, total)
        return np.concatenate(made)

    def same_width(self, features: Features) -> None:
        """Refuse pieces of different widths, as an encoder of another version makes them."""
        self._width = self._width or features.shape[1]
        if features.shape[1] != self._width:
            raise DataError(
                f"`encoder` {self.encoder.name!r} must return equally many numbers for each of the "
                f"{self.kind}, but returned {self._width} and {features.shape[1]}."
            )

    def _timed(self, examples: list[Any], first: int) -> Features:
        assert self._encode is not None
        started = time.monotonic()
        try:
            found = self._encode(examples)
        except DataError:
            raise
        except Exception as error:  # somebody else's code
            reason = " ".join(str(error).split()).rstrip(".")
            raise DataError(
                f"`encoder` {self.encoder.name!r} failed on {self.kind} {first + 1:,} to "
                f"{first + len(examples):,}: {type(error).__name__}: {reason:.300}."
            ) from error
        self._seconds += time.monotonic() - started
        self._count += len(examples)
        return checked(self.encoder.name, self.kind, examples, found, first)

    def _say_how_long(self, left: int, total: int) -> None:
        is_first = self._told is None and self._count > _WARM_UP
        is_due = self._told is not None and time.monotonic() - self._told > _TELL_AFTER_SECONDS
        if left <= 0 or not (is_first or is_due):
            return
        self._told = time.monotonic()
        duration = _readable(self._seconds / self._count * left)
        # Images are counted as they are read; how many there are follows from the size of the rest.
        whole = (
            f"{total:,}" if self.kind == "texts" else f"about {round(total, 2 - len(str(total))):,}"
        )
        if is_first:
            name = self.encoder.name
            self._tell(f"Encoding {whole} {self.kind} by {name} takes about {duration}")
        else:
            self._tell(f"  {total - left:,} of {whole} {self.kind} encoded, {duration} left")


def stacked(pieces: list[Features]) -> Tensor:
    """All pieces as one tensor, float32 (N, D)."""
    return torch.from_numpy(np.concatenate(pieces))


def _readable(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
