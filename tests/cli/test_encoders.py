"""`--encoder` from the command line: compared, trained, saved, answered, judged."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cli.failing import fails
from simloss._disk import tensors_of
from simloss.cli import main
from simloss.experiment.plan import sources
from simloss.experiment.plan.config import Config
from simloss.experiment.saved.model import SavedModel

MINE = """
import numpy as np
def texts(some):
    return np.array([[t.count(w) for w in ("good", "bad", "fine")] for t in some], dtype=float)
def images(some):
    return np.array([np.asarray(each).mean((0, 1)) for each in some])
def wider(some):
    return np.ones((len(some), 7))
def fails(some):
    raise RuntimeError("no service")
"""
QUICK = ["--seeds", "2", "--epochs", "2", "--workers", "1", "--loss", "simloss", "--r", "0.5"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMLOSS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.py").write_text(MINE)
    yield
    sys.modules.pop("mine", None)


@pytest.fixture
def reviews():
    """Texts that tell their stars, and a column that does not."""
    words = ("bad bad", "bad fine", "fine fine", "fine good", "good good")
    rows = [(f"this one was {words[i % 5]} and so on {i}", i, 1 + i % 5) for i in range(200)]
    frame = pd.DataFrame(rows, columns=["review", "number", "stars"])
    frame.to_csv("reviews.csv", index=False)
    return frame


@pytest.fixture
def photos(tmp_path):
    for i in range(60):
        label = ("dark", "grey", "light")[i % 3]
        path = tmp_path / "photos" / label / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (20 + i, 20), (40 + 80 * (i % 3) + i % 7,) * 3).save(path)


def test_a_text_needs_no_option_but_the_target(reviews, capsys):
    main(["compare", "reviews.csv", "--target", "stars", "--out", "run", *QUICK])
    shown = capsys.readouterr().out
    assert "reviews: 200 examples, 1 column to predict from (1 of text)" in shown
    assert "text: 'review' encoded by tfidf as 200 numbers, fitted on each training part" in shown
    assert "column 'number' is not used: counts the rows" in shown


def test_a_users_encoder_says_how_long_it_takes_and_is_asked_once(reviews, capsys):
    command = ["compare", "reviews.csv", "--target", "stars", "--encoder", "mine:texts", *QUICK]
    main([*command, "--out", "one"])
    first = capsys.readouterr()
    assert "Encoding 200 texts by mine:texts takes about 1 s" in first.err
    assert "encoded by mine:texts as 3 numbers" in first.out
    sources._dataset.cache_clear()
    main([*command, "--out", "two"])
    assert "Encoding" not in capsys.readouterr().err


def test_what_a_run_folder_names_is_not_imported(reviews):
    main(
        [
            "compare",
            "reviews.csv",
            "--target",
            "stars",
            "--encoder",
            "mine:texts",
            "--out",
            "run",
            *QUICK,
        ]
    )
    config = Config.load(Path("run/config.yaml"))
    sources._dataset.cache_clear()
    with pytest.raises(ValueError, match="`encoder` 'mine:texts' comes from a file"):
        sources.dataset(config.data.source, config.data.path, config.data.options)
    sources._dataset.cache_clear()
    main(["run", "run/config.yaml", "--out", "again"])  # named by the user, so it may be


@pytest.mark.parametrize("encoder", ["tfidf", "mine:texts"])
def test_a_saved_model_answers_for_new_texts(reviews, capsys, encoder):
    main(
        [
            "train",
            "reviews.csv",
            "--target",
            "stars",
            "--encoder",
            encoder,
            "--epochs",
            "40",
            "--loss",
            "cross-entropy",
        ]
    )
    named = ["--encoder", encoder] if ":" in encoder else []
    capsys.readouterr()
    main(["predict", "model.safetensors", "reviews.csv", *named])
    right = capsys.readouterr().out.split("Right: ")[1]
    assert int(right.split()[0]) > 150
    main(["report", "model.safetensors", "--data", "reviews.csv", "--out", "there", *named])
    pd.DataFrame({"review": ["this one was good good and so on"]}).to_csv("new.csv", index=False)
    capsys.readouterr()
    main(["predict", "model.safetensors", "new.csv", *named])
    assert capsys.readouterr().out.split("\n")[1].split()[1] in ("4", "5")
    pd.DataFrame({"text": ["good"]}).to_csv("new.csv", index=False)
    assert "it has no 'review'" in fails(capsys, "predict", "model.safetensors", "new.csv", *named)


def test_a_saved_model_never_runs_a_users_encoder_by_itself(reviews, capsys):
    main(["train", "reviews.csv", "--target", "stars", "--encoder", "mine:texts", "--epochs", "2"])
    sys.modules.pop("mine", None)
    capsys.readouterr()
    for command in (["predict", "model.safetensors", "reviews.csv"],
                    ["report", "model.safetensors", "--data", "reviews.csv"]):  # fmt: skip
        sentence = fails(capsys, *command)
        assert "imported only if you name it: --encoder mine:texts." in sentence
        assert "mine" not in sys.modules
        assert "--encoder mine:texts" in fails(capsys, *command, "--encoder", "mine:wider")


def test_an_encoder_of_another_width(reviews, capsys, tmp_path):
    main(["train", "reviews.csv", "--target", "stars", "--encoder", "mine:texts", "--epochs", "2"])
    capsys.readouterr()
    (tmp_path / "mine.py").write_text(MINE.replace('"good", ', ""))
    sys.modules.pop("mine", None)
    reviews.head(5).to_csv("new.csv", index=False)
    sentence = fails(capsys, "predict", "model.safetensors", "new.csv", "--encoder", "mine:texts")
    assert (
        "must make the 3 numbers per text that the model was trained on, but it makes 2" in sentence
    )


def test_images(photos, capsys):
    command = ["--class-order", "dark,grey,light", "--encoder", "mine:images"]
    main(["compare", "photos", "--out", "run", *command, *QUICK])
    shown = capsys.readouterr()
    assert "Encoding about 60 images by mine:images" in shown.err
    assert "photos: 60 examples of 3" in shown.out
    assert "  images encoded by mine:images as 3 numbers" in shown.out
    main(["train", "photos", *command, "--epochs", "60", "--loss", "cross-entropy"])
    capsys.readouterr()
    main(["predict", "model.safetensors", "photos", "--encoder", "mine:images"])
    assert "dark" in capsys.readouterr().out
    main(
        [
            "report",
            "model.safetensors",
            "--data",
            "photos",
            "--encoder",
            "mine:images",
            "--out",
            "there",
        ]
    )


def test_arrays_and_a_folder_of_texts(reviews, capsys, tmp_path):
    rng = np.random.default_rng(0)
    np.savez("e.npz", X=rng.normal(size=(90, 4)) + np.arange(90)[:, None] % 3, y=np.arange(90) % 3)
    main(["compare", "e.npz", "--out", "run", *QUICK])
    assert "e: 90 examples of 4" in capsys.readouterr().out
    main(["train", "e.npz", "--epochs", "3"])
    capsys.readouterr()
    main(["predict", "model.safetensors", "e.npz"])
    assert "answer" in capsys.readouterr().out
    main(["report", "model.safetensors", "--data", "e.npz", "--out", "there"])
    for i, (text, stars) in enumerate(zip(reviews.review, reviews.stars, strict=True)):
        path = tmp_path / "books" / str(stars) / f"{i}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    capsys.readouterr()
    main(["compare", "books", "--out", "run2", *QUICK])
    assert "text: 'text' encoded by tfidf" in capsys.readouterr().out
    main(["train", "books", "--epochs", "3"])
    main(["predict", "model.safetensors", "books"])
    main(["report", "model.safetensors", "--data", "books", "--out", "there2"])


class TestNames:
    """The class names by the encoder, which here goes by their letters."""

    code = (
        "import numpy as np\n"
        "def letters(some):\n"
        "    return np.array([[1 + t.lower().count(c) for c in 'abcdefgop'] for t in some])\n"
    )

    @pytest.fixture(autouse=True)
    def clothes(self, tmp_path):
        (tmp_path / "mine.py").write_text(self.code)
        names = ("Pullover", "Pullovero", "Bqqg", "Fzacc")
        rows = [(f"some {names[i % 4]} of this kind {i}", names[i % 4]) for i in range(120)]
        pd.DataFrame(rows, columns=["review", "class"]).to_csv("clothes.csv", index=False)

    def compared(self, capsys, *options):
        quick = ["--seeds", "1", "--epochs", "1", "--workers", "1", "--loss", "simloss"]
        main(["compare", "clothes.csv", "--target", "class", "--out", "run", *options, *quick])
        return capsys.readouterr().out

    @pytest.mark.parametrize("asked", [[], ["--similarity", "names"]])
    def test_an_unknown_word_no_longer_blocks(self, capsys, asked):
        shown = self.compared(capsys, "--encoder", "mine:letters", *asked)
        assert "Similarity: names, because mine:letters says how alike the names" in shown
        assert "most alike: Pullover and Pullovero 0." in shown

    def test_descriptions(self, capsys):
        lines = ["Pullover,abc abc", "Pullovero,ddd", "Bqqg,ggg ppp", "Fzacc,abc abc abc"]
        Path("about.csv").write_text("\n".join(lines))
        options = ["--encoder", "mine:letters", "--descriptions", "about.csv"]
        shown = self.compared(capsys, *options)
        assert "how alike the descriptions of the classes are" in shown
        assert "most alike: Fzacc and Pullover 0." in shown
        command = ["compare", "clothes.csv", "--target", "class", *options]
        for text, sentence in (
            ("\n".join(lines[1:]), "must describe each class, but not 'Pullover'"),
            ("Pullover", "line 1 has 1 cells"),
        ):
            Path("about.csv").write_text(text)
            assert sentence in fails(capsys, *command)

    def test_mistakes(self, capsys):
        command = ["compare", "clothes.csv", "--target", "class"]
        assert "do not tell it" in fails(capsys, *command)
        assert "needs a text encoder" in fails(capsys, *command, "--similarity", "names")
        sentence = fails(capsys, *command, "--similarity", "words", "--descriptions", "a.csv")
        assert "`--descriptions` is for --similarity names" in sentence

    def test_as_a_similarity_of_its_own(self, capsys):
        main(["similarity", "words", "Pullover", "Pullovero", "--encoder", "mine:letters"])
        assert "Pullover" in capsys.readouterr().out


def test_mistakes_are_one_sentence(reviews, photos, capsys):
    table = ["compare", "reviews.csv", "--target", "stars", *QUICK]
    sentence = fails(capsys, *table, "--encoder", "mine:fails")
    assert "failed on texts 1 to 4: RuntimeError: no service." in sentence
    assert "must be tfidf, hf:NAME" in fails(capsys, *table, "--encoder", "bert")
    assert "no '/no/folder'" in fails(capsys, *table, "--encoder", "hf:/no/folder")
    np.savez("e.npz", X=np.eye(4), y=np.arange(4) % 2)
    sentence = fails(capsys, "compare", "e.npz", "--encoder", "mine:texts")
    assert "`--encoder` does not apply to a file of arrays" in sentence
    main(["train", "diamonds", "--epochs", "1"])
    capsys.readouterr()
    sentence = fails(capsys, "predict", "model.safetensors", "diamonds", "--encoder", "mine:texts")
    assert "`--encoder` is for features of an encoder" in sentence
    assert "`--encoder` must go with a saved model" in fails(
        capsys, "report", ".", "--encoder", "x"
    )


def test_a_damaged_model_of_texts(reviews):
    from safetensors.torch import load, save

    main(["train", "reviews.csv", "--target", "stars", "--epochs", "1"])
    path = Path("model.safetensors")
    _tensors, texts = tensors_of(path)
    about = json.loads(texts["simloss"])
    about["terms"] = about["terms"][1:]
    path.write_bytes(save(load(path.read_bytes()), metadata={"simloss": json.dumps(about)}))
    with pytest.raises(ValueError, match="`tfidf` must have a number and a direction"):
        SavedModel.load(path)
