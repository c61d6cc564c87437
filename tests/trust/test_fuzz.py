"""Damaged files into every reader: a fixed number here, 100,000 and 10,000 by `make fuzz`."""

from functools import cache

import pytest
from torture.arguments import arguments
from torture.fuzz import fuzz, is_sentence, tried, walk
from torture.mutations import mutated
from torture.readers import NAMES, Reader, readers

from simloss.similarity import load

SLOW = (
    *("a report's tables", "a report's page", "user's table, CSV", "model, judged by a report"),
    *("checkpoint", "search"),
)


@pytest.fixture(scope="module")
def all_readers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readers")
    return cache(lambda: {reader.name: reader for reader in readers(folder)})()


def test_every_reader_is_here(all_readers):
    assert tuple(all_readers) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_valid_files_are_read(name, all_readers, tmp_path):
    reader = all_readers[name]
    for parts in reader.seeds:
        assert reader.read(reader.write(tmp_path, parts)) is not None


@pytest.mark.parametrize("name", NAMES)
def test_values_go_there_and_back(name, all_readers, tmp_path):
    reader = all_readers[name]
    if name == "user's table, parquet":
        pytest.importorskip("pyarrow")
    for parts in reader.seeds:
        plain = reader.values.opened(parts)
        assert reader.read(reader.write(tmp_path, reader.values.closed(plain))) is not None


@pytest.mark.parametrize("name", NAMES)
def test_hostile_values_are_read_or_refused(name, all_readers, tmp_path):
    reader = all_readers[name]
    if name == "user's table, parquet":
        pytest.importorskip("pyarrow")
    inputs = 15 if name in SLOW else 60
    _, findings = fuzz(reader, tmp_path / "fuzz", inputs, seed=1, hostile=True)
    assert not findings, "\n".join(problem for problem, _ in findings.values())


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(name, all_readers, tmp_path):
    reader = all_readers[name]
    if name == "user's table, parquet":
        pytest.importorskip("pyarrow")
    if reader.only_values:
        pytest.skip("its bytes are damaged for another reader")
    _, findings = fuzz(reader, tmp_path / "fuzz", 60 if name in SLOW else 100, seed=1)
    assert not findings, "\n".join(problem for problem, _ in findings.values())


def test_no_text_in_any_file_is_imported_called_or_followed(all_readers, tmp_path):
    """The walk: every field of every reader, as a name, a path, a link, a number, a list."""
    fields, inputs, problems = 0, 0, []
    for number, reader in enumerate(all_readers.values()):
        found = walk(reader, tmp_path / f"reader{number}")
        fields, inputs, problems = fields + found[0], inputs + found[1], problems + found[2]
    assert problems == []
    assert fields >= 350
    assert inputs == 5 * fields


# What was found, by `make fuzz` or on the way to it, and mended.
FOUND = {
    "similarity, npz": [b"PK\x03\x04", b"", b"PK\x05\x06" + bytes(18)],
    "costs, CSV": [b"cost,S,M,L\nS,0,1,2\nM,1,0,1\nL,1e308,1,0\n", b"cost,S,M\nS,0,1\nM,1,0\n"],
    "word vectors, text.gz": [b"", b"\x1f\x8b", b"no gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00"],
    "word vectors, bin": [
        b"3 " + b"1" * 80 + b"\n", b"3 3\n" + b"x" * 20_000, b"9" * 5000 + b" 3\n",
    ],
    "WordNet, data.noun": [b"", b"\xff\xfe", b"00000036 03 n zz entity 0 000 | x\n"],
    "WordNet, index.noun": [b"rose \n", b"rose n inf 1 @ 1 0 00000036\n", b"\xff rose"],
    "user's table, CSV": [
        b"weight,size\n" + b"1" * 400 + b",S\n2,M\n3,L\n",
        b"weight,size\n1,S" + b"1" * 5000 + b"\n2,M\n3,L\n",
        b'weight,"si\nze"\n1,S\n2,M\n',
    ],
    "user's table, csv.gz": [b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff\xff\xff"],
    "configuration, YAML": [
        b"name: null\n", b"- 1\n", b"name: x\ntraining: {epochs: 2024-13-45}\n", b"seeds: 5\n",
        b"name: x\ndata: {source: table, options: {a: 2024-01-01}}\n", b"x: " + b"1" * 5000,
        b"treatments: [{loss: 1}]\n", b"training: {device: null}\n", b"split: {shares: null}\n",
        b"treatments: [{loss: simloss, similarity: order, value: x}]\n",
        b"name: x\ndata: {source: table, path: \"two\\nlines\", options: {target: size}}\n"
        b"treatments: [{loss: cross-entropy}]\n",
        b"name: x\ndata: {source: table, path: " + b"x" * 5000 + b", options: {target: size}}\n"
        b"treatments: [{loss: cross-entropy}]\n",
        b"name: x\ndata: {source: diamonds}\nsplit: {shares: [0.6, 0.2, .nan]}\n"
        b"treatments: [{loss: cross-entropy}]\n",
    ],
    "a report's tables": [
        b'{"cell": "a", "status": "done", "together": 1, "treatment": {}}\n',
        b'{"cell": "a", "status": "done", "together": 1, "treatment": {"loss": "simloss"}}\n',
        b'{"cell": "a", "status": "done", "together": 1, "seed": 1, "treatment": {"loss": "x"},'
        b' "metrics": {"test": {"argmax": {"mae": 1' + b"0" * 400 + b"}}}}\n",
        b'{"cell": "a", "status": "failed", "together": 1, "seed": 1,'
        b' "treatment": {"loss": "x"}}\n',
        b'{"cell": "a", "status": "done", "together": 1.5, "treatment": {"loss": "x"}}\n',
        b'{"cell": "a", "status": "done", "together": true, "treatment": {"loss": "x"}}\n',
    ],
    "a cell's arrays, npz": [b"", b"PK\x03\x04"],
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_mended(name, all_readers, tmp_path):
    reader = all_readers[name]
    for content in FOUND[name]:
        (tmp_path / reader.file).parent.mkdir(parents=True, exist_ok=True)
        if reader.in_folder:
            for part, valid in reader.seeds[0].items():
                (tmp_path / part).write_bytes(valid)
        (tmp_path / reader.file).write_bytes(content)
        path = tmp_path if reader.in_folder else tmp_path / reader.file
        problem = tried(reader, path)
        assert not problem, f"{content[:60]!r}: {problem}"


def test_npz_headers_that_are_no_python(tmp_path):
    """numpy parses an array's header as Python text; what that raises is not for users."""
    from torture.readers import zipped

    header = b"{'descr': '<f8', 'shape': ((, "
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    (tmp_path / "s.npz").write_bytes(zipped({"r.npy": array, "about.npy": array}))
    with pytest.raises(ValueError, match="saved by simloss, but it is not"):
        load(tmp_path / "s.npz")


def test_random_arguments(tmp_path):
    _, findings = arguments(tmp_path, 60)
    assert findings == []


class TestTheHarness:
    """It notices what it is there to notice."""

    def tried(self, read, tmp_path):
        (tmp_path / "f").write_bytes(b"x")
        return tried(Reader("r", True, "f", ({"file": b"x"},), read), tmp_path / "f")

    def test_other_errors(self, tmp_path):
        def fails(error):
            def read(path):
                raise error

            return self.tried(read, tmp_path)

        assert "KeyError" in fails(KeyError("x"))
        assert "MemoryError" in fails(MemoryError())
        assert "UnicodeDecodeError" in fails(UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"))
        assert "invalid literal" in fails(ValueError("invalid literal for int()"))
        assert fails(ValueError("`r` must be in [0, 1), but got 2.")) == ""

    def test_memory(self, tmp_path):
        from torture.fuzz import limits

        with limits():
            assert "MemoryError" in self.tried(lambda path: bytearray(2**31), tmp_path)

    def test_time(self, tmp_path, monkeypatch):
        monkeypatch.setattr("torture.fuzz.SECONDS", 0.1)

        def forever(path):
            while True:
                pass

        assert "seconds of one core" in self.tried(forever, tmp_path)

    def test_sentences(self):
        assert is_sentence(ValueError("`x` must be y."))
        assert not is_sentence(ValueError("two\nlines."))
        assert not is_sentence(KeyError("x."))

    def test_mutations_differ_and_are_the_same_again(self):
        import random

        def some():
            chance = random.Random(5)
            return [mutated(b"1,0.5\n0.5,1\n", chance) for _ in range(50)]

        assert len(set(some())) > 40
        assert some() == some()
