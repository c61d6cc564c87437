import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from simloss.similarity import embedding, words
from simloss.similarity.shipped_vectors import BLOCK, ShippedVectors, packed
from simloss.similarity.word_vectors import vector_source

SOURCE = Path("/work/shared/data/word_vectors/glove-100d-60k.txt.gz")
VECTORS = {
    "rose": [1.0, 0.0, 0.5],
    "violet": [0.9, 0.1, 0.5],
    "maple": [0.0, 1.0, 0.0],
    "tree": [0.0, 0.5, 1.0],
    "Paris": [1.0, 1.0, 0.0],
    "palm_tree": [0.3, 0.3, 0.3],
    "fly": [0.2, 0.1, 0.9],
    "wolf": [0.7, 0.2, 0.1],
    "glass": [0.1, 0.2, 0.2],
}


class KeyedVectors:
    """As gensim's, as far as it is used."""

    def __init__(self, vectors):
        self.key_to_index = {word: i for i, word in enumerate(vectors)}
        self.array = np.array([*vectors.values()], dtype=np.float32)

    def __getitem__(self, word):
        return self.array[self.key_to_index[word]]


def write_text(path, *, counts, opened=open):
    with opened(path, "wt", encoding="utf-8") as file:
        if counts:
            file.write(f"{len(VECTORS)} 3\n")
        for word, vector in VECTORS.items():
            file.write(" ".join([word, *map(str, vector)]) + "\n")


def write_binary(path, opened=open):
    with opened(path, "wb") as file:
        file.write(f"{len(VECTORS)} 3\n".encode())
        for word, vector in VECTORS.items():
            file.write(word.encode() + b" " + np.array(vector, dtype="<f4").tobytes() + b"\n")


@pytest.fixture(
    params=["dict", "gensim", "glove.txt", "word2vec.txt", "f.vec.gz", "w.bin", "w.bin.gz"]
)
def vectors(request, tmp_path):
    if request.param == "dict":
        return VECTORS
    if request.param == "gensim":
        return KeyedVectors(VECTORS)
    path = tmp_path / request.param
    opened = gzip.open if path.suffix == ".gz" else open
    if ".bin" in path.suffixes:
        write_binary(path, opened)
    else:
        write_text(path, counts=path.name != "glove.txt", opened=opened)
    return path


def test_every_source_says_the_same(vectors):
    S = words(["rose", "violet", "tree"], 0.2, "angle", vectors, temperature=2)
    known = [VECTORS["rose"], VECTORS["violet"], VECTORS["tree"]]
    expected = embedding(known, 0.2, "angle", ["rose", "violet", "tree"], temperature=2)
    assert torch.allclose(S.to_dense(), expected.to_dense(), atol=1e-6)
    assert S.names == expected.names
    assert S.kept == (0, 1, 2)
    assert S.notes == ()


def test_how_names_become_words(vectors):
    names = ["maple_tree", "Maple-Tree", "palm tree", "Paris trees", "flies", "wolves", "Rose"]
    S = words(names[:1] + names[2:], vectors=vectors)
    mean = np.mean([VECTORS["maple"], VECTORS["tree"]], axis=0)
    expected = embedding(np.stack([mean, VECTORS["palm_tree"]]))
    assert torch.allclose(S.to_dense()[0, 1], expected.to_dense()[0, 1], atol=1e-6)
    assert "'maple_tree' is read as 'maple' and 'tree'" in S.notes
    assert "'flies' is read as 'fly'" in S.notes
    assert "'wolves' is read as 'wolf'" in S.notes
    assert not any("'Rose'" in note for note in S.notes)
    assert words(["_rose", "tree/"], vectors=vectors).kept == (0, 1)
    with pytest.raises(ValueError, match="but '__' has none"):
        words(["rose", "__"], vectors=vectors)
    twice = words(["maple_tree", "Maple-Tree", "rose"], vectors=vectors).to_dense()
    assert twice[0, 1] == pytest.approx(1)


def test_paris_is_found_as_written_and_not_in_small_letters(vectors):
    with pytest.raises(ValueError, match="'paris'"):
        words(["paris", "rose"], vectors=vectors)
    assert words(["Paris", "rose"], vectors=vectors).kept == (0, 1)


def test_a_missing_name_is_refused_or_dropped(vectors):
    with pytest.raises(ValueError, match=r"but 'voilet' has none \(did you mean 'violet'\?\);"):
        words(["rose", "voilet"], vectors=vectors)
    with pytest.raises(ValueError, match=r"'oak' in 'oak_tree' has none, nor has 1 more;"):
        words(["oak_tree", "rose", "qqqqq"], vectors=vectors)
    S = words(["voilet", "rose", "tree", "oak_tree"], vectors=vectors, missing="drop")
    assert S.kept == (1, 2)
    assert S.names == ("rose", "tree")
    assert S.notes[0] == "'voilet' is dropped: 'voilet' has no vector"
    with pytest.raises(ValueError, match="must have vectors in .*, but none has one"):
        words(["voilet", "qqq"], vectors=vectors, missing="drop")


def test_a_function_of_names():
    def encode(names):
        assert names == ["a sunny day", "rain"]
        return torch.tensor([[1.0, 0.0], [1.0, 1.0]])

    S = words(["a sunny day", "rain"], vectors=encode)
    assert S.to_dense()[0, 1] == pytest.approx(0.5**0.5)
    with pytest.raises(ValueError, match=r"each of the 3 names, but returned shape \(2, 2\)"):
        words(["x", "y", "z"], vectors=lambda names: np.ones((2, 2)))


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["rose", "rose"], {}, "'rose' is listed twice"),
        ([], {}, "`names` must not be empty"),
        (["rose", "tulip"], {"missing": "ignore"}, "`missing` must be one of 'error', 'drop'"),
        (["rose", "tulip"], {"kernel": "dot"}, "`kernel` must be one of"),
        (["rose", "tulip"], {"lower_bound": 1}, r"`lower_bound` must be in \[0, 1\)"),
        (["rose", "tulip"], {"vectors": 3}, "`vectors` must be None, a file, .* but got int"),
        ("rose", {}, "`names` must be a list"),
    ],
)
def test_bad_input(names, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        words(names, **options)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("e.txt", b"", "must hold word vectors, but it is empty"),
        ("c.txt", b"rose,1,0\n", "must have spaces between a word and its numbers, but line 1"),
        ("t.txt", b"rose\t1\t0\n", "must have spaces between a word and its numbers"),
        ("r.txt", b"tulip 1 2\nrose 1 x\n", "a word and 2 numbers in each line, but line 2"),
        ("n.bin", b"rose 1 2 3\n", "must begin with the number of words"),
        ("s.bin", b"2 3\nrose \x00\x00", "must hold 2 words, but it ends after 0"),
    ],
)
def test_bad_files(tmp_path, file, content, message):
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        words(["rose", "tulip"], vectors=path)


@pytest.mark.parametrize("file", ["v.txt", "v.bin"])
def test_the_nearest_word_is_sought_among_the_first(tmp_path, monkeypatch, file):
    path = tmp_path / file
    write_binary(path) if file == "v.bin" else write_text(path, counts=True)
    monkeypatch.setattr("simloss._checks.names._MOST_LOOKED_AT", 2)
    assert next(iter(vector_source(path).vocabulary())) == "rose"
    for wrong, remedy in (("violett", r" \(did you mean 'violet'\?\);"), ("mapel", ";")):
        with pytest.raises(ValueError, match=f"but '{wrong}' has none{remedy}"):
            words(["rose", wrong], vectors=path)


def test_no_such_file():
    with pytest.raises(FileNotFoundError):
        words(["rose", "tulip"], vectors="nowhere.txt")


def test_the_shipped_words_are_many_and_the_file_is_small():
    vocabulary = list(ShippedVectors().vocabulary())
    assert len(vocabulary) >= 50_000
    folder = Path(words.__globals__["__file__"]).parent / "vectors"
    assert (folder / "glove-100d.npz").stat().st_size <= 6_000_000
    assert "Public Domain" in (folder / "ATTRIBUTION.md").read_text()
    found = ShippedVectors().lookup({vocabulary[0], vocabulary[300], vocabulary[-1], "qqqzz"})
    assert set(found) == {vocabulary[0], vocabulary[300], vocabulary[-1]}


def test_packing_rounds_to_a_byte_and_clips_nothing():
    vectors = np.random.default_rng(0).normal(size=(BLOCK + 5, 40)).astype(np.float32)
    vectors[3] = 0.001
    vectors[3, 7] = 5  # nearly all of its length in one number
    names = [f"word{i}" for i in range(len(vectors))]
    arrays = packed(names, vectors, step=0.0035)
    assert arrays["words"].tobytes().decode().split("\n") == names
    assert [arrays[f"codes{i}"].shape for i in range(2)] == [(BLOCK, 40), (5, 40)]
    codes = np.concatenate([arrays["codes0"], arrays["codes1"]])
    assert codes.dtype == np.int8
    again = codes * arrays["scale"].astype(np.float32)[:, None]
    norm = np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.abs(again - vectors)[4:].max() < 0.0035 * norm.max()
    assert again[3, 7] == pytest.approx(5, rel=1e-3)


def test_shipped_words_mean_something():
    S = words(["boy", "girl", "truck", "pickup_truck", "shark", "whale"])
    dense = S.to_dense()
    for a, b, odd in ((0, 1, 2), (2, 3, 4), (4, 5, 0)):
        assert dense[a, b] > dense[a, odd]


@pytest.mark.skipif(not SOURCE.exists(), reason="needs the full GloVe vectors in /work/shared")
def test_shipped_cosines_lose_less_than_a_hundredth():
    vocabulary = list(ShippedVectors().vocabulary())
    some = [*vocabulary[:1000:7], "willow", "skyscraper", "streetcar", "lawn", "mower"]
    full = words(some, kernel="angle", vectors=SOURCE).tensors["vectors"]
    shipped = words(some, kernel="angle").tensors["vectors"]
    assert float((full @ full.T - shipped @ shipped.T).abs().max()) < 0.01


def test_vectors_of_a_dict():
    tensors = {"rose": torch.tensor([1.0, 0.0], requires_grad=True), "tulip": [1, 1]}
    S = words(["rose", "tulip"], vectors=tensors)
    assert S.rows([0])[0].tolist() == pytest.approx([1, 0.5**0.5])
    with pytest.raises(ValueError, match=r"shape \(3,\) for 'tulip' and \(2,\) for 'rose'"):
        words(["rose", "tulip"], vectors={"rose": [1, 2], "tulip": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"shape \(\) for 'rose'"):
        words(["rose", "tulip"], vectors={"rose": 1, "tulip": 2})
    with pytest.raises(TypeError, match="`vectors` must be a tensor, an array or nested lists"):
        words(["rose"], vectors={"rose": "a flower"})


def test_a_class_without_a_vector_can_stand_alone():
    S = words(["rose", "xyzzyq", "tulip"], missing="alone")
    known = words(["rose", "tulip"])
    assert S.names == ("rose", "xyzzyq", "tulip")
    assert S.kept == (0, 1, 2)
    dense = S.to_dense()
    assert torch.equal(dense[1], torch.tensor([0.0, 1.0, 0.0]))
    assert torch.equal(dense[:, 1], dense[1])
    torch.testing.assert_close(dense[[0, 2]][:, [0, 2]], known.to_dense())
