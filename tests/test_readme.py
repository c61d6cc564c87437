"""What the README says works."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


@pytest.mark.skipif(not README.exists(), reason="not in a clone")
class TestReadme:
    def test_the_snippet_runs_as_pasted(self):
        blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
        assert blocks
        for block in blocks:
            exec(compile(block, "README.md", "exec"), {})

    def test_every_link_leads_somewhere(self):
        for target in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
            if "://" not in target:
                assert (ROOT / target).exists(), target

    def test_its_commands_are_there(self):
        for target in re.findall(r"^make (\w+)", README.read_text(), re.MULTILINE):
            subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
