"""Where an interrupted run goes on: the state of its training, written now and then."""

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from .store import write_whole

# A state is worth writing when losing what came after the last one would hurt.
EVERY_SECONDS = 60.0


class Checkpoint:
    """A file that holds an unfinished run; without a path, nothing is kept.

    It holds tensors and plain values only and is read as such, so it cannot run code. One that
    cannot be read is as good as none: the run starts anew.
    """

    def __init__(self, path: Path | None = None, every: float = EVERY_SECONDS) -> None:
        self.path, self.every = path, every
        self._last = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """The state written last, if there is one."""
        if self.path is None or not self.path.exists():
            return None
        try:
            return dict(torch.load(self.path, weights_only=True))
        except Exception:  # a damaged file raises almost anything
            return None

    def save_if_due(self, state: Callable[[], dict[str, Any]]) -> None:
        """Write the state, whole or not at all, if the last one is old enough."""
        if self.path is None or time.monotonic() - self._last < self.every:
            return
        buffer = io.BytesIO()
        torch.save(state(), buffer)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.path, buffer.getvalue())
        self._last = time.monotonic()

    def remove(self) -> None:
        """The run is over."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
