from importlib import import_module

import numpy as np
import pytest
import torch

from data.files import WRITERS, write_folder, write_tar
from simloss.data import PAPER_DROPS, DataError, MissingDataError, cifar100, split

FINE = ("apple", "aquarium_fish", "baby", "keyboard", "pickup_truck", "sweet_pepper", "wolf")
COARSE = ("devices", "fish", "fruit_and_vegetables", "large_carnivores", "people", "vehicles")
COARSE_OF = (2, 1, 4, 0, 5, 2, 3)
TRAIN, TEST = 20, 4  # images per class


def records(each, seed):
    """Labels and pixels of `each` images of every class, mixed."""
    generator = np.random.default_rng(seed)
    fine = generator.permutation(np.repeat(np.arange(len(FINE)), each)).astype(np.uint8)
    pixels = generator.integers(0, 256, (len(fine), 3072), dtype=np.uint8)
    coarse = np.array(COARSE_OF, dtype=np.uint8)[fine]
    return np.concatenate([coarse[:, None], fine[:, None], pixels], axis=1)


def files(folder="cifar-100-binary/"):
    return {
        folder + "train.bin": records(TRAIN, 0).tobytes(),
        folder + "test.bin": records(TEST, 1).tobytes(),
        folder + "fine_label_names.txt": ("\n".join(FINE) + "\n\n").encode(),
        folder + "coarse_label_names.txt": ("\n".join(COARSE) + "\n\n").encode(),
    }


@pytest.fixture
def archive(tmp_path):
    return write_tar(tmp_path / "cifar-100-binary.tar.gz", files())


def test_images_and_labels_are_those_of_the_files(written):
    path = written(files())
    data = cifar100(path, drop=())
    both = np.concatenate([records(TRAIN, 0), records(TEST, 1)])
    assert data.inputs.dtype == torch.uint8
    assert np.array_equal(data.inputs.numpy(), both[:, 2:].reshape(-1, 3, 32, 32))
    assert np.array_equal(data.labels.numpy(), both[:, 1])
    assert data.class_names == FINE
    assert data.superclasses == tuple(COARSE[at] for at in COARSE_OF)


def test_paper_drops_four_classes_by_name(archive):
    data = cifar100(archive)
    assert set(PAPER_DROPS) == {"aquarium_fish", "keyboard", "pickup_truck", "sweet_pepper"}
    assert data.class_names == ("apple", "baby", "wolf")
    assert data.superclasses == ("fruit_and_vegetables", "people", "large_carnivores")
    assert data.notes["dropped_classes"] == sorted(PAPER_DROPS)
    both = np.concatenate([records(TRAIN, 0), records(TEST, 1)])
    kept = both[np.isin(both[:, 1], [0, 2, 6])]
    names = [FINE[at] for at in kept[:, 1]]
    assert [data.class_names[label] for label in data.labels] == names
    assert np.array_equal(data.inputs.numpy().reshape(-1, 3072), kept[:, 2:])


@pytest.mark.parametrize("drop", [PAPER_DROPS, ()])
def test_parts_have_the_papers_shares_of_every_class(drop, archive):
    data = cifar100(archive, drop=drop)
    for part, each in (("train", 18), ("validation", 2), ("test", 4)):
        counts = data.labels[data.parts[part]].bincount(minlength=data.num_classes)
        assert counts.tolist() == [each] * data.num_classes


def test_test_part_is_the_official_one_and_no_image_is_in_two_parts(archive):
    data = cifar100(archive, drop=())
    train, validation, test = (set(data.parts[name].tolist()) for name in data.parts)
    assert test == set(range(TRAIN * len(FINE), (TRAIN + TEST) * len(FINE)))
    assert len(train) + len(validation) + len(test) == len(data)
    assert train | validation | test == set(range(len(data)))


def test_seed_draws_the_validation_part_and_nothing_else_does(archive):
    torch.manual_seed(1)
    first = cifar100(archive, seed=3).parts
    torch.manual_seed(2)
    again = cifar100(archive, seed=3).parts
    other = cifar100(archive, seed=4).parts
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["validation"], other["validation"])
    assert torch.equal(first["test"], other["test"])


def test_validation_matters(archive):
    assert len(cifar100(archive, drop=(), validation=0.5).parts["validation"]) == 10 * len(FINE)
    with pytest.raises(DataError, match="The validation part of CIFAR-100 is empty"):
        cifar100(archive, validation=0.0)
    with pytest.raises(ValueError, match=r"`validation` must be in \[0, 1\), but got 1.0"):
        cifar100(archive, validation=1.0)


def test_duplicates_across_the_parts_are_reported(tmp_path):
    train, test = records(TRAIN, 0), records(TEST, 1)
    test[2, 2:] = test[5, 2:] = train[7, 2:]
    train[9, 2:] = train[8, 2:]
    binary = {**files(""), "train.bin": train.tobytes(), "test.bin": test.tobytes()}
    data = cifar100(write_folder(tmp_path, binary), drop=())
    assert data.notes["duplicates"] == 3
    assert data.notes["test_images_also_in_training"] == 2
    first_test = TRAIN * len(FINE)
    assert data.groups[first_test + 2] == data.groups[first_test + 5] == data.groups[7] == 7


@pytest.mark.parametrize("form", ["files", "folder in it", "archive in it"])
def test_folder_that_holds_them_in_any_way(form, tmp_path):
    if form == "archive in it":
        write_tar(tmp_path / "cifar-100-binary.tar.gz", files())
    else:
        write_folder(tmp_path, files("" if form == "files" else "cifar-100-binary/"))
    assert len(cifar100(tmp_path)) == 3 * (TRAIN + TEST)


def test_without_a_path_the_cache_folder_is_searched(own_cache):
    own_cache.mkdir()
    write_tar(own_cache / "cifar-100-binary.tar.gz", files())
    assert cifar100().num_classes == 3


def test_its_parts_are_not_drawn_again(archive):
    with pytest.raises(DataError, match="parts of CIFAR-100 are fixed by its source"):
        split(cifar100(archive))


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "nearest"), [("aquarium fish", "aquarium_fish"), ("Wolf", "wolf"), ("", "")]
    )
    def test_unknown_class(self, name, nearest, archive):
        with pytest.raises(DataError, match=f"got '{name}'; the closest is '{nearest}"):
            cifar100(archive, drop=[name])

    def test_one_word_for_drop(self, archive):
        with pytest.raises(TypeError, match="`drop` must be a list of class names, but got 'wolf'"):
            cifar100(archive, drop="wolf")

    def test_too_many_dropped(self, archive):
        with pytest.raises(DataError, match="leave at least two classes, but it leaves 1"):
            cifar100(archive, drop=FINE[1:])

    @pytest.mark.parametrize("path", [None, "nowhere", "nowhere/cifar-100-binary.tar.gz"])
    def test_missing(self, path):
        with pytest.raises(
            MissingDataError,
            match=r"CIFAR-100 was not found at '.*': download "
            r"https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz and pass its path, or pass "
            r"download=True \(simloss reproduce cifar100 --download\)\.",
        ):
            cifar100(path)

    def test_wrong_folder(self, tmp_path):
        write_folder(tmp_path / "wrong", {"test.bin": b""})
        with pytest.raises(
            DataError,
            match=r"wrong' must hold the files of cifar-100-binary, but 'train.bin', "
            r"'fine_label_names.txt', 'coarse_label_names.txt' are missing\.",
        ):
            cifar100(tmp_path / "wrong")

    @pytest.mark.parametrize("kind", ["tar.gz", "tar"])
    def test_cut_off_archive(self, kind, tmp_path):
        path = WRITERS[kind](tmp_path / "cut", files())
        path.write_bytes(path.read_bytes()[:100_000])
        with pytest.raises(DataError, match="cut' is damaged or incomplete"):
            cifar100(path)

    @pytest.mark.parametrize("length", [0, 1, 3073, 3075])
    def test_cut_off_file(self, length, tmp_path):
        binary = {**files(""), "test.bin": records(TEST, 1).tobytes()[:length]}
        with pytest.raises(DataError, match=r"'test.bin' .* records of 3,074 bytes, but it has"):
            cifar100(write_folder(tmp_path, binary))

    def test_label_without_a_name(self, tmp_path):
        binary = {**files(""), "fine_label_names.txt": "\n".join(FINE[:-1]).encode()}
        with pytest.raises(DataError, match="name for every fine label, but there are 6 names"):
            cifar100(write_folder(tmp_path, binary))

    def test_class_with_two_superclasses(self, tmp_path):
        train = records(TRAIN, 0)
        train[np.argmax(train[:, 1] == 6), 0] = 4
        with pytest.raises(
            DataError, match="'wolf' must have one superclass, .* 'large_carnivores' and 'people'"
        ):
            cifar100(write_folder(tmp_path, {**files(""), "train.bin": train.tobytes()}))


class TestDownload:
    @pytest.fixture
    def fetched(self, monkeypatch):
        """Stands in for the network: records what was asked for, and writes an archive."""
        calls = []

        def fetch(url, path, *, md5, progress):
            calls.append((url, path, md5, progress))
            path.parent.mkdir(parents=True, exist_ok=True)
            return write_tar(path, files())

        monkeypatch.setattr(import_module("simloss.data.cifar100"), "download_file", fetch)
        return calls

    @pytest.mark.parametrize("name", ["", "cifar-100-binary.tar.gz", "mine.tar.gz"])
    def test_fetched_once(self, name, fetched, tmp_path):
        path = tmp_path / "data" / name
        first = cifar100(path, download=True, progress=print)
        second = cifar100(path, download=True)
        assert torch.equal(first.inputs, second.inputs)
        assert fetched == [
            (
                "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
                tmp_path / "data" / (name or "cifar-100-binary.tar.gz"),
                "03b5dce01913d631647c71ecec9e9cb8",
                print,
            )
        ]

    def test_to_the_cache_folder(self, fetched, own_cache):
        cifar100(download=True)
        assert fetched[0][1] == own_cache / "cifar-100-binary.tar.gz"

    def test_not_unless_asked(self, fetched, tmp_path):
        with pytest.raises(MissingDataError):
            cifar100(tmp_path / "x")
        assert fetched == []
