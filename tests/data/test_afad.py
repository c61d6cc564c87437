import pytest
import torch

from data.files import jpeg, write_folder, write_tar
from simloss.data import DataError, MissingDataError, afad

FILES = {
    f"AFAD-Full/{age}/{gender}/{seed}-0.jpg": jpeg(seed * 1000 + age)
    for age in (15, 100, 9, 20)
    for gender in (111, 112)
    for seed in (1, 2)
}


def write_parts(folder, files, count=4, name="AFAD-Full.tar.xz"):
    """What `split --bytes` makes of an archive."""
    whole = write_tar(folder / "whole", files, "w:xz").read_bytes()
    (folder / "whole").unlink()
    step = -(-len(whole) // count)
    for number in range(count):
        part = folder / f"{name}a{'abcdefg'[number]}"
        part.write_bytes(whole[number * step : (number + 1) * step])
    return folder


def ages(dataset):
    return sorted(int(dataset.class_names[label]) for label in dataset.labels)


def test_ages_come_from_the_folders_in_numeric_order(written):
    faces = afad(written(FILES))
    assert faces.class_names == ("9", "15", "20", "100")
    assert ages(faces) == [9] * 4 + [15] * 4 + [20] * 4 + [100] * 4
    assert faces.inputs.shape == (16, 3, 60, 60)


@pytest.mark.parametrize("place", ["", "AFAD-Full.tar.xzaa"])
def test_parts_are_read_one_after_the_other(place, tmp_path):
    (tmp_path / "parts").mkdir()
    folder = write_parts(tmp_path / "parts", FILES)
    (folder / "README.txt").write_text("cat the parts, then unpack them")
    (folder / "restore.sh").write_text("cat AFAD-Full.tar.xz* > AFAD-Full.tar.xz")
    parts = afad(folder / place)
    unpacked = afad(write_folder(tmp_path / "folder", FILES))
    assert torch.equal(parts.inputs, unpacked.inputs)
    assert torch.equal(parts.labels, unpacked.labels)


def test_joined_archive_is_not_taken_for_a_part(tmp_path):
    path = write_tar(tmp_path / "AFAD-Full.tar.xz", FILES, "w:xz")
    assert len(afad(path)) == len(FILES)
    with pytest.raises(DataError, match="must hold images in folders <age>/<gender>"):
        afad(tmp_path)


def test_missing_part_in_the_middle_is_named(tmp_path):
    (write_parts(tmp_path, FILES) / "AFAD-Full.tar.xzac").unlink()
    for path in (tmp_path, tmp_path / "AFAD-Full.tar.xzaa"):
        with pytest.raises(DataError, match=r"every part .* 'AFAD-Full.tar.xzac' is missing\."):
            afad(path)


def test_missing_first_part_is_named(tmp_path):
    (write_parts(tmp_path, FILES) / "AFAD-Full.tar.xzaa").unlink()
    with pytest.raises(DataError, match="'AFAD-Full.tar.xzaa' is missing"):
        afad(tmp_path)


def test_missing_last_part_is_noticed(tmp_path):
    (write_parts(tmp_path, FILES) / "AFAD-Full.tar.xzad").unlink()
    with pytest.raises(DataError, match="is damaged or incomplete"):
        afad(tmp_path)


def test_parts_of_two_archives_are_told_apart(tmp_path):
    write_parts(tmp_path, FILES)
    lite = {"AFAD-Lite/18/111/1.jpg": jpeg(0)}
    write_parts(tmp_path, lite, 2, "AFAD-Lite.tar.xz")
    with pytest.raises(DataError, match=r"'AFAD-Full.tar.xzaa' and 'AFAD-Lite.tar.xzaa'; pass"):
        afad(tmp_path)
    assert len(afad(tmp_path / "AFAD-Lite.tar.xzaa")) == 1
    assert len(afad(tmp_path / "AFAD-Full.tar.xzaa")) == 16


def test_other_number_of_classes_than_the_paper_is_noted(tmp_path):
    notes = afad(write_folder(tmp_path / "some", FILES)).notes
    assert notes["classes"] == "4 ages were found; the paper has 61"
    assert notes["missing_ages"].startswith(
        "no image of age 10, 11, 12, 13, 14, 16, 17, 18, 19, 21"
    )


def test_the_papers_number_of_classes_needs_no_note(tmp_path):
    files = {f"{age}/111/0.jpg": jpeg(age) for age in range(15, 76)}
    faces = afad(write_folder(tmp_path / "all", files), size=8)
    assert faces.num_classes == 61
    assert not {"classes", "missing_ages"} & set(faces.notes)


def test_files_elsewhere_are_left_out_and_counted(tmp_path):
    files = {**FILES, "AFAD-Full/logo.jpg": jpeg(0), "AFAD-Full/x/111/1.jpg": jpeg(0)}
    notes = afad(write_tar(tmp_path / "a.tar", files, "w:")).notes
    assert notes["left_out"] == {
        "not in a folder <age>/<gender>": {
            "count": 2,
            "names": ["AFAD-Full/logo.jpg", "AFAD-Full/x/111/1.jpg"],
        }
    }


def test_options_matter(tmp_path, own_cache):
    calls = []
    path = write_tar(tmp_path / "a.tar", FILES, "w:")
    faces = afad(path, size=9, cache=False, progress=lambda *call: calls.append(call))
    assert faces.inputs.shape == (16, 3, 9, 9)
    assert not own_cache.exists()
    assert calls[-1] == (path.stat().st_size,) * 2


def test_missing_path_says_where_to_get_it():
    with pytest.raises(
        MissingDataError, match=r"'nowhere': fetch the parts .*github.com/afad-dataset/tarball"
    ):
        afad("nowhere")
