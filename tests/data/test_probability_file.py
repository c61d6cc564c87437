"""Files of probabilities: which columns are classes, in which order, and what is none."""

import io
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from simloss.data import probability_file
from simloss.data.errors import DataError, MissingDataError
from simloss.data.probability_file import ProbabilityFile
from simloss.data.truth_cells import truth_indices

P = np.array([[0.5, 0.25, 0.25], [0.125, 0.375, 0.5], [0.0, 0.0, 1.0], [0.25, 0.5, 0.25]])


def table(columns=("10", "2", "1"), **more):
    return pd.DataFrame(P, columns=columns).assign(**more)


def written(folder, ending, frame, truth=None):
    path = folder / f"p{ending}"
    if ending == ".npz":
        arrays = {"truth": frame[truth].to_numpy().astype(str)} if truth else {}
        np.savez(path, probabilities=P, classes=np.array(frame.columns[:3].tolist()), **arrays)
    elif ending == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz"])
def test_columns_are_put_into_class_order(tmp_path, ending):
    path = written(tmp_path, ending, table(truth=["1", "2", "10", "1"]), "truth")
    file = ProbabilityFile.open(path, others=["truth"])
    assert file.order.names == ("1", "2", "10")
    assert file.order.is_ordered
    (part,) = file.parts()
    np.testing.assert_array_equal(part.probabilities, P[:, ::-1])
    assert part.first == 1
    assert part.cells["truth"].astype(str).tolist() == ["1", "2", "10", "1"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz"])
def test_some_rows_at_a_time(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(probability_file, "_PART_ENTRIES", 9)
    path = written(tmp_path, ending, table(truth=list("abcd")), "truth")
    parts = list(ProbabilityFile.open(path, others=["truth"]).parts())
    assert [part.first for part in parts] == [1, 4]
    np.testing.assert_array_equal(np.concatenate([p.probabilities for p in parts]), P[:, ::-1])
    assert [cell for part in parts for cell in part.cells["truth"]] == list("abcd")


def test_a_given_order_chooses_the_columns_and_text_names_the_rows(tmp_path):
    frame = table(("high", "low", "mid"), weight=[1.0, 2, 3, 4], photo=["a", "b", "c", "d"])
    path = written(tmp_path, ".csv", frame)
    file = ProbabilityFile.open(path, order=["low", "mid", "high"])
    assert file.order.kind == "given"
    assert file.names_rows == ("photo",)
    (part,) = file.parts()
    np.testing.assert_array_equal(part.probabilities, P[:, [1, 2, 0]])
    assert part.cells["photo"].tolist() == list("abcd")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_predict_wrote_is_read(tmp_path, ending):
    frame = table(("p(poor)", "p(good)", "p(fair)"), truth=["poor", "fair", "good", "poor"])
    frame = frame.assign(
        row=[1, 2, 3, 4], answer="fair", probability=0.5, expected_cost=[1, 2, 3, 4]
    )
    path = written(tmp_path, ending, frame)
    file = ProbabilityFile.open(path, order=["poor", "fair", "good"], others=["truth"])
    (part,) = file.parts()
    np.testing.assert_array_equal(part.probabilities, P[:, [0, 2, 1]])
    assert part.cells["truth"].tolist() == ["poor", "fair", "good", "poor"]
    assert file.names_rows == ("answer",)


def test_row_numbers_and_identifiers_are_no_classes(tmp_path):
    path = tmp_path / "p.csv"
    table(image_id=[7, 8, 9, 12]).to_csv(path)  # with the index, which has no heading
    file = ProbabilityFile.open(path)
    assert file.order.names == ("1", "2", "10")
    assert set(file.names_rows) == {"image_id", "Unnamed: 0"}


def test_rows_are_divided_by_sums_that_rounding_left(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("a,b,c\n0.33,0.33,0.33\n")
    (part,) = ProbabilityFile.open(path).parts()
    np.testing.assert_allclose(part.probabilities, 1 / 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n0.5,0.5\n0.6,0.6\n", r"sum to 1 in each row, but row 2 sums to 1.2 over a, b;"),
        ("a,b\n0.5,0.4\n", r"row 1 sums to 0.9 over a, b; .* each class needs a column"),
        ("a,b\n0.5,0.5\n-0.1,1.1\n", r"row 2 has -0.1 for 'a'; for logits, take the softmax"),
        ("a,b\n2.5,0.3\n", r"row 1 sums to 2.8 over a, b; for logits, take the softmax"),
        ("a,b\n60,40\n30,70\n", r"sums to 100 over a, b; for percent, divide by 100"),
        ("a,b\n0.5,0.5\n0.5,\n", r"row 2 has none for 'b'"),
        ("a,b\n0.5,0.5\n0.5,nan\n", r"row 2 has none for 'b'"),
        ("a,b\n0.5,0.5\n0.5,inf\n", r"row 2 has inf for 'b'"),
        ("a\n1\n", r"must have a column of numbers per class, but it has only 'a'"),
        ("a,b\nx,y\n", r"must have a column of numbers per class, but it has none"),
    ],
)
def test_what_is_no_probability_is_told_in_a_sentence(tmp_path, content, message):
    path = tmp_path / "p.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        list(ProbabilityFile.open(path).parts())


def test_text_among_numbers_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(probability_file, "_LOOKED_AT", 1)
    path = tmp_path / "p.csv"
    path.write_text("a,b\n0.5,0.5\n0.5,half\n")
    with pytest.raises(DataError, match=r"row 2 has 'half' for 'b'"):
        list(ProbabilityFile.open(path).parts())


def test_a_missing_class_is_told(tmp_path):
    path = written(tmp_path, ".csv", table(("low", "mid", "high")))
    with pytest.raises(DataError, match=r"a column for each class, but 'medium' has none"):
        ProbabilityFile.open(path, order=["low", "medium", "high"])
    with pytest.raises(DataError, match=r"'hihg' has none \(did you mean 'high'\?\)"):
        ProbabilityFile.open(path, classes=["low", "mid", "hihg"])
    with pytest.raises(DataError, match=r"`truth` must be a column of .* but it has no 'label'"):
        ProbabilityFile.open(path, others=["label"])


def test_an_npz_file_whose_texts_are_long_is_read_in_more_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(probability_file, "_PART_BYTES", 2 * 4 * 50)
    np.savez(tmp_path / "p.npz", probabilities=P, truth=np.array(["x" * 50] * 4))
    parts = list(ProbabilityFile.open(tmp_path / "p.npz", others=["truth"]).parts())
    assert [part.first for part in parts] == [1, 3]


def test_an_npz_file_that_grows_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("simloss._disk._MOST_BYTES", 1000)
    np.savez_compressed(tmp_path / "p.npz", probabilities=np.zeros((100_000, 3)))
    with pytest.raises(DataError, match=r"must be an npz file, but: it would grow to 2,400,"):
        ProbabilityFile.open(tmp_path / "p.npz")


@pytest.mark.parametrize("name", ["probabilities", "classes"])
def test_an_npz_file_holds_as_many_columns_as_it_claims(tmp_path, name):
    """A header of 128 bytes may claim any number."""
    header = io.BytesIO()
    about = {"descr": "<U0", "fortran_order": False, "shape": (3,)}
    if name == "probabilities":
        about = {"descr": "<f8", "fortran_order": False, "shape": (1, 10**12)}
    np.lib.format.write_array_header_1_0(header, about)
    np.savez(tmp_path / "p.npz", **{"probabilities": P} if name == "classes" else {})
    with zipfile.ZipFile(tmp_path / "p.npz", "a") as archive:
        archive.writestr(f"{name}.npy", header.getvalue())
    with pytest.raises(DataError, match=f"npz file, but: '{name}' in it claims the shape"):
        ProbabilityFile.open(tmp_path / "p.npz")


def test_an_npz_file_has_at_most_so_many_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(probability_file, "_MOST_CLASSES", 2)
    np.savez(tmp_path / "p.npz", probabilities=P)
    with pytest.raises(DataError, match=r"must have at most 2 classes, but has 3\.$"):
        ProbabilityFile.open(tmp_path / "p.npz")


def test_npz_files_that_hold_something_else(tmp_path):
    path = tmp_path / "p.npz"
    np.savez(path, q=P)
    with pytest.raises(DataError, match=r"an array 'probabilities' .* but holds q \(4, 3\)"):
        ProbabilityFile.open(path)
    np.savez(path, probabilities=P, classes=np.array(["a", "b"]))
    with pytest.raises(
        DataError, match=r"each of its 3 columns in 'classes', but that has shape \(2,\)"
    ):
        ProbabilityFile.open(path)
    np.savez(path, probabilities=P, classes=np.array("a"))
    with pytest.raises(DataError, match=r"each of its 3 columns in 'classes', but that has shape"):
        ProbabilityFile.open(path)
    np.savez(path, probabilities=P.astype(str))
    with pytest.raises(DataError, match=r"must hold numbers in 'probabilities', but holds str"):
        ProbabilityFile.open(path)
    np.savez(path, probabilities=P, classes=np.full(9, 2**31, np.uint32).view("<U3"))
    with pytest.raises(DataError, match=r"npz file, but: a text holds what is no character\.$"):
        ProbabilityFile.open(path)
    np.savez(path, probabilities=P)
    assert ProbabilityFile.open(path).order.names == ("0", "1", "2")
    with pytest.raises(DataError, match=r"array 'truth' of 4 cells, but it does not exist"):
        ProbabilityFile.open(path, others=["truth"])
    np.savez(path, probabilities=P, classes=np.array([None, 1, 2]))
    with pytest.raises(DataError, match=r"'classes' holds Python objects"):
        ProbabilityFile.open(path)
    path.write_bytes(b"no zip")
    with pytest.raises(DataError, match="must be an npz file"):
        ProbabilityFile.open(path)
    with pytest.raises(MissingDataError, match="Nothing was found"):
        ProbabilityFile.open(tmp_path / "q.npz")
    (tmp_path / "p.txt").write_text("a")
    with pytest.raises(DataError, match=r"must end in .csv, .*, .npz to be read"):
        ProbabilityFile.open(tmp_path / "p.txt")


def test_arrays_as_pandas_keeps_them(tmp_path, monkeypatch):
    monkeypatch.setattr(probability_file, "_PART_ENTRIES", 9)
    np.savez(tmp_path / "p.npz", probabilities=np.asfortranarray(P))
    parts = list(ProbabilityFile.open(tmp_path / "p.npz").parts())
    assert [part.first for part in parts] == [1, 4]
    np.testing.assert_array_equal(np.concatenate([part.probabilities for part in parts]), P)


class TestTruth:
    def test_classes_nodes_and_nothing(self):
        cells = pd.Series(["b", None, "a", "birds", " b "])
        found = truth_indices(cells, ["a", "b"], {"birds": 5}, 1, "'truth'")
        assert found.tolist() == [1, -1, 0, 5, 1]

    def test_numbers_in_any_spelling(self):
        assert truth_indices(pd.Series([3.0, 4.0]), ["3", "4"], {}, 1, "'t'").tolist() == [0, 1]
        assert truth_indices(pd.Series(["3.0", "4"]), ["3", "4"], {}, 1, "'t'").tolist() == [0, 1]
        assert truth_indices(pd.Series([3, 4]), ["3.0", "4.0"], {}, 1, "'t'").tolist() == [0, 1]

    def test_many_classes_take_no_longer_each(self):
        names = [str(i) for i in range(100_000)]
        start = time.perf_counter()
        assert truth_indices(pd.Series(["99999"]), names, {}, 1, "'t'").tolist() == [99_999]
        assert time.perf_counter() - start < 20  # minutes, if each is compared with all others

    @pytest.mark.parametrize(
        ("cells", "names", "message"),
        [
            (["low", "huge"], ["low", "high"], r"hold classes, low, high, but row 8 holds 'huge'"),
            ([1, 2, 3], ["0", "1", "2"], r"row 9 holds '3'; the labels seem to count from 1 and"),
            ([0, 1, 2], ["1", "2", "3"], r"row 7 holds '0'; the labels seem to count from 0 and"),
            ([1, 9], ["0", "1", "2"], r"row 8 holds '9'\.$"),
        ],
    )
    def test_what_is_no_class_is_told_with_its_row(self, cells, names, message):
        with pytest.raises(DataError, match=message):
            truth_indices(pd.Series(cells), names, {}, 7, "'truth'")


def test_a_list_in_the_column_of_the_truth_is_no_class():
    cells = pd.Series(["a", ["b"], "a"], dtype=object)
    with pytest.raises(DataError, match="`truth` must hold a class in each cell, but some hold a"):
        truth_indices(cells, ("a", "b"), {}, 1, "`truth`")
