import pickle
import pickletools
import struct

import numpy as np
import pytest
import torch

from data.files import write_folder, write_tar
from data.test_cifar100 import COARSE, FINE, TEST, TRAIN, files, records
from simloss.data import DataError, cifar100


def text(value: bytes) -> bytes:
    """A Python 2 string, as protocol 2 writes it."""
    return b"T" + struct.pack("<i", len(value)) + value


def numbers(values) -> bytes:
    return b"](" + b"".join(b"K" + bytes([value]) for value in values) + b"e"


def array(rows: np.ndarray) -> bytes:
    """An array of bytes, as numpy under Python 2 pickled it."""
    dtype = b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R"
    dtype += b"(K\x03" + text(b"|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    empty = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b")
    shape = b"".join(b"J" + struct.pack("<i", size) for size in rows.shape) + b"\x86"
    return empty + b"\x87R(K\x01" + shape + dtype + b"\x89" + text(rows.tobytes()) + b"tb"


def dictionary(entries: dict[bytes, bytes]) -> bytes:
    body = b"".join(text(key) + value for key, value in entries.items())
    return b"\x80\x02}(" + body + b"u."


def part(rows: np.ndarray) -> bytes:
    return dictionary(
        {
            b"batch_label": text(b"training batch 1 of 1"),
            b"data": array(rows[:, 2:]),
            b"fine_labels": numbers(rows[:, 1]),
            b"coarse_labels": numbers(rows[:, 0]),
        }
    )


def python_files(folder="cifar-100-python/"):
    names = {
        f"{kind}_label_names".encode(): b"]("
        + b"".join(text(name.encode()) for name in names)
        + b"e"
        for kind, names in (("fine", FINE), ("coarse", COARSE))
    }
    return {
        folder + "train": part(records(TRAIN, 0)),
        folder + "test": part(records(TEST, 1)),
        folder + "meta": dictionary(names),
    }


def test_the_files_made_here_are_pickles():
    for data in python_files().values():
        assert list(pickletools.genops(data))
    loaded = pickle.loads(python_files("")["test"], encoding="bytes")
    assert np.array_equal(loaded[b"data"], records(TEST, 1)[:, 2:])


@pytest.mark.parametrize("form", ["folder", "folder around it", "archive"])
def test_same_as_the_binary_files(form, tmp_path):
    if form == "archive":
        path = write_tar(tmp_path / "cifar-100-python.tar.gz", python_files())
    else:
        path = write_folder(tmp_path, python_files("" if form == "folder" else "cifar-100-python/"))
    ours = cifar100(path)
    theirs = cifar100(write_folder(tmp_path / "binary", files("")))
    assert torch.equal(ours.inputs, theirs.inputs)
    assert torch.equal(ours.labels, theirs.labels)
    assert (ours.class_names, ours.superclasses) == (theirs.class_names, theirs.superclasses)
    assert all(torch.equal(ours.parts[name], theirs.parts[name]) for name in ours.parts)


def test_files_pickled_again_by_a_newer_python_and_numpy(tmp_path):
    again = {
        name: pickle.dumps(pickle.loads(data, encoding="bytes"))
        for name, data in python_files("").items()
    }
    assert len(cifar100(write_folder(tmp_path, again), drop=())) == (TRAIN + TEST) * len(FINE)


class Attack:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "attack",
    [
        Attack(print, ("it ran",)),
        Attack(__import__, ("os",)),
        Attack(eval, ("print('it ran')",)),
        Attack(np.load, ("file",)),
        Attack(bytearray, (10**12,)),
    ],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_program_in_a_pickle_never_runs(attack, protocol, tmp_path, capsys):
    bad = {**python_files(""), "meta": pickle.dumps({b"x": attack}, protocol=protocol)}
    with pytest.raises(
        DataError,
        match=r"'meta' is not a file of cifar-100-python \(it asks for .*\); "
        r"cifar-100-binary.tar.gz holds the same images without pickle\.",
    ):
        cifar100(write_folder(tmp_path, bad))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no pickle",
        pickle.dumps([1, 2]),
        pickle.dumps({b"fine_label_names": 3}),
        pickle.dumps({b"fine_label_names": [3]}),
        b"\x80\x02}("
        + text(b"x")
        + array(np.zeros((1, 1), np.uint8)).replace(b"u1", b"f8")
        + b"u.",
    ],
)
def test_other_pickles_are_refused(data, tmp_path):
    bad = {**python_files(""), "meta": data}
    with pytest.raises(DataError, match=r"cifar-100-python.*cifar-100-binary.tar.gz"):
        cifar100(write_folder(tmp_path, bad))


def test_cut_off_anywhere_is_noticed(tmp_path):
    whole = python_files("")["test"]
    write_folder(tmp_path, python_files(""))
    for length in range(0, len(whole), len(whole) // 50):
        (tmp_path / "test").write_bytes(whole[:length])
        with pytest.raises(DataError, match="'test' is not a file of cifar-100-python"):
            cifar100(tmp_path)
