"""Ctrl-C and SIGTERM end long work with what is recorded and how to go on."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stopped_politely(recorded: Callable[[], str]) -> Iterator[None]:
    """Say what `recorded` says, such as "3 of 8 cells are recorded in 'run'", and exit with 130."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        print(
            f"\nStopped. {recorded()}; the same command with --resume goes on from there.",
            file=sys.stderr,
        )
        raise SystemExit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)
