"""Something happens at the n-th step to the disk: the process dies, or the step fails.

A step is a call that changes the disk. Python's own file objects write without passing through
here, so `open` returns files whose `write` counts too.
"""

import builtins
import errno
import io
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

_CALLS = ("fsync", "replace", "rename", "truncate", "unlink", "mkdir", "ftruncate", "chmod")


class Steps:
    """Counts steps, and calls `then` at number `at`, once."""

    def __init__(self, at: int, then: Callable[[], None]) -> None:
        self.at, self.then, self.taken = at, then, 0

    def step(self) -> None:
        """One more."""
        self.taken += 1
        if self.taken == self.at:
            self.then()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Steps inside count."""
        calls = {name: self._wrapped(name) for name in _CALLS}
        with (
            mock.patch.multiple(os, **calls),
            mock.patch.object(builtins, "open", self._open(builtins.open)),
            mock.patch.object(io, "open", self._open(io.open)),
            mock.patch.object(os, "fdopen", self._open(os.fdopen)),
        ):
            yield

    def _wrapped(self, name: str) -> Any:
        original = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            self.step()
            return original(*arguments, **options)

        return call

    def _open(self, original: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            file = original(*arguments, **options)
            return Watched(file, self) if file.writable() else file

        return call


class Watched:
    """A file whose writes are steps, each of them in two halves."""

    def __init__(self, file: Any, steps: Steps) -> None:
        self._file, self._steps = file, steps

    def write(self, content: Any) -> int:
        half = len(content) // 2
        self._steps.step()
        written = self._file.write(content[:half])
        if written < half:
            return written
        self._file.flush()
        self._steps.step()
        return written + self._file.write(content[half:])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "Watched":
        self._file.__enter__()
        return self

    def __exit__(self, *about: Any) -> Any:
        return self._file.__exit__(*about)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)


def die() -> None:
    """Like a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)


def no_space() -> None:
    """As on a full disk."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def broken_disk() -> None:
    """As on a disk that has failed."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))
