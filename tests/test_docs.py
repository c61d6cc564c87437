"""Every Python block of the documentation runs, page by page, as a reader would paste it."""

import doctest
import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
# A block marked `python notest` needs what no test has: a cluster, somebody's data.
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not PAGES, reason="not in a clone")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for number, block in enumerate(BLOCK.findall(page.read_text())):
        if ">>>" not in block:
            exec(compile(block, str(page), "exec"), namespace)
            continue
        test = doctest.DocTestParser().get_doctest(block, {}, f"{page.stem} {number}", None, None)
        test.globs = namespace
        assert runner.run(test, clear_globs=False).failed == 0
