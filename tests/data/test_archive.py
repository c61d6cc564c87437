import io
import os
import struct
import tarfile
import zipfile

import pytest

from data.files import WRITERS, write_tar, write_zip
from simloss.data import DataError
from simloss.data import source as source_module
from simloss.data.archive import Tar, source

FILES = {"a/one.txt": b"first", "a/two.txt": b"2" * 700, "three.txt": b""}


def read_all(path):
    return {member.name: member.read() for member in source(path).members()}


def test_every_form_holds_the_same_files(written):
    assert read_all(written(FILES)) == FILES


def test_members_that_are_not_read_are_passed_over(written):
    path = written(FILES)
    assert {member.name: member.size for member in source(path).members()} == {
        name: len(data) for name, data in FILES.items()
    }


def test_position_moves_forward_to_the_end(written):
    data = {f"{number:03}.bin": os.urandom(3000) for number in range(40)}
    opened = source(written(data))
    positions = []
    for member in opened.members():
        member.read()
        positions.append(opened.position)
    assert positions == sorted(positions)
    assert 0.5 * opened.size < positions[-1] <= opened.size


def test_parts_are_joined(tmp_path):
    whole = write_tar(tmp_path / "whole.tar.xz", FILES, "w:xz").read_bytes()
    parts = []
    for number, start in enumerate(range(0, len(whole), 50)):
        parts.append(tmp_path / f"part{number:03}")
        parts[-1].write_bytes(whole[start : start + 50])
    assert len(parts) > 3
    joined = Tar(tmp_path, parts)
    assert {member.name: member.read() for member in joined.members()} == FILES
    assert joined.size == len(whole)


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind != "folder"])
def test_cut_off_anywhere_is_noticed(kind, tmp_path):
    path = WRITERS[kind](tmp_path / "whole", FILES)
    data = path.read_bytes()
    # Of a plain tar, only padding follows the first of its two closing blocks.
    end = len(data.rstrip(b"\0")) + 512 if kind == "tar" else len(data)
    cut = tmp_path / "cut"
    for length in range(0, end, max(1, end // 150)):
        cut.write_bytes(data[:length])
        with pytest.raises(DataError, match="cut' (is damaged or incomplete|must be a folder)"):
            read_all(cut)


def test_wrong_bytes_in_a_gzip_are_noticed(tmp_path):
    path = write_tar(tmp_path / "a.tar.gz", FILES)
    data = bytearray(path.read_bytes())
    data[-6] ^= 1  # its checksum
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        read_all(path)


def test_wrong_bytes_in_a_zip_are_noticed(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"noise": os.urandom(500)})
    data = bytearray(path.read_bytes())
    data[300] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        read_all(path)


def test_links_and_devices_in_a_tar_are_not_files(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo("/etc/passwd")
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
    assert read_all(path) == {}


def test_a_zip_of_a_version_to_come(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"one": b"1"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 255  # the version that is needed to read it
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"is damaged or incomplete \(zip file version 25.5\)"):
        list(source(path).members())


def test_a_damaged_name_in_a_zip(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"ö": b"1"})
    content = bytearray(path.read_bytes())
    content[content.index("ö".encode())] = 0xFF  # in the header before the file
    path.write_bytes(content)
    with pytest.raises(DataError, match="is damaged or incomplete"):
        read_all(path)


def test_a_file_without_a_name_in_a_zip_is_left_out(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), b"1")
        archive.writestr("two", b"2")
    assert [member.name for member in source(path).members()] == ["two"]


def test_links_in_a_zip_are_not_files(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("real", "x")
    assert read_all(path) == {"real": b"x"}


def test_locked_zip_is_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"secret": b"x"})
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.rindex(mark) + offset] |= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"cannot be read: .*password required"):
        read_all(path)


def test_absurd_size_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "a.tar"
    info = tarfile.TarInfo("huge.jpg")
    info.size = 10**12
    path.write_bytes(info.tobuf() + bytes(10240))
    with pytest.raises(DataError, match=r"a.tar' holds 'huge.jpg' of 1,000,000,000,000 bytes"):
        read_all(path)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_absurd_header_is_refused_before_it_is_read(kind, tmp_path):
    path = tmp_path / "a.tar"
    info = tarfile.TarInfo("header")
    info.type, info.size = kind, 8 * 10**9
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(10240))
    with pytest.raises(DataError, match="a header claims 8,000,000,000 bytes"):
        read_all(path)


def test_long_names_without_end_are_damage(tmp_path):
    info = tarfile.TarInfo("././@LongLink")
    info.size, info.type = 4, tarfile.GNUTYPE_LONGNAME
    name = info.tobuf(tarfile.GNU_FORMAT) + b"abc\0".ljust(512, b"\0")
    path = write_tar(tmp_path / "a.tar", FILES, "w:")
    path.write_bytes(3 * name + path.read_bytes())
    assert len(read_all(path)) == 3
    path.write_bytes(3000 * name + path.read_bytes())
    with pytest.raises(DataError, match=r"a.tar' is damaged or incomplete \(maximum recursion"):
        read_all(path)


def test_a_map_of_gaps_that_is_none_is_damage(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("a.png")
        info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
        info.size = 512
        tar.addfile(info, io.BytesIO(b"99999999999\n".ljust(512, b"\0")))
    with pytest.raises(DataError, match=r"a.tar' is damaged or incomplete \(not enough values to"):
        read_all(tmp_path / "a.tar")


def test_too_many_files_are_refused(written, monkeypatch):
    path = written(FILES)
    monkeypatch.setattr(source_module, "MAX_MEMBERS", 2)
    with pytest.raises(DataError, match="holds more than 2 files"):
        read_all(path)


def test_text_file_is_no_archive(tmp_path):
    path = tmp_path / "notes.tar.gz"
    path.write_text("not yet downloaded")
    with pytest.raises(DataError, match=r"notes.tar.gz' must be a folder or an archive"):
        source(path)


def test_folder_passes_over_hidden_files_dead_links_and_great_depth(tmp_path):
    for name in ("kept.txt", ".hidden", "a/b/c/kept.txt", "a/b/c/d/too_deep.txt", ".git/file"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "dead").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert set(read_all(tmp_path)) == {"kept.txt", "a/b/c/kept.txt"}


def test_file_that_vanishes_is_named(tmp_path):
    (tmp_path / "gone.txt").write_text("x")
    opened = source(tmp_path)
    (tmp_path / "gone.txt").unlink()
    with pytest.raises(DataError, match=r"gone.txt' cannot be read: No such file"):
        [member.read() for member in opened.members()]


class TestFingerprint:
    def test_stays_when_nothing_changes(self, written):
        path = written(FILES)
        assert source(path).fingerprint() == source(path).fingerprint()

    def test_stays_when_the_path_changes(self, written):
        path = written(FILES)
        before = source(path).fingerprint()
        assert source(path.rename(path.with_name("elsewhere"))).fingerprint() == before

    def test_changes_with_the_content(self, written):
        path = written(FILES)
        before = source(path).fingerprint()
        file = path / "three.txt" if path.is_dir() else path
        file.write_bytes(file.read_bytes() + b"\0")
        assert source(path).fingerprint() != before

    def test_changes_with_the_time(self, written):
        path = written(FILES)
        before = source(path).fingerprint()
        os.utime(path / "three.txt" if path.is_dir() else path, (1, 1))
        assert source(path).fingerprint() != before

    def test_changes_with_the_end_of_a_large_file(self, tmp_path):
        path = write_tar(tmp_path / "a.tar", {"noise": os.urandom(3 * 2**20)}, "w:")
        before, time = source(path).fingerprint(), path.stat().st_mtime_ns
        with path.open("r+b") as file:
            file.seek(-2000 - 512, io.SEEK_END)
            file.write(struct.pack("d", 1.5))
        os.utime(path, ns=(time, time))
        assert source(path).fingerprint() != before


def test_nothing_is_written_beside_the_archive(tmp_path):
    path = write_tar(tmp_path / "a.tar.gz", {"../../escape.txt": b"x", "/root/x": b"y"})
    assert set(read_all(path)) == {"../../escape.txt", "/root/x"}
    assert list(tmp_path.iterdir()) == [path]
