from pathlib import Path

import pytest
import torch

from data.files import jpeg, write_folder, write_tar
from simloss.data import DataError, MissingDataError, split, utkface

SHARED = Path("/work/shared/data/UTKFace.tar.gz")

FILES = {
    "UTKFace/1_0_0_20161219140623097.jpg.chip.jpg": jpeg(1),
    "UTKFace/90_1_3_20170110182847883.jpg.chip.jpg": jpeg(2),
    "UTKFace/9_1_2_20161219204347420.jpg.chip.jpg": jpeg(3),
    "UTKFace/10_1_2_20161219204347420.jpg.chip.jpg": jpeg(3),  # the same picture, another age
    "UTKFace/9_1_2_20161219204347421.jpg.chip.jpg": jpeg(3),  # the same picture and age
    "UTKFace/39_1_20170116174525125.jpg.chip.jpg": jpeg(4),  # official: no race
    "UTKFace/55_0_0_20170116232725357jpg.chip.jpg": jpeg(5),  # official: a dot missing
    "UTKFace/24_0_1_20170116220224657 .jpg.chip.jpg": jpeg(6),  # official: a blank too many
    "UTKFace/0_0_0_20170110182847883.jpg.chip.jpg": jpeg(7),
    "UTKFace/91_0_0_20170110182847883.jpg.chip.jpg": jpeg(8),
    "UTKFace/116_0_0_20170110182847883.jpg.chip.jpg": jpeg(9),
    "UTKFace/face.jpg": jpeg(10),
    "UTKFace/_0_0_20170110182847883.jpg": jpeg(11),
    "UTKFace/50_0_0_20170110182847883.jpg.chip.jpg": b"not a picture",
    "UTKFace/._1_0_0_20161219140623097.jpg.chip.jpg": b"what a Mac leaves behind",
    "UTKFace/readme.txt": b"hello",
}
KEPT = 8


def test_ages_come_from_the_names(written):
    faces = utkface(written(FILES))
    assert faces.class_names == tuple(str(age) for age in range(1, 91))
    ages = [int(faces.class_names[label]) for label in faces.labels]
    assert ages == [10, 1, 24, 39, 55, 90, 9, 9]  # in the order of the names
    assert faces.inputs.shape == (KEPT, 3, 60, 60)
    assert faces.inputs.dtype == torch.uint8
    assert faces.labels.dtype == torch.long


def test_what_is_left_out_is_reported(tmp_path):
    notes = utkface(write_tar(tmp_path / "UTKFace.tar.gz", FILES)).notes
    assert {reason: entry["count"] for reason, entry in notes["left_out"].items()} == {
        "age not from 1 to 90": 3,
        "no age in the name": 2,
        "unreadable": 1,
    }
    assert notes["left_out"]["no age in the name"]["names"][0] == "UTKFace/face.jpg"
    assert notes["incomplete_names"] == {
        "count": 1,
        "names": ["39_1_20170116174525125.jpg.chip.jpg"],
    }
    assert notes["images"] == KEPT
    assert notes["unit"] == "years"


def test_duplicates_are_counted_and_grouped(tmp_path):
    faces = utkface(write_tar(tmp_path / "UTKFace.tar.gz", FILES))
    assert faces.notes["duplicates"] == 2
    assert faces.notes["duplicates_of_another_age"] == 2  # both of the first, which is 10
    assert faces.groups.tolist() == [0, 1, 2, 3, 4, 5, 0, 0]


def test_duplicates_can_be_kept_on_one_side(tmp_path):
    faces = utkface(write_tar(tmp_path / "UTKFace.tar.gz", FILES))
    for seed in range(20):
        parts = split(faces, seed=seed, shares=(0.4, 0.3, 0.3), keep_groups_together=True)
        sides = [set(faces.groups[indices].tolist()) for indices in parts.values()]
        assert sum(map(len, sides)) == len(set.union(*sides))


@pytest.mark.parametrize("nested", ["", "UTKFace/"])
def test_folder_itself_or_the_one_around_it(nested, tmp_path):
    files = {name.replace("UTKFace/", nested): data for name, data in FILES.items()}
    assert len(utkface(write_folder(tmp_path / "folder", files))) == KEPT


def test_same_order_from_folder_and_archive(tmp_path):
    backwards = dict(reversed(FILES.items()))
    one = utkface(write_folder(tmp_path / "folder", FILES))
    other = utkface(write_tar(tmp_path / "UTKFace.tar.gz", backwards))
    assert torch.equal(one.inputs, other.inputs)
    assert torch.equal(one.labels, other.labels)


def test_copy_of_a_file_in_another_folder_counts_once(tmp_path):
    copies = {name.replace("UTKFace", "crop_part1"): data for name, data in FILES.items()}
    faces = utkface(write_folder(tmp_path / "folder", {**FILES, **copies}))
    assert len(faces) == KEPT
    assert faces.notes["left_out"]["same name as another"]["count"] == KEPT + 1


def test_size_matters(tmp_path):
    path = write_tar(tmp_path / "UTKFace.tar.gz", FILES)
    assert utkface(path, size=7).inputs.shape == (KEPT, 3, 7, 7)


def test_cache_matters(tmp_path, own_cache):
    path = write_tar(tmp_path / "UTKFace.tar.gz", FILES)
    assert utkface(path, cache=False).notes["cache"] == "not cached, as requested"
    assert not own_cache.exists()


def test_progress_matters(tmp_path):
    calls = []
    path = write_tar(tmp_path / "UTKFace.tar.gz", FILES)
    utkface(path, progress=lambda *call: calls.append(call))
    assert calls[-1] == (path.stat().st_size,) * 2


@pytest.mark.parametrize("path", ["nowhere/UTKFace.tar.gz", None])
def test_missing_path_says_where_to_ask(path):
    with pytest.raises(
        MissingDataError, match=r"ask for UTKFace at https://susanqq.github.io/UTKFace/ and pass"
    ) as caught:
        utkface(path)
    assert isinstance(caught.value, DataError)
    assert isinstance(caught.value, FileNotFoundError)
    assert str(caught.value).endswith(".")


def test_wrong_folder(tmp_path):
    path = write_folder(tmp_path / "pictures", {"cat.jpg": jpeg(0), "dog.jpg": jpeg(1)})
    with pytest.raises(
        DataError,
        match=r"pictures' must hold images named age_gender_race_date.jpg of ages 1 to 90, but "
        r"it holds no such file; 2 left out: no age in the name, for example 'cat.jpg'\.",
    ):
        utkface(path)


def test_cut_off_archive(tmp_path):
    path = write_tar(tmp_path / "UTKFace.tar.gz", FILES)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DataError, match=r"UTKFace.tar.gz' is damaged or incomplete"):
        utkface(path)


@pytest.mark.skipif(not SHARED.exists(), reason="the real UTKFace is not on this machine")
def test_real_archive():
    faces = utkface(SHARED, size=16)
    assert repr(faces) == "Dataset(UTKFace: 23,621 examples of 3 x 16 x 16, 90 classes)"
    assert faces.notes["left_out"]["age not from 1 to 90"]["count"] == 87
    assert faces.notes["incomplete_names"]["count"] == 3
    assert faces.notes["duplicates"] == 387  # of the 390 in all ages
    assert faces.labels.bincount(minlength=90).min() > 0
