"""A command as its own process, which the test may interrupt and which never outlives it."""

import signal
import subprocess
import sys

import pytest


@pytest.fixture
def started(tmp_path):
    """Starts `simloss ARGUMENTS` in the test's folder."""
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "simloss", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            # A shell starts background jobs deaf to Ctrl-C, and a child inherits that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()
