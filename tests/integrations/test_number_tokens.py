"""The comparison of losses on sums runs and prints its table."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

for package in ("transformers", "tokenizers", "ntloss"):
    pytest.importorskip(package, reason="make test-integrations brings it")

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="not in a clone")
def test_every_loss_gets_a_line():
    command = [sys.executable, "-m", "benchmarks.number_tokens", "--seeds", "2", "--steps", "4"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    rows = re.findall(r"^\| (\w.*?) \| (\d+\.\d+) ± \d+\.\d+", run.stdout, re.MULTILINE)
    assert [name for name, _ in rows] == [
        "cross entropy",
        "SimLoss",
        "proper",
        "soft targets",
        "ntloss",
    ]
