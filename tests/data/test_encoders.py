"""Encoders: what they make, what is kept of it, and what is said of those that fail."""

import threading

import numpy as np
import pytest
import torch

from data import own_encoders
from data.files import jpeg, write_folder
from simloss._imports import UsersName
from simloss.data import DataError, Tfidf, encoded_texts, image_folder
from simloss.data.encoders import encode
from simloss.data.encoders.frozen import frozen_encoder

TEXTS = [f"a {'good' if i % 3 else 'bad'} text number {i}" for i in range(600)]


def own(name):
    return UsersName(f"data.own_encoders:{name}")


@pytest.fixture(autouse=True)
def calls():
    own_encoders.CALLS.clear()
    return own_encoders.CALLS


class TestTexts:
    def test_features_are_those_of_the_function_in_order(self):
        found = encoded_texts(TEXTS, own("lengths"))
        assert found.dtype == torch.float32
        assert torch.equal(found, torch.from_numpy(own_encoders.lengths(TEXTS)).float())

    def test_a_second_start_calls_nothing(self, calls):
        first = encoded_texts(TEXTS, own("lengths"))
        assert sum(calls) == len(TEXTS)
        calls.clear()
        assert torch.equal(encoded_texts(TEXTS, own("lengths")), first)
        assert calls == []

    def test_other_texts_and_other_encoders_are_encoded_anew(self, calls, monkeypatch):
        encoded_texts(TEXTS, own("lengths"))
        encoded_texts([*TEXTS[:-1], "another"], own("lengths"))
        assert sum(calls) == 2 * len(TEXTS)
        monkeypatch.setattr("simloss.data.encoders.frozen._source_digest", lambda name: "edited")
        encoded_texts(TEXTS, own("lengths"))
        assert sum(calls) == 3 * len(TEXTS)

    def test_it_goes_on_where_it_was_interrupted(self, calls, monkeypatch):
        plain = own_encoders.lengths

        def interrupted(texts):
            if sum(calls) >= 512:
                raise KeyboardInterrupt
            return plain(texts)

        monkeypatch.setattr("simloss.data.encoders.frozen._source_digest", lambda name: "the same")
        monkeypatch.setattr(own_encoders, "lengths", interrupted)
        with pytest.raises(KeyboardInterrupt):
            encoded_texts(TEXTS, own("lengths"))
        monkeypatch.setattr(own_encoders, "lengths", plain)
        calls.clear()
        found = encoded_texts(TEXTS, own("lengths"))
        assert sum(calls) == len(TEXTS) - 512
        assert torch.equal(found, torch.from_numpy(plain(TEXTS)).float())

    @pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a zip", None])
    def test_a_damaged_piece_is_made_again(self, own_cache, calls, damage):
        first = encoded_texts(TEXTS, own("lengths"))
        piece = sorted(own_cache.rglob("*.npz"))[1]
        piece.write_bytes(piece.read_bytes()[:-30] if damage is None else damage)
        calls.clear()
        assert torch.equal(encoded_texts(TEXTS, own("lengths")), first)
        assert calls == [4, 32, 220]

    @pytest.mark.parametrize(
        "change",
        [
            {"features": np.ones(256)},
            {"features": np.full((256, 1), np.nan)},
            {"features": np.ones((256, 1, 1))},
            {"notes": np.frombuffer(b'{"rows": 5}', np.uint8)},
        ],
    )
    def test_a_piece_with_other_values_is_made_again(self, own_cache, calls, change):
        first = encoded_texts(TEXTS, own("lengths"))
        piece = sorted(own_cache.rglob("*.npz"))[1]
        with np.load(piece) as file:
            whole = dict(file)
        np.savez(piece, **(whole | change))
        calls.clear()
        assert torch.equal(encoded_texts(TEXTS, own("lengths")), first)
        assert sum(calls) == 256

    def test_a_link_in_the_cache_is_not_followed(self, own_cache, tmp_path, calls):
        encoded_texts(TEXTS, own("lengths"))
        piece = sorted(own_cache.rglob("*.npz"))[0]
        elsewhere = tmp_path / "elsewhere.npz"
        piece.rename(elsewhere)
        piece.symlink_to(elsewhere)
        calls.clear()
        encoded_texts(TEXTS, own("lengths"))
        assert sum(calls) == 256

    def test_two_at_once(self, own_cache):
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(encoded_texts(TEXTS, own("lengths"))))
            for _ in range(4)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert all(torch.equal(each, found[0]) for each in found)
        assert len(list(own_cache.rglob("*.npz"))) == 3

    def test_a_cache_that_cannot_be_written(self, tmp_path, capsys):
        (tmp_path / "file").write_text("")
        found = encoded_texts(TEXTS, own("lengths"), cache=tmp_path / "file")
        assert len(found) == len(TEXTS)
        assert capsys.readouterr().err.count("Features are not kept") == 1

    def test_how_long_is_said_before_and_in_between(self, monkeypatch):
        lines = []
        monkeypatch.setattr(encode, "_TELL_AFTER_SECONDS", -1)
        encoded_texts(TEXTS, own("lengths"), tell=lines.append)
        assert lines[0] == "Encoding 600 texts by data.own_encoders:lengths takes about 1 s"
        assert lines[1] == "  256 of 600 texts encoded, 1 s left"

    def test_how_many_images_there_are_is_an_estimate(self):
        lines = []
        work = encode.Work(frozen_encoder(own("lengths"), "images"), "images", lines.append)
        work(["a"] * 50, 0, 2063)
        assert lines == ["Encoding about 2,100 images by data.own_encoders:lengths takes about 1 s"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("raises", r"failed on texts 1 to 4: ConnectionError: the service answers 503\.$"),
        ("not_a_number", r"returned NaN or infinity for number 3 of the texts \('a good text num"),
        (
            "one_too_few",
            r"one row of numbers for each of the 4 texts .* returned shape \(3, 3\)\.$",
        ),
        ("words", r"must return an array of numbers, but returned list\.$"),
        ("flat", r"returned shape \(4,\)\.$"),
    ],
)
def test_an_encoder_that_fails_is_one_sentence(name, sentence):
    with pytest.raises(DataError, match=sentence) as error:
        encoded_texts(TEXTS, own(name))
    assert str(error.value).startswith(f"`encoder` 'data.own_encoders:{name}' ")
    assert "\n" not in str(error.value)


def test_what_is_no_encoder():
    with pytest.raises(ValueError, match="must be tfidf, hf:NAME-OR-FOLDER or module:callable"):
        encoded_texts(TEXTS, "minilm")
    with pytest.raises(TypeError, match="must be a function from a list to an array, but it is i"):
        encoded_texts(TEXTS, own("NOT_A_FUNCTION"))
    with pytest.raises(DataError, match="must name a folder or a model, but there is no '/no/such"):
        encoded_texts(TEXTS, UsersName("hf:/no/such/folder"))
    with pytest.raises(ValueError, match="must end in @mean or @cls, if in any @"):
        encoded_texts(TEXTS, UsersName("hf:bert@max"))


def test_a_name_out_of_a_file_imports_nothing():
    with pytest.raises(ValueError, match="`encoder` 'data.own_encoders:lengths' comes from a file"):
        encoded_texts(TEXTS, "data.own_encoders:lengths")


class TestImages:
    def files(self):
        files = {f"{'red' if i % 2 else 'blue'}/{i}.jpg": jpeg(i, (8 + i, 20)) for i in range(12)}
        return files | {"red/copy.jpg": files["red/1.jpg"], "blue/big.jpg": jpeg(1, (900, 300))}

    def test_each_comes_at_its_own_size_up_to_a_bound(self, written):
        found = image_folder(written(self.files()), encoder=own("colours"))
        sizes = {tuple(row) for row in found.inputs[:, 3:].int().tolist()}
        assert sizes == {(20, 8 + i) for i in range(12)} | {(171, 512)}
        assert found.input_shape == (5,)

    def test_the_second_start_decodes_nothing(self, tmp_path, calls, monkeypatch):
        folder = write_folder(tmp_path / "images", self.files())
        first = image_folder(folder, encoder=own("colours"))
        calls.clear()
        monkeypatch.setattr("simloss.data.decode.pictures", None)
        second = image_folder(folder, encoder=own("colours"))
        assert torch.equal(first.inputs, second.inputs)
        assert calls == []

    def test_equal_images_are_one_group(self, tmp_path):
        found = image_folder(
            write_folder(tmp_path / "images", self.files()), encoder=own("colours")
        )
        assert len(found.groups.unique()) == len(found) - 1

    def test_an_unreadable_one_is_named_and_can_be_left_out(self, tmp_path):
        folder = write_folder(tmp_path / "images", {**self.files(), "red/no.jpg": b"no picture"})
        for _ in range(2):  # also from the cache
            with pytest.raises(DataError, match=r"cannot be read as an image: red/no.jpg"):
                image_folder(folder, encoder=own("colours"))
            found = image_folder(folder, encoder=own("colours"), skip_unreadable=True)
            assert len(found) == 14
            assert found.notes["left_out"]["unreadable"]["count"] == 1

    def test_tfidf_is_for_texts(self, tmp_path):
        folder = write_folder(tmp_path / "images", self.files())
        with pytest.raises(
            ValueError, match="`encoder` of images must be hf:NAME-OR-FOLDER or mod"
        ):
            image_folder(folder, encoder=UsersName("tfidf"))

    def test_without_an_encoder_small_images_are_not_enlarged(self, tmp_path):
        small = {f"{c}/{i}.jpg": jpeg(i, (28, 28)) for c in "ab" for i in range(3)}
        assert image_folder(write_folder(tmp_path / "small", small)).input_shape == (3, 28, 28)
        large = {f"{c}/{i}.jpg": jpeg(i, (90, 70)) for c in "ab" for i in range(3)}
        assert image_folder(write_folder(tmp_path / "large", large)).input_shape == (3, 64, 64)


class TestTfidf:
    texts = ("red apple pie", "green apple tart", "red plum pie", "green plum tart", "blue sky")

    def test_it_is_tf_idf_and_a_truncated_svd(self):
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        fitted = Tfidf.fit(self.texts, torch.arange(4), size=3)
        weights = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
        expected = TruncatedSVD(3, random_state=0).fit_transform(
            weights.fit_transform(self.texts[:4])
        )
        np.testing.assert_allclose(fitted(self.texts[:4]), expected, atol=1e-6)

    def test_only_the_training_part_is_seen(self):
        fitted = Tfidf.fit(self.texts, torch.arange(4), size=3)
        others = (*self.texts[:4], "completely other words words words")
        again = Tfidf.fit(others, torch.arange(4), size=3)
        assert fitted.terms == again.terms
        assert torch.equal(fitted.directions, again.directions)
        assert "sky" not in fitted.terms
        assert fitted(["blue sky"]).eq(0).all()

    def test_fewer_terms_than_numbers(self):
        fitted = Tfidf.fit(self.texts, torch.arange(4), size=50)
        assert fitted(self.texts).shape == (5, 50)
        assert fitted(self.texts)[:, 20:].eq(0).all()

    def test_texts_with_nothing_in_common(self):
        with pytest.raises(DataError, match="no word stands in two of them"):
            Tfidf.fit(["one", "two"], torch.arange(2))

    def test_damage(self):
        fitted = Tfidf.fit(self.texts, torch.arange(4), size=3)
        for terms, idf, directions in (
            (fitted.terms[1:], fitted.idf, fitted.directions),
            (fitted.terms, fitted.idf[1:], fitted.directions),
            (fitted.terms, fitted.idf, fitted.directions[1:]),
            ((fitted.terms[1], *fitted.terms[1:]), fitted.idf, fitted.directions),
            (fitted.terms, fitted.idf.double(), fitted.directions),
        ):
            with pytest.raises(ValueError, match="a number and a direction for each term"):
                Tfidf.checked(terms, idf, directions)
