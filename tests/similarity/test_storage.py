import json
import pickle
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simloss import Tree
from simloss.similarity import (
    circular,
    embedding,
    geo,
    grid,
    load,
    matrix,
    order,
    sparse,
    tree,
    values,
    words,
)

ALL = {
    "circular": lambda: circular(5, r=0.7),
    "embedding": lambda: embedding(torch.randn(4, 3), 0.1, "angle", temperature=0.3),
    "geo": lambda: geo([(0, 1), (2, 3)], 100, names=["here, there", 'a "b"']),
    "grid": lambda: grid(order(2, r=0.5), circular(3, r=0.2)),
    "matrix": lambda: matrix(torch.rand(3, 3).fill_diagonal_(1), names=["ä", "b", "c"]),
    "order": lambda: order(4, r=0.1, names=["1", "2", "3", "4"]),
    "probability": lambda: order(4, r=0.1).normalized(),
    "sparse": lambda: sparse(order(6, r=0.3), top_k=2),
    "tree": lambda: tree(Tree.from_paths(["a/b", "a/c", "d"]), measure="path"),
    "values": lambda: values([0, 3, 4], 2),
    "words": lambda: words(["rose", "qqzz", "trucks"], missing="drop"),
}


@pytest.mark.parametrize("ending", [".csv", ".npz", ".safetensors"])
@pytest.mark.parametrize("name", sorted(ALL))
def test_round_trip_is_exact(tmp_path, name, ending):
    S = ALL[name]()
    path = tmp_path / f"s{ending}"
    S.save(path)
    again = load(path)
    assert again == S  # names, kind and every bit of every value
    if ending != ".csv":
        assert type(again) is type(S)
        assert again.options == S.options
        assert again.kept == S.kept
        assert again.notes == S.notes
        assert {k: v.dtype for k, v in again.tensors.items()} == {
            k: v.dtype for k, v in S.tensors.items()
        }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_csv_keeps_every_digit(tmp_path, off):
    S = torch.eye(3, dtype=torch.float64)
    S[~torch.eye(3, dtype=torch.bool)] = torch.tensor(off, dtype=torch.float64)
    path = tmp_path / "s.csv"
    matrix(S).save(path)
    assert torch.equal(load(path).to_dense(), S)


def test_a_million_ordered_classes_are_a_small_file(tmp_path):
    path = tmp_path / "s.npz"
    order(1_000_000, r=0.9).save(path)
    assert path.stat().st_size < 2000
    assert load(path).num_classes == 1_000_000


def test_too_many_classes_for_a_table(tmp_path):
    with pytest.raises(ValueError, match="at most 10,000 classes, but the similarity has 20,000"):
        order(20_000, r=0.5).save(tmp_path / "s.csv")


def test_a_learned_similarity_is_saved_as_it_is_now(tmp_path):
    learned = torch.nn.Parameter(torch.eye(3) * 0.5 + 0.5)
    for ending in (".csv", ".npz", ".safetensors"):
        matrix(learned).save(tmp_path / f"s{ending}")
        assert torch.equal(load(tmp_path / f"s{ending}").to_dense(torch.float32), learned.detach())


def test_a_table_made_by_hand(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("﻿,cat,lynx\ncat,1,0.8\n\nlynx,0.5,1\n", encoding="utf-8")
    S = load(str(path))
    assert S.names == ("cat", "lynx")
    assert S.to_dense().tolist() == [[1, 0.8], [0.5, 1]]
    path.write_text("1,0.8\n0.5,1\n")
    assert load(path).names is None
    path.write_text("probability,a,b\na,.9,.1\nb,.2,.8\n")
    assert load(path).kind == "probability"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must hold at least one line, but it is empty"),
        (",a,b\na,1,0.5\nb,0.5\n", "line 3 has 2 where line 1 has 3"),
        (",a,b\na,1,0.5\n", "one line for each of the 2 classes in its first line, but it has 1"),
        (",a,a\na,1,0.5\na,0.5,1\n", "'a' is listed twice"),
        (",a,b\nb,1,0.5\na,0.5,1\n", "line 2 begins with 'b' instead of 'a'"),
        (",a,b\na,1,x\nb,0.5,1\n", "must hold numbers, but got 'x' in line 2, cell 3"),
        (
            ",a,b\na,1,nan\nb,0.5,1\n",
            "`similarity` must not be NaN, but got nan in row 0, column 1",
        ),
        (",a,b\na,1,1.5\nb,0.5,1\n", "must be at most 1"),
        ("1,0.5\n", "must be square"),
        (";a;b\na;1;0,5\nb;0,5;1\n", "must use commas between cells .* but it has semicolons"),
        ("1;0.5\n0.5;1\n", "must use commas between cells .* but it has semicolons"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    path = tmp_path / "s.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_not_text(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ValueError, match="must be a CSV file in UTF-8"):
        load(path)


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
@pytest.mark.parametrize("content", [b"", b"nonsense", pickle.dumps({"about": 3})])
def test_files_of_others_are_refused(tmp_path, ending, content):
    path = tmp_path / f"s{ending}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="must be a similarity saved by simloss, but it is not"):
        load(path)


def test_pickles_inside_are_never_opened(tmp_path):
    path = tmp_path / "s.npz"
    np.savez(path, about=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="saved by simloss, but it is not"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"structure": "magic"},
        {"structure": "embedding"},
        {"num_classes": 7},
        {"names": ["a"]},
        {"options": {"kernel": "cosine"}, "structure": "values"},
    ],
)
def test_a_file_that_was_changed_is_refused(tmp_path, change):
    path = tmp_path / "s.npz"
    matrix(torch.eye(3)).save(path)
    with np.load(path) as file:
        about = {**json.loads(str(file["about"])), **change}
        arrays = {"matrix": file["matrix"]}
    np.savez(path, about=np.array(json.dumps(about)), **arrays)
    with pytest.raises(ValueError, match="saved by simloss, but it is not"):
        load(path)


def test_values_out_of_range_are_refused(tmp_path):
    path = tmp_path / "s.npz"
    order(3, r=0.5).save(path)
    with np.load(path) as file:
        about = file["about"]
    np.savez(path, about=about, r=np.array(-3.0))
    with pytest.raises(ValueError, match="saved by simloss, but it is not"):
        load(path)


def test_other_endings_and_missing_files(tmp_path):
    with pytest.raises(ValueError, match=r"must end in .csv, .npz, .safetensors, but got 's.pkl'"):
        order(3, 0.5).save("s.pkl")
    for ending in (".csv", ".npz", ".safetensors"):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / f"none{ending}")


def test_npz_is_a_plain_zip_of_arrays(tmp_path):
    order(3, 0.5).save(tmp_path / "s.npz")
    assert zipfile.ZipFile(tmp_path / "s.npz").namelist() == ["r.npy", "about.npy"]


@pytest.mark.parametrize(
    ("made", "name", "wrong"),
    [
        (geo([(0, 1), (2, 3)], 100), "scale", np.ones(2)),
        (values([0, 3, 4], 2), "scale", np.ones((1, 3))),
        (embedding(torch.eye(3)), "vectors", np.ones(3, np.float32)),
        (values([0, 3, 4], 2), "position", np.array([0, np.nan, 4])),
    ],
)
def test_arrays_of_another_shape_or_without_numbers_are_refused(tmp_path, made, name, wrong):
    made.save(tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "s.npz", **(arrays | {name: wrong}))
    with pytest.raises(ValueError, match="must be a similarity saved by simloss, but it is not"):
        load(tmp_path / "s.npz")
