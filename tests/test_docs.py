"""Every block of the documentation runs, page by page, in the order a reader would paste them.

`python` blocks are run; one marked `file=NAME` is written to that file, and commands that begin
with `simloss` in `sh` blocks are run as typed and print what an `output` block shows. What is
marked `notest` needs what no test has: a cluster, somebody's data.
"""

import doctest
import re
import shlex
import sys
from pathlib import Path

import pytest

from simloss.cli import main

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
BLOCK = re.compile(r"^```(python|sh|output)(?: file=(\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUNNER = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, whose modules can be imported and are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SIMLOSS_CACHE", str(tmp_path / "cache"))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.skipif(not PAGES, reason="not in a clone")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_blocks_of_a_page_run(page, folder, capsys):
    namespace, said = {"__name__": "__main__"}, ""
    for number, (language, file, block) in enumerate(BLOCK.findall(page.read_text())):
        if file:
            (folder / file).write_text(block)
        elif language == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("simloss "):
                    main(shlex.split(line, comments=True)[1:])
            said = capsys.readouterr().out
        elif language == "output":
            assert set(block.splitlines()) <= set(said.splitlines())
        elif ">>>" in block:
            name = f"{page.stem} {number}"
            test = doctest.DocTestParser().get_doctest(block, {}, name, None, None)
            test.globs = namespace
            assert RUNNER.run(test, clear_globs=False).failed == 0
        else:
            exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.skipif(not PAGES, reason="not in a clone")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target
