"""The examples in docs/similarity.md do what they say."""

import doctest
import re
from pathlib import Path

import pytest

import simloss.similarity

PAGE = Path(__file__).parents[2] / "docs/similarity.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the docs are not part of the source archive")
def test_examples():
    # A closing fence is not part of what an example prints.
    text = re.sub(r"^```.*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 30
    result = doctest.DocTestRunner(optionflags=flags).run(test)
    assert result.failed == 0


@pytest.mark.skipif(not PAGE.exists(), reason="the docs are not part of the source archive")
def test_every_public_name_is_explained():
    text = PAGE.read_text(encoding="utf-8")
    internal = {"as_similarity", "Similarity", "Diagnosis"}
    missing = [n for n in simloss.similarity.__all__ if n not in internal and f"{n}" not in text]
    assert missing == []
