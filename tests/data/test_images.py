import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

from data.files import jpeg, write_folder, write_tar
from simloss.data import DataError, cache_folder, image_cache
from simloss.data import images as images_module
from simloss.data.archive import source
from simloss.data.decode import decoded
from simloss.data.images import LeftOut, images

FILES = {f"set/{name}.jpg": jpeg(ord(name)) for name in "dacb"}
SIZE = 4


def row_name(name):
    if name.endswith("_old.jpg"):
        return LeftOut("old")
    return name.rpartition("/")[2] if name.endswith(".jpg") else None


def read(path, **options):
    options = {"size": SIZE, "rules": "pictures", "row_name": row_name, **options}
    return images(source(path), name="test", **options)


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "folder", FILES)


@pytest.fixture
def no_decoding(monkeypatch):
    """From here on, decoding is an error."""

    def switch_off():
        def refuse(*_, **__):
            raise AssertionError("decoded again")

        monkeypatch.setattr(images_module, "decoded", refuse)

    return switch_off


def test_pixels_of_every_form_are_those_decoded_sorted_by_name(written):
    found = read(written(FILES))
    expected = dict(decoded(FILES.items(), SIZE))
    assert found.names == ("a.jpg", "b.jpg", "c.jpg", "d.jpg")
    for name, pixels in zip(found.names, found.inputs, strict=True):
        assert pixels.permute(1, 2, 0).contiguous().numpy().tobytes() == expected[f"set/{name}"]


def test_pixels_are_uint8_channels_last(folder):
    pixels = read(folder).inputs
    assert pixels.dtype == torch.uint8
    assert pixels.shape == (4, 3, SIZE, SIZE)
    assert pixels.is_contiguous(memory_format=torch.channels_last)


def test_second_reading_does_not_decode(folder, no_decoding):
    first = read(folder)
    no_decoding()
    second = read(folder)
    assert torch.equal(first.inputs, second.inputs)
    assert (first.names, first.left_out, first.first_equal, first.cache) == (
        second.names,
        second.left_out,
        second.first_equal,
        second.cache,
    )


def test_tensor_of_the_cache_is_mapped_and_writing_to_it_leaves_the_file_alone(folder):
    first = read(folder)
    before = first.inputs.clone()
    first.inputs.fill_(7)
    assert torch.equal(read(folder).inputs, before)


def test_moved_archive_is_known_again(tmp_path, no_decoding):
    path = write_tar(tmp_path / "a.tar.gz", FILES)
    read(path)
    no_decoding()
    read(path.rename(tmp_path / "b.tar.gz"))


@pytest.mark.parametrize("change", ["size", "rules", "content", "added file"])
def test_what_changes_is_decoded_again(change, folder, own_cache):
    before = read(folder)
    options = {"size": {"size": 5}, "rules": {"rules": "other pictures"}}.get(change, {})
    if change == "content":
        (folder / "set/a.jpg").write_bytes(jpeg(99))
    if change == "added file":
        (folder / "set/e.jpg").write_bytes(jpeg(99))
    after = read(folder, **options)
    assert after.cache != before.cache
    assert len(list(own_cache.glob("*.npy"))) == 2


class TestDamage:
    """Whatever happens to the two files, the right pixels come back."""

    @pytest.fixture
    def kept(self, folder):
        first = read(folder)
        return first.inputs.clone(), image_cache.Path(first.cache)

    @pytest.mark.parametrize("suffix", [".npy", ".json"])
    def test_cut_off_at_any_length(self, suffix, folder, kept):
        expected, path = kept
        path = path.with_suffix(suffix)
        data = path.read_bytes()
        for length in range(len(data)):
            path.write_bytes(data[:length])
            assert image_cache.load(path.parent, path.stem, SIZE) is None
        path.write_bytes(data[: len(data) // 2])
        assert torch.equal(read(folder).inputs, expected)
        assert path.read_bytes() == data

    @pytest.mark.parametrize("suffix", [".npy", ".json"])
    def test_any_byte_changed(self, suffix, kept):
        _, path = kept
        path = path.with_suffix(suffix)
        data = path.read_bytes()
        for at in range(len(data)):
            changed = bytearray(data)
            changed[at] ^= 4
            path.write_bytes(changed)
            assert image_cache.load(path.parent, path.stem, SIZE) is None

    @pytest.mark.parametrize("suffix", [".npy", ".json"])
    def test_one_of_the_two_missing(self, suffix, folder, kept):
        expected, path = kept
        path.with_suffix(suffix).unlink()
        assert torch.equal(read(folder).inputs, expected)

    def test_pickled_array_in_its_place(self, folder, kept):
        expected, path = kept
        np.save(path, np.array([print, None], dtype=object), allow_pickle=True)
        assert torch.equal(read(folder).inputs, expected)

    def test_array_of_another_shape_in_its_place(self, folder, kept):
        expected, path = kept
        np.save(path, np.zeros((4, SIZE, SIZE, 4), dtype=np.uint8))
        assert torch.equal(read(folder).inputs, expected)

    @pytest.mark.parametrize("text", ["[]", "{}", '{"checksum": 0, "index": {}}', "null"])
    def test_another_json_in_its_place(self, text, folder, kept):
        expected, path = kept
        path.with_suffix(".json").write_text(text)
        assert torch.equal(read(folder).inputs, expected)


class TestCrash:
    @pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
    def test_exception_half_way_leaves_nothing(self, error, folder, own_cache, monkeypatch):
        def stop(files, size):
            yield next(decoded(files, size))
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(images_module, "decoded", stop)
            with pytest.raises(error):
                read(folder)
        assert list(own_cache.iterdir()) == []
        assert len(read(folder).inputs) == 4

    @pytest.mark.parametrize("moment", ["first row", "between the two files"])
    def test_killed_half_way_leaves_nothing_that_counts(self, moment, folder, own_cache):
        script = f"""
            import os, signal
            from pathlib import Path
            from simloss.data import image_cache, images as images_module
            from simloss.data.archive import source

            def kill(*_):
                os.kill(os.getpid(), signal.SIGKILL)

            if {moment!r} == "first row":
                images_module._Build._rows = lambda self, index: map(kill, [0])
            else:
                move = os.replace
                os.replace = lambda a, b: kill() if str(b).endswith(".json") else move(a, b)
            images_module.images(source(Path({str(folder)!r})), name="test", rules="pictures",
                                 size={SIZE}, row_name=lambda name: name.rpartition("/")[2])
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert any(own_cache.iterdir())
        assert not list(own_cache.glob("*.json"))
        assert len(read(folder).inputs) == 4

    def test_what_a_crash_left_is_swept_away_after_a_day(self, folder, own_cache):
        for name, age in (("old.unfinished", 90_000), ("young.unfinished", 100)):
            (own_cache / name).mkdir(parents=True)
            (own_cache / name / "arrival").write_bytes(b"x")
            then = (own_cache / name).stat().st_mtime - age
            os.utime(own_cache / name, (then, then))
        read(folder)
        assert not (own_cache / "old.unfinished").exists()
        assert (own_cache / "young.unfinished").exists()


class TestWhere:
    def test_default_folder(self, monkeypatch):
        monkeypatch.delenv("SIMLOSS_CACHE")
        monkeypatch.setenv("HOME", "/home/someone")
        assert str(cache_folder()) == "/home/someone/.cache/simloss"

    def test_environment(self, own_cache):
        assert cache_folder() == own_cache

    def test_argument_goes_first(self, folder, tmp_path, own_cache):
        assert read(folder, cache=tmp_path / "mine").cache.startswith(str(tmp_path / "mine"))
        assert not own_cache.exists()

    def test_true_is_the_default_folder(self, folder, own_cache):
        assert read(folder, cache=True).cache.startswith(str(own_cache))

    def test_false_keeps_nothing(self, folder, own_cache):
        found = read(folder, cache=False)
        assert torch.equal(found.inputs, read(folder, cache=None).inputs)
        assert found.cache == "not cached, as requested"

    def test_folder_that_cannot_be_written_to_is_done_without(self, folder, tmp_path):
        (tmp_path / "file").write_text("in the way")
        found = read(folder, cache=tmp_path / "file" / "cache")
        assert len(found.inputs) == 4
        assert found.cache == (
            f"not cached: '{tmp_path}/file/cache' is not writable (Not a directory)"
        )

    def test_read_only_folder_is_done_without(self, folder, own_cache, monkeypatch):
        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied")

        with monkeypatch.context() as patch:
            patch.setattr(image_cache.tempfile, "TemporaryDirectory", refuse)
            with pytest.raises(PermissionError):
                image_cache.workshop(own_cache, "test")
        monkeypatch.setattr(image_cache, "workshop", refuse)
        assert "is not writable (Permission denied)" in read(folder).cache

    def test_full_disk_is_one_sentence(self, folder, own_cache, monkeypatch):
        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(image_cache.os, "fsync", full)
        with pytest.raises(DataError, match=r"could not be written: No space left .* `cache`"):
            read(folder)
        assert list(own_cache.iterdir()) == []


class TestLeftOut:
    def test_counted_and_named(self, tmp_path):
        files = {
            **FILES,
            "x/a.jpg": jpeg(1),
            "set/1_old.jpg": b"",
            "set/note.jpg": b"a text",
            "readme.txt": b"",
        }
        assert read(write_folder(tmp_path / "folder", files)).left_out == {
            "old": {"count": 1, "names": ["set/1_old.jpg"]},
            "same name as another": {"count": 1, "names": ["x/a.jpg"]},
            "unreadable": {"count": 1, "names": ["note.jpg (not an image)"]},
        }

    def test_only_the_first_few_are_named(self, tmp_path):
        files = {**FILES, **{f"{at:02}_old.jpg": b"" for at in range(15)}}
        old = read(write_folder(tmp_path / "folder", files)).left_out["old"]
        assert old == {"count": 15, "names": [f"{at:02}_old.jpg" for at in range(10)]}

    def test_all_unreadable(self, tmp_path, own_cache):
        path = write_folder(tmp_path / "folder", {"a.jpg": b"text", "b.jpg": b"text"})
        with pytest.raises(
            DataError,
            match=r"folder' holds 2 files named like images, but none can be read; "
            r"the first: a.jpg \(not an image\)\.",
        ):
            read(path)
        assert list(own_cache.iterdir()) == []

    def test_no_images(self, tmp_path):
        path = write_folder(tmp_path / "folder", {"a.txt": b"text", "1_old.jpg": b""})
        with pytest.raises(
            DataError,
            match="folder' must hold pictures, but it holds no such file; 1 left out: old, "
            "for example '1_old.jpg'",
        ):
            read(path)

    def test_empty_folder(self, tmp_path):
        (tmp_path / "empty").mkdir()
        with pytest.raises(DataError, match=r"empty' must hold pictures, but it holds no such fi"):
            read(tmp_path / "empty")


def test_equal_pixels_are_found(tmp_path):
    files = {"a.jpg": jpeg(1), "b.jpg": jpeg(2), "c.jpg": jpeg(1), "d.jpg": jpeg(1)}
    path = write_folder(tmp_path / "folder", files)
    assert read(path).first_equal == {2: 0, 3: 0}
    assert read(path).first_equal == {2: 0, 3: 0}


def test_progress_runs_to_the_end(written):
    calls = []
    read(written(FILES), progress=lambda done, total: calls.append((done, total)))
    done, totals = zip(*calls, strict=True)
    assert list(done) == sorted(done)
    assert set(totals) == {done[-1]}


@pytest.mark.parametrize(
    ("size", "rule"), [(0, "at least 1"), (1025, "at most 1024"), (2.5, "a whole number")]
)
def test_absurd_size(size, rule, folder):
    with pytest.raises((ValueError, TypeError), match=f"`size` must be {rule}.*but got {size}"):
        read(folder, size=size)


def test_absurdly_large_file_is_refused_if_it_is_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr(images_module, "_MAX_IMAGE_BYTES", 1000)
    files = {**FILES, "readme.txt": bytes(2000)}
    assert len(read(write_folder(tmp_path / "folder", files)).inputs) == 4
    files = {**files, "large.jpg": bytes(2000)}
    with pytest.raises(
        DataError, match=r"'large.jpg' of 2,000 bytes, more than the limit of 1,000"
    ):
        read(write_folder(tmp_path / "folder", files))


def test_name_that_is_no_text_can_be_printed(tmp_path):
    path = write_tar(
        tmp_path / "a.tar", {**FILES, "x\udcff_old.jpg": b"", "\udcff.jpg": b"x"}, "w:"
    )
    left_out = read(path).left_out
    assert left_out["old"]["names"] == ["x\\udcff_old.jpg"]
    assert left_out["unreadable"]["names"] == ["\\udcff.jpg (not an image)"]


def test_index_is_json_that_others_can_read(folder):
    text = image_cache.Path(read(folder).cache).with_suffix(".json").read_text()
    assert json.loads(text)["index"]["names"] == ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]
