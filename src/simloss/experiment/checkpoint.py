"""Where an interrupted run goes on: the state of its training, written now and then."""

import copy
import io
import time
import zipfile
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

    def load(self, fitting: dict[str, Any] | None = None) -> dict[str, Any] | None:
        """The state written last, if there is one.

        `fitting` are the modules, optimizers and generators, by name, that take their share of
        it; they are as they were before if it does not fit them.
        """
        if self.path is None or not self.path.exists():
            return None
        before = {name: copy.deepcopy(_state(each)) for name, each in (fitting or {}).items()}
        try:
            with zipfile.ZipFile(self.path) as file:
                if file.testzip() is not None:  # torch does not compare the checksums
                    return None
            found = dict(torch.load(self.path, weights_only=True))
            for name, each in (fitting or {}).items():
                if name in found or name != "loss":  # no loss in those of version 0.1
                    _restore(each, found[name])
            return found
        except Exception:  # a damaged file raises almost anything
            for name, state in before.items():
                _restore((fitting or {})[name], state)
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


def _state(each: Any) -> Any:
    return each.get_state() if isinstance(each, torch.Generator) else each.state_dict()


def _restore(each: Any, state: Any) -> None:
    if isinstance(each, torch.Generator):
        each.set_state(state)
    else:
        each.load_state_dict(state)
