"""Processes made by fork: everything is imported once, so that a kill costs a tenth of a second.

The parent starts no threads, or fork would not be safe: it trains nothing and draws nothing.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from simloss.experiment.grid.setup import Setup
from simloss.experiment.plan.config import Config


def warm(config: Config) -> None:
    """Import and read what every child needs, without starting a thread."""
    for name in ("torch._dynamo", "yaml", "pandas", "joblib"):
        import_module(name)
    assert Setup(config).dataset


class Child:
    """A forked process with its own process group; its standard error goes to a file."""

    def __init__(self, work: Callable[[], None], log: Path) -> None:
        self.log = log
        self.pid = os.fork()
        if self.pid == 0:
            _be_a_child(work, log)
        self.code: int | None = None

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended within this time, not counting time in which we were suspended."""
        waited, last = 0.0, time.monotonic()
        while self.code is None:
            options = 0 if seconds is None else os.WNOHANG
            pid, status = os.waitpid(self.pid, options)
            now = time.monotonic()
            waited, last = waited + min(now - last, 0.1), now
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif seconds is not None and waited > seconds:
                return False
            else:
                time.sleep(0.002)
        return True

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send it a signal, unless it has ended."""
        if self.code is None:
            os.kill(self.pid, number)

    def said(self) -> str:
        """What it wrote to standard error."""
        return self.log.read_text(errors="replace")


def _be_a_child(work: Callable[[], None], log: Path) -> None:
    code = 70
    try:
        os.setpgid(0, 0)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        work()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
