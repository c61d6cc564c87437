"""The page about integrations: each section runs as pasted, in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

for package in ("skorch", "lightning", "transformers", "tokenizers", "keras"):
    pytest.importorskip(package, reason="make test-integrations brings it")

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
BLOCK = re.compile(r"^```python(?: integration)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def sections():
    text = PAGE.read_text() if PAGE.exists() else ""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        blocks = BLOCK.findall(part)
        if blocks:
            yield pytest.param("\n".join(blocks), id=part.splitlines()[0])


@pytest.mark.skipif(not PAGE.exists(), reason="not in a clone")
@pytest.mark.parametrize("code", list(sections()))
def test_the_blocks_of_a_section_run(code, tmp_path):
    (tmp_path / "pasted.py").write_text(code)
    command = [sys.executable, "pasted.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
