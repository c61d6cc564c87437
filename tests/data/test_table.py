"""Tables nobody prepared."""

import gzip

import numpy as np
import pandas as pd
import pytest
import torch

from simloss.data import DataError, Encoder, columns, memory, table
from simloss.experiment.plan.config import SplitConfig
from simloss.experiment.train.splits import indices_of, parts_of


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.fixture
def messy(tmp_path):
    """Every kind of column, with gaps."""
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "id": [f"row {i}" for i in range(n)],
            "number": rng.normal(size=n).round(3),
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": rng.choice(["S", "M", "L"], n),
            "member": rng.choice([True, False], n),
            "since": pd.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y"),
            "nothing": [None] * n,
            "same": ["x"] * n,
            "row": range(1, n + 1),
            "risk": rng.choice(["low", "medium", "high"], n),
        }
    )
    frame.loc[[3, 5], "number"] = None
    frame.loc[[7, 9], "colour"] = None
    frame.loc[11, "risk"] = None
    path = tmp_path / "messy.csv"
    frame.to_csv(path, index=False)
    return path


def test_every_kind_of_column(messy):
    read = table(messy, target="risk")
    assert read.class_names == ("low", "medium", "high")
    assert len(read) == 59
    assert read.notes["rows_without_class"] == 1
    assert {c.name: (c.kind, c.has_missing) for c in read.columns} == {
        "number": ("number", True),
        "colour": ("category", True),
        "size": ("rank", False),
        "member": ("number", False),
        "since": ("date", False),
    }
    assert read.notes["unused"] == {
        "id": "almost every value is different, like an identifier",
        "nothing": "empty",
        "same": "always the same",
        "row": "counts the rows",
    }
    assert read.input_shape == (2 + 4 + 1 + 1 + 1,)
    since = read.inputs[:, 4]
    assert (since.diff() >= 1).all()  # days
    assert set(read.inputs[:, 2].tolist()) == {0.0, 1.0, 2.0}
    assert int(read.inputs[:, 0].isnan().sum()) == 2


def test_inputs_are_ready_for_a_net(messy):
    read = table(messy, target="risk")
    parts = parts_of(read, indices_of(read, SplitConfig(), 0))
    for part in parts.values():
        ready = part.ready(part.inputs)
        assert ready.dtype == torch.float32
        assert ready.isfinite().all()
        assert ready.shape[1:] == read.input_shape


def test_the_other_parts_have_no_influence(messy):
    """No leak: with other cells outside the training part, the training part stays the same."""
    read = table(messy, target="risk")
    indices = indices_of(read, SplitConfig(), 0)
    before = parts_of(read, indices)["train"]
    others = torch.cat([indices["validation"], indices["test"]])
    read.inputs[others, 0] = 1e6
    read.inputs[others, 1] = 0.0  # one category only
    read.inputs[others, 4] = torch.nan
    after = parts_of(read, indices)["train"]
    assert torch.equal(before.ready(before.inputs), after.ready(after.inputs))
    assert before.ready.encoder == after.ready.encoder


def test_encoder_by_a_plain_loop():
    rng = np.random.default_rng(1)
    many = columns.Column("c", "category", tuple(f"{i:02}" for i in range(40)), has_missing=True)
    number = columns.Column("n", "number", has_missing=True)
    cells = np.stack([rng.zipf(1.3, 200).clip(max=40) - 1.0, rng.normal(size=200)], axis=1)
    cells[::7] = np.nan
    raw = torch.from_numpy(cells)
    indices = torch.arange(0, 120)
    encoder = Encoder.fit((many, number), raw, indices)
    made = encoder(raw)
    assert made.shape == (200, encoder.width) == (200, 30 + 1 + 1 + 2)
    train = cells[:120]
    seen = [int(c) for c in train[:, 0] if not np.isnan(c)]
    by_count = sorted(set(seen), key=lambda c: (-seen.count(c), c))[:30]
    numbers = sorted(x for x in train[:, 1] if not np.isnan(x))
    median = numbers[(len(numbers) - 1) // 2]
    for row, (category, value) in zip(made.tolist(), cells, strict=True):
        wanted = [float(category == c) for c in sorted(by_count)]
        wanted += [0.0] * (30 - len(wanted))
        is_rare = not np.isnan(category) and int(category) not in by_count
        wanted += [float(is_rare), float(np.isnan(category))]
        wanted += [0.0 if np.isnan(value) else value - median, float(np.isnan(value))]
        assert row == pytest.approx(wanted, abs=1e-6)
    assert Encoder.from_dict(encoder.as_dict()) == encoder


def test_new_cells_of_known_columns(messy):
    read = table(messy, target="risk")
    new = pd.DataFrame(
        {
            "number": ["7", "unknown"],
            "colour": ["violet", None],
            "size": ["l", "gigantic"],
            "member": [None, True],
            "since": ["01.02.2021", "soon"],
        }
    )
    numbers = np.stack([c.numbers(new[c.name]) for c in read.columns], axis=1)
    np.testing.assert_equal(numbers[0], [7, -1, 2, np.nan, 18659])
    np.testing.assert_equal(numbers[1], [np.nan, np.nan, np.nan, 1, np.nan])
    encoder = Encoder.fit(read.columns, read.inputs, torch.arange(len(read)))
    assert encoder(torch.from_numpy(numbers)).isfinite().all()


def test_identifiers_and_lists_are_not_used(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=30),
            "userId": rng.permutation(30) * 7,
            "tags": [[1, 2]] * 30,
            "paid": rng.permutation(30) * 7,
            "y": ["a", "b"] * 15,
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    read = table(tmp_path / "t.parquet", target="y")
    assert [column.name for column in read.columns] == ["x", "paid"]
    assert set(read.notes["unused"]) == {"userId", "tags"}


@pytest.mark.parametrize("name", ["", "index", "Index", "Unnamed: 0"])
@pytest.mark.parametrize("every", [1, 7, 5])
def test_row_numbers_of_a_shuffled_table_are_not_used(tmp_path, name, every):
    """A part of the rows, shuffled, and saved with the index pandas gave them."""
    rows = np.random.default_rng(0).permutation([i for i in range(60) if every == 1 or i % every])
    path = write(tmp_path, f"{name},x,y\n" + "".join(f"{i},{i * i % 7},{i % 2}\n" for i in rows))
    read = table(path, target="y")
    assert read.notes["unused"] == {name or "Unnamed: 0": "counts the rows"}


def test_other_whole_numbers_are_used(tmp_path):
    rows = np.random.default_rng(0).permutation(60)
    path = write(tmp_path, "rank,index,y\n" + "".join(f"{i},{i % 9},{i % 2}\n" for i in rows))
    assert [column.name for column in table(path, target="y").columns] == ["rank", "index"]


def test_words_among_numbers_are_gaps(tmp_path):
    path = write(
        tmp_path, "x,y\n" + "".join(f"{i * 3 % 7 or 'unknown'},{i % 2}\n" for i in range(30))
    )
    read = table(path, target="y")
    (column,) = read.columns
    assert (column.kind, column.has_missing) == ("number", True)
    assert read.notes["not_numbers"] == {"x": {"count": 5, "example": "unknown"}}


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
def test_every_kind_of_file(tmp_path, name):
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "y": ["b", "a", "b", "a"]})
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    read = table(path, target="y")
    assert read.class_names == ("a", "b")
    assert read.labels.tolist() == [1, 0, 1, 0]
    assert read.inputs.flatten().tolist() == [1.5, 2.5, 3.5, 4.5]


def test_semicolons_with_decimal_commas(tmp_path):
    read = table(write(tmp_path, "x;y\n1,5;a\n2,5;b\n"), target="y")
    assert read.inputs.flatten().tolist() == [1.5, 2.5]


def test_none_is_a_class_and_numbers_have_one_spelling(tmp_path):
    read = table(write(tmp_path, "x,y\n1,None\n2,mild\n3,severe\n"), target="y")
    assert read.class_names == ("None", "mild", "severe")
    read = table(write(tmp_path, "x,y\n1,10\n2,2.0\n3,2\n4,\n"), target="y")
    assert read.class_names == ("2", "10")
    assert read.labels.tolist() == [1, 0, 0]


def test_bins(tmp_path):
    rows = "".join(f"{i},{i / 10}\n" for i in range(0, 200, 2))
    path = write(tmp_path, "x,price\n" + rows)
    with pytest.raises(DataError, match="'price' is a number with 100 different values; --bins 10"):
        table(path, target="price")
    read = table(path, target="price", bins=4)
    assert read.class_names == ("0–4.95", "4.95–9.9", "9.9–14.85", "14.85–19.8")
    assert read.labels.bincount().tolist() == [25, 25, 25, 25]
    assert read.notes["edges"] == pytest.approx([0, 4.95, 9.9, 14.85, 19.8])
    assert read.notes["class_order"] == "numbers"
    with pytest.raises(ValueError, match="`bins` must be at least 2"):
        table(path, target="price", bins=1)
    with pytest.raises(DataError, match="`bins` needs a target of numbers, but column 'y'"):
        table(write(tmp_path, "x,y\n1,a\n2,b\n"), target="y", bins=2)


def test_rare_classes_are_named(tmp_path):
    read = table(write(tmp_path, "x,y\n" + "1,a\n2,b\n" * 3 + "3,c\n"), target="y")
    assert read.notes["rare_classes"] == {"c": 1}


def test_superclasses(tmp_path):
    path = write(tmp_path, "x,y,kind\n1,robin,bird\n2,crow,bird\n3,cod,fish\n")
    read = table(path, target="y", superclass="kind")
    assert dict(zip(read.class_names, read.superclasses, strict=True)) == {
        "robin": "bird",
        "crow": "bird",
        "cod": "fish",
    }
    assert [c.name for c in read.columns] == ["x"]
    bad = write(tmp_path, "x,y,kind\n1,robin,bird\n2,robin,fish\n3,cod,fish\n")
    with pytest.raises(DataError, match="'robin' has 'bird' and 'fish'"):
        table(bad, target="y", superclass="kind")
    paths = write(tmp_path, "x,y\n1,bird/robin\n2,bird/crow\n3,fish/cod\n")
    assert set(table(paths, target="y").superclasses) == {"bird", "fish"}


class TestMistakes:
    def test_columns(self, tmp_path):
        path = write(tmp_path, "x,Class,none,one\n1,a,,k\n2,b,,k\n")
        with pytest.raises(DataError, match=r"it has no 'Clas' \(did you mean 'Class'\?\); its"):
            table(path, target="Clas")
        with pytest.raises(DataError, match=r"it has no 'CLASS' \(did you mean 'Class'\?\); its"):
            table(path, target="CLASS")
        bare = write(tmp_path, "1,2,3\n4,5,6\n", "bare.csv")
        with pytest.raises(DataError, match="1, 2, 3; the first line must name the columns"):
            table(bare, target="y")
        with pytest.raises(DataError, match="`target` must hold classes, but column 'none' is emp"):
            table(path, target="none")
        with pytest.raises(DataError, match="at least two classes, but column 'one' holds only 'k"):
            table(path, target="one")
        with pytest.raises(DataError, match="must have a usable column besides the target"):
            table(path, target="Class", drop=["x"])
        with pytest.raises(DataError, match="`drop` must be a column"):
            table(path, target="Class", drop=["z"])
        with pytest.raises(DataError, match="`drop` must not name 'Class'"):
            table(path, target="Class", drop=["Class"])

    def test_files(self, tmp_path):
        with pytest.raises(DataError, match="Nothing was found at"):
            table(tmp_path / "gone.csv", target="y")
        with pytest.raises(DataError, match="must end in .csv, .tsv"):
            table(write(tmp_path, "x", "t.xlsx"), target="y")
        with pytest.raises(DataError, match="must hold rows below its heading"):
            table(write(tmp_path, "x,y\n"), target="y")
        with pytest.raises(DataError, match="but it is empty"):
            table(write(tmp_path, ""), target="y")
        with pytest.raises(DataError, match="must be a parquet file"):
            table(write(tmp_path, "x,y", "t.parquet"), target="y")
        (tmp_path / "latin.csv").write_bytes("x,y\n1,é\n".encode("latin-1"))
        with pytest.raises(DataError, match="must be UTF-8 text"):
            table(tmp_path / "latin.csv", target="y")
        (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"x,y\n1,a\n" * 1000)[:40])
        with pytest.raises(DataError, match="cannot be read"):
            table(tmp_path / "cut.csv.gz", target="y")
        with pytest.raises(DataError, match="its content has changed"):
            table(write(tmp_path, "x,y\n1,a\n2,b\n"), target="y", content="0123")

    def test_larger_than_memory(self, tmp_path, monkeypatch):
        path = write(tmp_path, "x,y\n" + "1,a\n2,b\n" * 2**17)
        monkeypatch.setattr(memory, "available_memory", lambda: 2**20)
        with pytest.raises(DataError, match=r"needs about 3.0 MB of memory, but 1.0 MB is free"):
            table(path, target="y")

    def test_damage_that_arrow_has_no_reader_for(self, tmp_path, monkeypatch):
        pyarrow = pytest.importorskip("pyarrow")

        def read_metadata(path):
            raise pyarrow.ArrowNotImplementedError("Integers with more than 64 bits")

        monkeypatch.setattr("pyarrow.parquet.read_metadata", read_metadata)
        with pytest.raises(DataError, match="must be a parquet file"):
            table(write(tmp_path, "x,y", "t.parquet"), target="y")

    def test_memory_is_known_here(self):
        assert memory.available_memory() > 2**20


class TestRowsKnownToTheirSuperclass:
    content = (
        "weight,class,group\n1,robin,bird\n2,,bird\n3,cod,fish\n4,crow,bird\n5,,\n6,,fish\n"
        "7,,stone\n"
    )

    def test_their_label_is_a_node_of_the_tree(self, tmp_path):
        (tmp_path / "animals.csv").write_text(self.content)
        data = table(tmp_path / "animals.csv", target="class", superclass="group", nodes=True)
        assert data.inputs[:, 0].tolist() == [1, 2, 3, 4, 6]
        names = [data.tree.names[label] for label in data.labels]
        assert names == ["robin", "bird", "cod", "crow", "fish"]
        assert data.class_names == ("cod", "crow", "robin")
        assert data.notes["rows_without_class"] == 2

    def test_without_asking_they_are_left_out(self, tmp_path):
        (tmp_path / "animals.csv").write_text(self.content)
        data = table(tmp_path / "animals.csv", target="class", superclass="group")
        assert data.labels.tolist() == [2, 0, 1]
        assert data.notes["rows_without_class"] == 4

    def test_paths_name_every_node(self, tmp_path):
        (tmp_path / "animals.csv").write_text(
            "weight,class,group\n1,robin,animal/bird\n2,,animal\n3,cod,animal/fish\n"
            "4,oak,plant\n5,,animal/fish\n"
        )
        data = table(tmp_path / "animals.csv", target="class", superclass="group", nodes=True)
        names = [data.tree.names[label] for label in data.labels]
        assert names == ["robin", "animal", "cod", "oak", "fish"]

    def test_it_needs_the_column(self, tmp_path):
        (tmp_path / "animals.csv").write_text(self.content)
        with pytest.raises(ValueError, match="`nodes` must be used with `superclass`"):
            table(tmp_path / "animals.csv", target="class", nodes=True)


def test_a_target_of_lists_is_refused(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0], "y": [[1], [2]]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="one class per cell, but column 'y' holds lists"):
        table(tmp_path / "t.parquet", target="y")
