"""Texts in tables and folders, and lists of numbers in tables."""

import numpy as np
import pandas as pd
import pytest
import torch

from data.files import write_folder
from simloss._imports import UsersName
from simloss.data import DataError, Encoder, table, text_folder
from simloss.data.text_folder import holds_texts

LENGTHS = UsersName("data.own_encoders:lengths")


def reviews(rows=60):
    return pd.DataFrame(
        {
            "title": [f"what a {'good' if i % 2 else 'bad'} day {i}" for i in range(rows)],
            "price": np.arange(rows) * 1.5,
            "body": [f"I liked number {i} {'very much' * (i % 2)}" for i in range(rows)],
            "name": [f"name{i}" for i in range(rows)],
            "stars": [1 + i % 5 for i in range(rows)],
        }
    )


def read(tmp_path, frame, **options):
    frame.to_csv(tmp_path / "t.csv", index=False)
    return table(tmp_path / "t.csv", target="stars", **options)


def test_texts_are_recognised_and_joined_behind_the_others(tmp_path):
    found = read(tmp_path, reviews())
    assert [(each.name, each.kind) for each in found.columns] == [
        ("price", "number"),
        ("title + body", "text"),
    ]
    assert found.texts[1] == "what a good day 1\nI liked number 1 very much"
    assert found.inputs.shape == (60, 1)
    assert found.input_shape == (1 + found.columns[-1].size,)
    assert found.notes["unused"] == {"name": "almost every value is different, like an identifier"}


def test_a_table_of_nothing_but_a_text(tmp_path):
    found = read(tmp_path, reviews()[["body", "stars"]])
    assert found.inputs.shape == (60, 0)
    assert len(found.texts) == 60


def test_a_few_long_categories_and_short_names_are_no_texts(tmp_path):
    frame = reviews(200)
    frame["education"] = ["some years of college, no degree", "a degree of some kind"] * 100
    frame["title"] = [f"two words{i}" for i in range(200)]
    found = read(tmp_path, frame.drop(columns="body"))
    assert [each.kind for each in found.columns] == ["number", "category"]
    assert found.texts is None


def test_an_encoder_that_is_not_fitted_makes_cells_at_once(tmp_path):
    found = read(tmp_path, reviews(), encoder=LENGTHS)
    assert found.texts is None
    assert found.inputs.shape == (60, 3)
    assert found.inputs[1].tolist() == [1.5, 44, 1]
    assert found.input_shape == (3,)


def test_an_empty_text_is_a_text(tmp_path):
    frame = reviews()
    frame.loc[3, ["title", "body"]] = None
    assert read(tmp_path, frame).texts[3] == ""


def test_an_encoder_without_a_text(tmp_path):
    with pytest.raises(DataError, match="`encoder` must have texts to encode, but no column of"):
        read(tmp_path, reviews()[["price", "stars"]], encoder=LENGTHS)


class TestVectors:
    def read(self, tmp_path, vectors):
        frame = pd.DataFrame({"x": range(8), "v": vectors, "y": ["a", "b"] * 4})
        frame.to_parquet(tmp_path / "t.parquet")
        return table(tmp_path / "t.parquet", target="y")

    def test_they_are_used_beside_other_columns(self, tmp_path):
        found = self.read(tmp_path, [[i, 2.0 * i, 1] for i in range(8)])
        assert [(each.name, each.kind, each.size) for each in found.columns] == [
            ("x", "number", 1),
            ("v", "vector", 3),
        ]
        assert found.inputs[3].tolist() == [3, 3, 6, 1]
        assert found.input_shape == (4,)

    def test_a_missing_one_is_zero_and_marked(self, tmp_path):
        found = self.read(tmp_path, [[i + 1.0, 2.0] if i != 2 else None for i in range(8)])
        assert found.inputs[2, 1:].isnan().all()
        encoder = Encoder.fit(found.columns, found.inputs, torch.arange(8))
        assert encoder(found.inputs)[2, 1:].tolist() == [0, 0, 1]
        assert encoder(found.inputs)[3, 1:].tolist() == [4, 2, 0]
        assert Encoder.from_dict(encoder.as_dict()) == encoder

    @pytest.mark.parametrize(
        ("vectors", "reason"),
        [
            ([[1.0] * (1 + i % 2) for i in range(8)], "its cells hold lists of different lengths"),
            ([["a", "b"]] * 8, "its cells hold lists that are no numbers"),
            ([[]] * 8, "its cells hold lists that are no numbers"),
            ([[1.0, 2.0]] * 8, "always the same"),
        ],
    )
    def test_others_are_named_with_the_reason(self, tmp_path, vectors, reason):
        assert self.read(tmp_path, vectors).notes["unused"] == {"v": reason}

    def test_an_encoder_saved_before_there_were_any_still_reads(self):
        plain = {
            "columns": [
                {"name": "x", "kind": "number", "words": [], "form": None, "has_missing": False}
            ],
            "medians": [0.5],
            "kept": [[]],
        }
        assert Encoder.from_dict(plain).width == 1


BOOKS = {
    f"{kind}/{i}.txt": f"a {kind} book, number {i}".encode()
    for kind in ("good", "bad")
    for i in range(4)
}


class TestFolders:
    def test_a_folder_per_class(self, tmp_path):
        found = text_folder(write_folder(tmp_path / "books", BOOKS))
        assert found.class_names == ("bad", "good")
        assert found.texts[0] == "a bad book, number 0"
        assert found.labels.tolist() == [0] * 4 + [1] * 4
        assert found.inputs.shape == (8, 0)
        assert found.input_shape == (found.columns[0].size,)

    def test_parts_groups_and_what_is_left_out(self, tmp_path):
        parts = {
            f"{p}/{name}": text for p in ("train", "val", "test") for name, text in BOOKS.items()
        }
        extra = {"train/good/empty.txt": b"  ", "train/good/photo.png": b""}
        found = text_folder(write_folder(tmp_path / "books", parts | extra))
        assert {name: len(part) for name, part in found.parts.items()} == {
            "train": 8,
            "validation": 8,
            "test": 8,
        }
        assert len(found.groups.unique()) == 8
        assert found.notes["left_out"] == {"empty": {"count": 1, "names": ["train/good/empty.txt"]}}

    def test_a_part_that_lacks_is_drawn(self, tmp_path):
        parts = {f"train/{name}": text for name, text in BOOKS.items()}
        parts |= {f"test/{name}": text + b"!" for name, text in BOOKS.items()}
        found = text_folder(write_folder(tmp_path / "books", parts))
        assert len(found.parts["validation"]) > 0

    def test_mistakes(self, tmp_path):
        with pytest.raises(DataError, match="must be UTF-8 text"):
            text_folder(write_folder(tmp_path / "a", {"x/1.txt": b"\xff\xfe\x00", "y/1.txt": b"b"}))
        with pytest.raises(DataError, match="must hold folders of texts"):
            text_folder(write_folder(tmp_path / "b", {"x/1.pdf": b""}))
        with pytest.raises(DataError, match="of texts for each of at least two classes"):
            text_folder(write_folder(tmp_path / "c", {"x/1.txt": b"a"}))

    def test_a_note_beside_images_makes_no_folder_of_texts(self, tmp_path):
        images = {f"{label}/{i}.jpg": b"" for label in "ab" for i in range(3)}
        notes = {"README.md": b"about", "a/about.txt": b"about", **images}
        assert not holds_texts(write_folder(tmp_path / "images", notes))
        assert holds_texts(write_folder(tmp_path / "books", {**BOOKS, "README.md": b"about"}))
