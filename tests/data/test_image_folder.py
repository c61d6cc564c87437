"""Folders of images nobody prepared."""

import shutil
from zlib import crc32

import pytest
import torch

from data.files import jpeg, write_folder, write_zip
from simloss.data import DataError, image_folder, image_table, split
from simloss.data.content import content_of
from simloss.data.image_folder import loose_images
from simloss.experiment.plan.similarities import tree_of


def of_classes(classes, each=3, prefix=""):
    """`each` pictures a class, all different."""
    return {
        f"{prefix}{name}/{i}.jpg": jpeg(crc32(f"{prefix}{name}{i}".encode()))
        for name in classes
        for i in range(each)
    }


def test_a_class_a_folder_in_natural_order(tmp_path):
    folder = write_folder(tmp_path / "ages", of_classes([str(i) for i in range(1, 13)]))
    (folder / "readme.txt").write_text("not an image")
    read = image_folder(folder, size=8)
    assert read.class_names == tuple(str(i) for i in range(1, 13))
    assert read.inputs.shape == (36, 3, 8, 8)
    assert read.inputs.dtype == torch.uint8
    assert read.labels.bincount().tolist() == [3] * 12
    assert read.name == "ages"
    assert read.parts is None
    assert read.superclasses is None


def test_images_of_other_formats_are_named(tmp_path):
    files = of_classes(["cat", "dog"]) | {"cat/moving.gif": b"GIF89a", "dog/phone.HEIC": b"?"}
    read = image_folder(write_folder(tmp_path / "pets", files), size=8)
    assert len(read) == 6
    [(reason, entry)] = read.notes["left_out"].items()
    assert "save them as .png or .jpg" in reason
    assert sorted(entry["names"]) == ["cat/moving.gif", "dog/phone.HEIC"]
    files["__MACOSX/dog/._phone.HEIC"] = b"?"  # what a Mac puts beside it in an archive
    read = image_folder(write_zip(tmp_path / "pets.zip", files), size=8)
    assert read.notes["left_out"][reason]["count"] == 2


def test_what_is_not_answered_for_is_named(tmp_path):
    files = {"1.jpg": jpeg(1), "2.heic": b"?", "._2.heic": b"?", "notes.txt": b"?"}
    found = loose_images(write_zip(tmp_path / "new.zip", files), 8)
    assert found.names == ("1.jpg",)
    [(reason, entry)] = found.left_out.items()
    assert "save them as .png or .jpg" in reason
    assert entry == {"count": 1, "names": ["2.heic"]}


def test_the_same_from_an_archive(tmp_path):
    files = of_classes(["low", "high"], prefix="data/set/")
    read = image_folder(write_zip(tmp_path / "set.zip", files), size=8)
    assert read.class_names == ("low", "high")
    assert len(read) == 6


@pytest.mark.parametrize(
    ("folders", "sizes"),
    [
        (("train", "val", "test"), (10, 10, 10)),
        (("Training", "validation", "testing"), (10, 10, 10)),
        (("train", "test"), (8, 2, 10)),
        (("train", "valid"), (8, 2, 10)),
        (("train",), (6, 2, 2)),
    ],
)
def test_parts_are_folders(tmp_path, folders, sizes):
    files = {}
    for part in folders:
        files |= of_classes(["cat", "dog"], each=5, prefix=f"{part}/")
    read = image_folder(write_folder(tmp_path / "pets", files), size=8)
    assert read.class_names == ("cat", "dog")
    assert tuple(len(read.parts[name]) for name in ("train", "validation", "test")) == sizes
    together = torch.cat(list(read.parts.values()))
    assert together.sort().values.tolist() == list(range(len(read)))
    assert ("parts" in read.notes) == (len(folders) < 3)


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        (("train", "test"), "a fifth of train is used as validation"),
        (("train", "val"), "val is used as test, and a fifth of train as validation"),
        (("train",), "a fifth of train is used as validation, and a fifth of the rest as test"),
    ],
)
def test_what_stands_in_for_a_part_is_said(tmp_path, folders, said):
    files = {}
    for part in folders:
        files |= of_classes(["cat", "dog"], each=5, prefix=f"{part}/")
    read = image_folder(write_folder(tmp_path / "pets", files), size=8)
    assert read.notes["parts"] == said


def test_equal_pictures_stay_in_train_or_leave_it_together(tmp_path):
    files = of_classes(["cat", "dog"], each=10, prefix="train/")
    for i in range(10):
        files[f"train/cat/{i}-again.jpg"] = files[f"train/cat/{i}.jpg"]
    read = image_folder(write_folder(tmp_path / "pets", files), size=8)
    seen = [set(read.groups[indices].tolist()) for indices in read.parts.values()]
    assert all(seen)
    assert sum(map(len, seen)) == len(set.union(*seen)) == 20


def test_nested_folders_are_a_tree(tmp_path):
    files = of_classes(["animal/bird/robin", "animal/bird/crow", "animal/fish/cod", "plant/rose"])
    read = image_folder(write_folder(tmp_path / "life", files), size=8)
    assert read.class_names == ("cod", "crow", "robin", "rose")
    assert read.superclasses == ("animal/fish", "animal/bird", "animal/bird", "plant")
    files = of_classes(["a/left", "a/right", "b/left", "b/right"])
    read = image_folder(write_folder(tmp_path / "hands", files), size=8)
    assert read.class_names == ("a/left", "a/right", "b/left", "b/right")
    assert read.superclasses == ("a", "a", "b", "b")


def test_a_class_beside_folders_of_classes_hangs_on_the_root(tmp_path):
    files = of_classes(["animal/bird", "animal/fish", "rose"])
    read = image_folder(write_folder(tmp_path / "life", files), size=8)
    assert read.class_names == ("bird", "fish", "rose")
    assert read.superclasses == ("animal", "animal", "rose")
    tree = tree_of(read)
    assert tree.class_names == read.class_names
    assert [tree.names[node] for node in tree.superclass(1)] == ["animal", "animal", "rose"]
    files = of_classes(["cat", "dog/photos"])
    assert image_folder(write_folder(tmp_path / "deep", files), size=8).superclasses is None


def test_equal_pictures_stay_together(tmp_path):
    files = of_classes(["cat", "dog"], each=6)
    files["dog/again.jpg"] = files["dog/0.jpg"]
    read = image_folder(write_folder(tmp_path / "pets", files), size=8)
    assert len(read.groups.unique()) == 12
    split(read, keep_groups_together=True)


def test_a_table_of_images(tmp_path):
    folder = write_folder(tmp_path, {f"pictures/{i}.png": jpeg(i) for i in range(6)})
    ages = [30, 4, 5, 30, "", 4]
    rows = "".join(f"pictures/{i}.png,{age}\n" for i, age in enumerate(ages))
    (folder / "faces.csv").write_text("file,age\n" + rows + ",9\n")
    read = image_table(folder / "faces.csv", target="age", image_column="file", size=8)
    assert read.class_names == ("4", "5", "30")
    assert read.labels.tolist() == [2, 0, 1, 2, 0]
    assert read.inputs.shape == (5, 3, 8, 8)
    assert (read.notes["rows_without_class"], read.notes["rows_without_image"]) == (1, 1)
    (folder / "lost.csv").write_text("file,age\nnowhere.png,1\npictures/1.png,2\n")
    with pytest.raises(DataError, match=r"lost.csv' names the file '.*nowhere.png', which cannot"):
        image_table(folder / "lost.csv", target="age", image_column="file")


class TestFilesThatATableNames:
    """Its paths may be those of somebody else: they stay in its folder, past no link."""

    @pytest.fixture
    def read(self, tmp_path):
        write_folder(tmp_path, {f"{i}.png": jpeg(i) for i in range(2)})
        inside = write_folder(tmp_path / "set", {f"a/{i}.png": jpeg(i) for i in range(2)})
        (inside / "link.png").symlink_to("../1.png")
        (inside / "linked").symlink_to("..")

        def of(*names):
            rows = "".join(f"{name},{i}\n" for i, name in enumerate(names))
            (inside / "t.csv").write_text(f"file,age\n{rows}")
            return image_table(inside / "t.csv", target="age", image_column="file", size=8)

        return of

    def test_inside_and_absolute(self, read, tmp_path):
        (tmp_path / "whole.png").symlink_to("1.png")
        assert len(read("a/0.png", "a/../a/./1.png")) == 2
        assert len(read("a/0.png", tmp_path / "1.png", tmp_path / "whole.png")) == 3

    def test_the_way_up_from_a_link_is_the_systems(self, read, tmp_path):
        write_folder(tmp_path / "real", {"sub/0.png": jpeg(0), "2.png": jpeg(0)})
        (tmp_path / "set" / "far").symlink_to("../real/sub")
        found = read(tmp_path / "real" / "2.png", tmp_path / "set" / "far" / ".." / "2.png")
        assert len(found) == 2

    @pytest.mark.parametrize("name", ["../1.png", "a/../../1.png", "../set/a/1.png"])
    def test_outside(self, read, name):
        with pytest.raises(DataError, match=rf"files in its own folder, but names '{name}'; move"):
            read("a/0.png", name)

    @pytest.mark.parametrize("name", ["link.png", "linked/1.png", "linked/set/a/1.png"])
    def test_links(self, read, name):
        remedy = r"which is a link; .*name (it|them) by (its|their) absolute path"
        with pytest.raises(DataError, match=rf"names .*set/link(ed|\.png)', {remedy}"):
            read("a/0.png", name)


class TestMistakes:
    def test_an_unreadable_image_is_named(self, tmp_path):
        files = of_classes(["cat", "dog"]) | {"dog/broken.jpg": b"no picture"}
        folder = write_folder(tmp_path / "pets", files)
        with pytest.raises(DataError, match=r"dog/broken.jpg \(not an image\); repair or remove"):
            image_folder(folder, size=8)
        read = image_folder(folder, size=8, skip_unreadable=True)
        assert len(read) == 6
        assert read.notes["left_out"]["unreadable"]["count"] == 1

    def test_folders(self, tmp_path):
        with pytest.raises(DataError, match="Nothing was found at"):
            image_folder(tmp_path / "gone")
        with pytest.raises(DataError, match="at least two classes, but it holds only 'cat'"):
            image_folder(write_folder(tmp_path / "one", of_classes(["cat"])), size=8)
        loose = write_folder(tmp_path / "loose", {"1.jpg": jpeg(1)})
        with pytest.raises(DataError, match="1 left out: not in the folder of a class"):
            image_folder(loose, size=8)
        empty = tmp_path / "empty"
        empty.mkdir()
        with pytest.raises(DataError, match="must hold folders of images, one per class"):
            image_folder(empty)
        mixed = of_classes(["cat", "dog"], prefix="train/") | {"test/1.jpg": jpeg(2)}
        with pytest.raises(DataError, match="must hold the classes as folders in train, val"):
            image_folder(write_folder(tmp_path / "mixed", mixed), size=8)

    def test_parts(self, tmp_path):
        files = {}
        for part in ("train", "Val", "test", "extra"):
            files |= of_classes(["cat", "dog"], prefix=f"{part}/")
        folder = write_folder(tmp_path / "pets", files)
        with pytest.raises(DataError, match="only train, val and test .* it also holds 'extra'"):
            image_folder(folder, size=8)
        shutil.rmtree(folder / "extra")
        shutil.rmtree(folder / "train")
        with pytest.raises(DataError, match="must hold train if Val and test are its folders"):
            image_folder(folder, size=8)
        shutil.rmtree(folder / "Val")
        assert image_folder(folder, size=8).class_names == ("cat", "dog")
        exam = of_classes(["test", "homework"])
        assert image_folder(write_folder(tmp_path / "exam", exam), size=8).num_classes == 2

    def test_two_spellings(self, tmp_path):
        files = of_classes(["train/Cat", "train/dog", "test/cat", "test/dog"])
        folder = write_folder(tmp_path / "pets", files)
        with pytest.raises(DataError, match="pets' has 'cat' and 'Cat'; use one of them"):
            image_folder(folder, size=8)

    def test_order(self, tmp_path):
        folder = write_folder(tmp_path / "fruit", of_classes(["raw", "ripe", "rotten"]))
        read = image_folder(folder, size=8, class_order=["raw", "ripe", "rotten"])
        assert read.notes["class_order"] == "given"
        with pytest.raises(ValueError, match="all 3 classes, but 'rotten' is missing"):
            image_folder(folder, size=8, class_order=["raw", "ripe"])

    def test_content(self, tmp_path):
        folder = write_folder(tmp_path / "pets", of_classes(["cat", "dog"]))
        content = content_of(folder)
        image_folder(folder, size=8, content=content)
        (folder / "dog" / "0.jpg").unlink()
        with pytest.raises(DataError, match="its content has changed"):
            image_folder(folder, size=8, content=content)
