"""Files are written whole or not at all; only files are read, and only as far as they go."""

import ast
import io
import os
import socket
import zipfile
from pathlib import Path

import numpy as np
import pytest

import simloss
from simloss._disk import arrays_of, bytes_of, expanded, file_to_change, own_folder, regular_file


@pytest.fixture
def special(tmp_path):
    """Kind -> something with a name that is no regular file."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "to-pipe").symlink_to(tmp_path / "pipe")
    return {
        "a pipe": tmp_path / "pipe",
        "a socket": tmp_path / "socket",
        "a folder": tmp_path / "folder",
        "a device": "/dev/zero",
        "a link": tmp_path / "to-pipe",
    }


@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a folder", "a device", "a link"])
def test_only_regular_files_are_opened(special, kind):
    rule = f"must be a regular file, but it is {kind}."
    with pytest.raises(ValueError, match=rule):
        regular_file(special[kind])
    with pytest.raises(ValueError, match=rule if kind != "a link" else "it is a pipe."):
        regular_file(special[kind], follow_links=True)
    with pytest.raises(ValueError, match=rule):
        file_to_change(special[kind])


def test_a_link_to_a_file_where_the_user_named_it(tmp_path):
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "link").symlink_to("a")
    assert bytes_of(tmp_path / "link", 9, follow_links=True) == b"text"
    with pytest.raises(ValueError, match="'.*link' must be a regular file, but it is a link."):
        bytes_of(tmp_path / "link", 9)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        regular_file(tmp_path / "gone")


def test_a_file_has_at_most_so_many_bytes(tmp_path):
    (tmp_path / "a").write_bytes(bytes(10))
    assert len(bytes_of(tmp_path / "a", 10)) == 10
    with pytest.raises(ValueError, match="'.*a' must have at most 9 bytes, but it has more."):
        bytes_of(tmp_path / "a", 9)


def as_text(file):
    with io.TextIOWrapper(file) as text:
        return text.read().encode()


@pytest.mark.parametrize(
    "read",
    [
        lambda file: file.read(),
        lambda file: file.read(100),
        lambda file: b"".join(file),
        as_text,
    ],
)
def test_a_file_ends_where_it_ended_when_it_was_opened(tmp_path, read):
    path = tmp_path / "a"
    path.write_bytes(b"begin\n")
    with regular_file(path) as file, path.open("ab") as other:
        other.write(b"and so on without end\n")
        other.flush()
        assert read(file) == b"begin\n"


def test_it_can_be_read_from_any_place(tmp_path):
    (tmp_path / "a").write_bytes(b"0123456789")
    with regular_file(tmp_path / "a") as file:
        assert file.seek(-3, os.SEEK_END) == 7
        assert file.read() == b"789"
        file.seek(20)
        assert file.read() == b""


def test_what_claims_no_size_has_no_content():
    """Such files go on without end, or wait, as /proc/kmsg does."""
    for path in ("/proc/kmsg", "/proc/self/pagemap"):
        if os.access(path, os.R_OK):
            assert bytes_of(path, 10) == b""


def test_nothing_is_written_through_a_link(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "nowhere").symlink_to(tmp_path / "not yet")
    os.link(outside, tmp_path / "second")
    for name, rule in (("link", "it is a link"), ("nowhere", "it is a link"), ("second", "second")):
        with pytest.raises(ValueError, match=rule):
            file_to_change(tmp_path / name)
    assert outside.read_text() == "mine"
    assert not (tmp_path / "not yet").exists()


def test_a_file_to_change_is_made_and_appended_to(tmp_path):
    for _ in range(2):
        with file_to_change(tmp_path / "a") as file:
            file.write(b"x")
    assert (tmp_path / "a").read_bytes() == b"xx"


def test_a_folder_of_our_own_is_no_link(tmp_path):
    assert own_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(ValueError, match="'.*link' must be a real folder, but it is a link."):
        own_folder(tmp_path / "link")


def test_a_user_that_is_not_there():
    assert str(expanded("~nosuchuser/x.csv")) == "~nosuchuser/x.csv"
    assert expanded("~") == expanded(os.path.expanduser("~"))


def test_what_is_no_array_in_an_npz_file_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", b"no array")
    with pytest.raises(ValueError, match="'X' in it is not an array"):
        arrays_of(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("shape", "dtype", "content"),
    [
        ((1, 10**12), "<f8", b""),
        ((3,), "<f8", bytes(16)),
        ((10**12,), "<U0", b""),
        ((2,), "|V0", b""),
    ],
)
def test_an_array_in_an_npz_file_fills_the_shape_it_claims(tmp_path, shape, dtype, content):
    header = io.BytesIO()
    about = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, about)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue() + content)
    with pytest.raises(ValueError, match=r"'X' in it claims the shape .*, but does not fill it"):
        arrays_of(tmp_path / "a.npz")


def test_arrays_of_any_version_of_the_header_are_read(tmp_path):
    found = {"a": np.zeros(2, [("é€", "f4")]), "b": np.zeros((2, 0)), "c": np.asfortranarray([[1]])}
    with pytest.warns(UserWarning, match="NumPy >= 1.17"):
        np.savez(tmp_path / "a.npz", **found)
    assert {name: array.shape for name, array in arrays_of(tmp_path / "a.npz").items()} == {
        "a": (2,),
        "b": (2, 0),
        "c": (1, 1),
    }


def test_what_is_no_character_in_an_npz_file_is_told(tmp_path):
    np.savez(tmp_path / "a.npz", y=np.full(9, 2**31, np.uint32).view("<U3"))
    with pytest.raises(ValueError, match="a text holds what is no character"):
        arrays_of(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", y=np.array(["é", ""], ">U3"), e=np.array([], "U0"))
    assert arrays_of(tmp_path / "a.npz")["y"].tolist() == ["é", ""]


# Files that open files without `simloss._disk`, and why they may.
OPEN_THEMSELVES = {
    "_disk.py": "the door",
    "cli/streams.py": "/dev/null",
    "data/archive.py": "unpacks what the door has opened",
    "data/arrays.py": "unpacks what the door has opened",
    "data/decode.py": "bytes in memory",
    "data/encoders/kept.py": "bytes in memory",
    "data/image_cache.py": "writes into a folder it has made; maps what the door has opened",
    "data/memory.py": "unpacks what the door has opened; /proc/meminfo",
    "data/npz_rows.py": "unpacks what the door has opened",
    "data/ordered_words.py": "the package's own",
    "data/packaged.py": "of an installed package",
    "data/parquet_file.py": "unpacks what the door has opened",
    "data/shipped.py": "the package's own",
    "data/table_file.py": "unpacks what the door has opened",
    "experiment/grid/run.py": "a hint, in a folder that is made anew for each run",
    "experiment/rivals/boost.py": "trains, and reads nothing",
    "experiment/rivals/trees.py": "a text in memory, written anew by tree_text.py",
    "experiment/train/checkpoint.py": "unpacks what the door has opened",
    "report/page/shell.py": "the package's own",
    "similarity/shipped_vectors.py": "the package's own",
    "similarity/word_vectors.py": "unpacks what the door has opened",
}
OPENERS = {
    *("open", "fdopen", "mkstemp", "read_text", "read_bytes", "write_text", "write_bytes"),
    *("ZipFile", "memmap", "open_memmap", "fromfile", "loadtxt", "genfromtxt", "save_file"),
    *("load_file", "safe_open", "read_csv", "read_parquet", "ParquetFile", "Booster"),
    *("np.load", "np.save", "np.savez", "torch.load", "torch.save", "joblib.load", "joblib.dump"),
}


def test_there_is_one_door():
    """What reads a file in a new place goes through `simloss._disk`, and into `torture.readers`."""
    root = Path(simloss.__file__).parent
    opening = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _is_opener(ast.unparse(node.func))
    }
    assert opening == set(OPEN_THEMSELVES)


def _is_opener(function):
    ours = ("ProbabilityFile.open", "read_csv")  # which go through the door themselves
    return function not in ours and bool({function, function.rpartition(".")[2]} & OPENERS)
