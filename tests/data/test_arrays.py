"""Features and labels in NumPy's files."""

import numpy as np
import pytest
import torch

from simloss.data import DataError, arrays

X = np.arange(24, dtype=np.float64).reshape(8, 3)
Y = np.array(["low", "high", "middle", "low"] * 2)


def saved(folder, **found):
    np.savez(folder / "e.npz", **found)
    return folder / "e.npz"


@pytest.mark.parametrize(
    "names", [("X", "y"), ("embeddings", "labels"), ("a", "b"), ("x", "target")]
)
def test_names_of_the_arrays(tmp_path, names):
    found = arrays(saved(tmp_path, **dict(zip(names, (X, Y), strict=True))))
    assert found.inputs.dtype == torch.float32
    assert found.inputs.tolist() == X.tolist()
    assert found.class_names == ("low", "middle", "high")
    assert found.labels.tolist() == [0, 2, 1, 0] * 2


def test_target_superclass_bins_and_order(tmp_path):
    path = saved(tmp_path, X=X, y=Y, price=np.arange(8.0), kind=np.array(["p", "p", "q", "p"] * 2))
    assert arrays(path, target="price", bins=2).num_classes == 2
    assert arrays(path, superclass="kind").superclasses == ("p", "q", "p")
    assert arrays(path, class_order=["high", "low", "middle"]).class_names[0] == "high"


def test_rows_without_a_class_are_left_out(tmp_path):
    found = arrays(saved(tmp_path, X=X, y=np.array([1.0, 2, np.nan, 1, 2, 1, 2, 1])))
    assert found.inputs[:, 0].tolist() == [0, 3, 9, 12, 15, 18, 21]
    assert found.notes["rows_without_class"] == 1


def test_npy_with_labels_beside_it(tmp_path):
    np.save(tmp_path / "faces.npy", X)
    np.save(tmp_path / "labels.npy", Y)
    assert arrays(tmp_path / "faces.npy").num_classes == 3
    np.save(tmp_path / "other.npy", np.arange(8) % 2)
    assert arrays(tmp_path / "faces.npy", target="other.npy").num_classes == 2
    with pytest.raises(DataError, match=r"must name an \.npy file of labels beside .* no no\.npy"):
        arrays(tmp_path / "faces.npy", target="no.npy")


@pytest.mark.parametrize(
    ("found", "options", "sentence"),
    [
        ({"X": X, "y": Y[:5]}, {}, "a label for each of its 8 rows of features, but 'y' has 5"),
        (
            {"X": X, "y": Y, "kind": Y[:5]},
            {"superclass": "kind"},
            "a label for each of its 8 rows of features, but 'kind' has 5",
        ),
        ({"X": X}, {}, "`target` must name the array of labels .* holds nothing else"),
        ({"X": X, "y": Y}, {"target": "z"}, r"must hold an array 'z', but it holds y \(8,\)"),
        (
            {"a": X, "b": X, "y": Y},
            {},
            r"its only array of two dimensions, but it holds a \(8, 3\)",
        ),
        ({"X": X[:, 0], "y": Y}, {}, r"numbers of shape \(N, D\) as 'X', but it holds float64 of"),
        ({"X": X + np.nan, "y": Y}, {}, "must hold finite features, but row 0 of 'X' is not"),
        ({"X": X, "y": X}, {}, r"must hold 'y' as numbers or words of shape \(N\)"),
        (
            {"X": X, "y": Y.astype(object)},
            {},
            "npz file of plain arrays, but: 'y' holds Python objects",
        ),
    ],
)
def test_mistakes(tmp_path, found, options, sentence):
    with pytest.raises(DataError, match=sentence):
        arrays(saved(tmp_path, **found), **options)


def test_labels_are_counted_before_they_become_a_table(tmp_path, monkeypatch):
    """A file of 128 bytes may claim any number of words without letters."""
    np.save(tmp_path / "X.npy", X)
    with open(tmp_path / "y.npy", "wb") as file:
        header = {"descr": "<U0", "fortran_order": False, "shape": (10**9,)}
        np.lib.format.write_array_header_1_0(file, header)
    monkeypatch.setattr("pandas.DataFrame", None)
    with pytest.raises(DataError, match="its 8 rows of features, but 'y' has 1,000,000,000"):
        arrays(tmp_path / "X.npy")


def test_other_files(tmp_path):
    with pytest.raises(DataError, match="Nothing was found"):
        arrays(tmp_path / "no.npz")
    for name in ("a.npz", "a.npy"):
        (tmp_path / name).write_bytes(b"something else")
        with pytest.raises(DataError, match=f"must be an {name[2:]} file"):
            arrays(tmp_path / name)
    with pytest.raises(DataError, match="its content has changed"):
        arrays(saved(tmp_path, X=X, y=Y), content="0123")


def test_components_are_fitted_where_it_is_split(tmp_path):
    found = arrays(saved(tmp_path, X=X, y=Y), components=2)
    assert found.components == 2
    assert found.input_shape == (2,)
    with pytest.raises(ValueError, match="`components` must be at least 1"):
        arrays(saved(tmp_path, X=X, y=Y), components=0)
