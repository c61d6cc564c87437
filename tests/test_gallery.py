"""The gallery's pictures are those that the blocks of its page make."""

from xml.etree import ElementTree

import pytest

gallery = pytest.importorskip("tools.gallery", reason="not in a clone")


def test_there_are_eight_and_each_is_what_its_block_draws():
    text = gallery.PAGE.read_text(encoding="utf-8")
    made = gallery.pictures(text)
    assert len(made) == 8
    for number, svg in enumerate(made, 1):
        kept = gallery.PAGE.parent / "gallery" / f"{number}.svg"
        assert f"(gallery/{number}.svg)" in text
        # Numbers may differ in the last digit from machine to machine; what is drawn may not.
        shapes = [
            [each.tag for each in ElementTree.fromstring(one).iter()]
            for one in (svg, kept.read_text(encoding="utf-8"))
        ]
        assert shapes[0] == shapes[1], f"python -m tools.gallery draws {kept.name} anew"


def test_no_block_is_longer_than_a_reader_takes_in():
    blocks = gallery._BLOCK.findall(gallery.PAGE.read_text(encoding="utf-8"))
    lines = [
        [line for line in block.splitlines() if line and " import " not in line] for block in blocks
    ]
    assert max(map(len, lines)) <= 6
