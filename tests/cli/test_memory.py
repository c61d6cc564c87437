import os
import resource
import subprocess
import sys

import pytest

ASK_AGAIN = """
import resource
from simloss.cli.memory import keep_memory
keep_memory()
def pages():
    block = bytearray(64 << 20)
    block[:: 4096] = bytes([1]) * len(block[:: 4096])
pages(); pages()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5): pages()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(program):
    """Pages asked of the system for five times 64 MB, in a fresh process."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc has this")
def test_memory_that_was_taken_once_is_not_taken_again():
    pages = 5 * (64 << 20) // resource.getpagesize()
    assert faults(ASK_AGAIN) < 0.1 * pages
    assert faults(ASK_AGAIN.replace("keep_memory()\n", "pass\n", 1)) > 0.9 * pages
