"""Ctrl-C and SIGTERM end long work with what is recorded and how to go on."""

import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

GIVEN: ContextVar[Sequence[str]] = ContextVar("GIVEN", default=())
"""The arguments of the command that runs."""


@contextmanager
def stopped_politely(recorded: Callable[[], str]) -> Iterator[None]:
    """Say what `recorded` says, such as "3 of 8 cells are recorded in 'run'", and exit with 130."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        print(f"\nStopped. {recorded()}. This resumes it:\n  {_resuming()}", file=sys.stderr)
        raise SystemExit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _resuming() -> str:
    """The command that goes on; a folder that was not named is found again by its settings."""
    given = [*GIVEN.get()]
    is_named = any(each.split("=")[0] == "--out" for each in given)
    lacks = is_named and "--resume" not in given
    return shlex.join(["simloss", *given, *(["--resume"] if lacks else [])])
