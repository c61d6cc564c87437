"""`hf:FOLDER` with tiny models of texts and images, which no network is needed for."""

import json

import pytest
import torch
from PIL import Image

transformers = pytest.importorskip("transformers", reason="make test-integrations brings it")

from transformers import (  # noqa: E402
    BertConfig,
    BertModel,
    BertTokenizerFast,
    CLIPConfig,
    CLIPModel,
    ViTConfig,
    ViTImageProcessor,
    ViTModel,
)

from simloss._imports import UsersName  # noqa: E402
from simloss.cli import main  # noqa: E402
from simloss.data import DataError, encoded_texts, image_folder  # noqa: E402
from simloss.data.encoders.hf import Model  # noqa: E402

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "good", "bad", "book", "film"]
TEXTS = ["a good book", "a bad film a bad book", "", "unknown"] * 20
SMALL = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMLOSS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def tokenizer(folder):
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    made = BertTokenizerFast(vocab_file=str(folder / "vocab.txt"))
    made.save_pretrained(folder)
    return made


@pytest.fixture
def bert(tmp_path):
    torch.manual_seed(0)
    tokenizer(tmp_path / "bert")
    BertModel(
        BertConfig(vocab_size=len(WORDS), max_position_embeddings=16, **SMALL)
    ).save_pretrained(tmp_path / "bert")
    return tmp_path / "bert"


@pytest.fixture
def vit(tmp_path):
    torch.manual_seed(0)
    ViTModel(ViTConfig(image_size=16, patch_size=8, **SMALL)).save_pretrained(tmp_path / "vit")
    ViTImageProcessor(size={"height": 16, "width": 16}).save_pretrained(tmp_path / "vit")
    return tmp_path / "vit"


@pytest.fixture
def photos(tmp_path):
    for i in range(24):
        path = tmp_path / "photos" / ("dark", "light")[i % 2] / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (20, 30 + i), (100 * (i % 2) + i,) * 3).save(path)
    return tmp_path / "photos"


@pytest.mark.parametrize("pooling", ["", "@mean", "@cls"])
def test_pooling_one_text_at_a_time(bert, pooling):
    found = encoded_texts(TEXTS, UsersName(f"hf:{bert}{pooling}"))
    net, words = BertModel.from_pretrained(bert).eval(), BertTokenizerFast.from_pretrained(bert)
    for text, row in zip(TEXTS[:4], found, strict=False):
        with torch.inference_mode():
            hidden = net(**words(text, return_tensors="pt")).last_hidden_state[0]
        expected = hidden[0] if pooling == "@cls" else hidden.mean(0)
        torch.testing.assert_close(row, expected, atol=1e-5, rtol=1e-4)


def test_the_pooling_a_sentence_transformer_was_made_for(bert):
    (bert / "1_Pooling").mkdir()
    (bert / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    both = [encoded_texts(TEXTS, UsersName(f"hf:{bert}{end}")) for end in ("", "@cls")]
    assert torch.equal(*both)


def test_a_long_text_is_cut(bert):
    assert encoded_texts(["a good book " * 50], UsersName(f"hf:{bert}")).shape == (1, 8)


def test_a_changed_folder_is_encoded_anew(bert):
    first = encoded_texts(TEXTS, UsersName(f"hf:{bert}"))
    torch.manual_seed(1)
    BertModel(
        BertConfig(vocab_size=len(WORDS), max_position_embeddings=16, **SMALL)
    ).save_pretrained(bert)
    assert not torch.equal(encoded_texts(TEXTS, UsersName(f"hf:{bert}")), first)


@pytest.mark.parametrize("pooling", ["", "@mean"])
def test_images(vit, photos, pooling):
    found = image_folder(photos, encoder=UsersName(f"hf:{vit}{pooling}"))
    assert found.inputs.shape == (24, 8)
    ready, net = ViTImageProcessor.from_pretrained(vit), ViTModel.from_pretrained(vit).eval()
    with Image.open(photos / "dark" / "0.png") as image, torch.inference_mode():
        hidden = net(**ready(image, return_tensors="pt")).last_hidden_state[0]
    expected = hidden.mean(0) if pooling else hidden[0]
    torch.testing.assert_close(found.inputs[0], expected, atol=1e-5, rtol=1e-4)


def test_a_model_of_both(tmp_path, photos):
    torch.manual_seed(0)
    text = {**SMALL, "vocab_size": len(WORDS), "max_position_embeddings": 16, "eos_token_id": 3}
    vision = {**SMALL, "image_size": 16, "patch_size": 8}
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=6)
    CLIPModel(config).save_pretrained(tmp_path / "clip")
    tokenizer(tmp_path / "clip")
    ViTImageProcessor(size={"height": 16, "width": 16}).save_pretrained(tmp_path / "clip")
    name = UsersName(f"hf:{tmp_path / 'clip'}")
    assert encoded_texts(["a good book"], name).shape == (1, 6)
    assert image_folder(photos, encoder=name).inputs.shape == (24, 6)


def test_compared_trained_and_answered_from_a_folder(vit, photos, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    quick = ["--epochs", "2", "--class-order", "dark,light"]
    main(["train", "photos", "--encoder", "hf:vit", *quick])
    vit.rename(tmp_path / "moved")
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["predict", "model.safetensors", "photos"])
    assert "must name a folder or a model, but there is no '" in capsys.readouterr().err
    main(["predict", "model.safetensors", "photos", "--encoder", "hf:moved"])
    assert "answer" in capsys.readouterr().out


class TestWhatCannotBeLoaded:
    def test_a_name_without_a_network(self):
        with pytest.raises(DataError, match="cannot be downloaded; without a network, give the p"):
            encoded_texts(TEXTS, UsersName("hf:no-such-model"))

    def test_where_nothing_has_an_address_the_hub_is_not_asked(self, monkeypatch, capfd):
        asked = []

        def nothing(*args, **kwargs):
            raise OSError("Name or service not known")

        def remembered(name, local_files_only, **options):
            asked.append(local_files_only)
            raise OSError("Not found. Try again later.")

        monkeypatch.setattr("simloss.data.encoders.hf.getproxies", dict)
        monkeypatch.setattr("socket.getaddrinfo", nothing)
        monkeypatch.setattr("transformers.AutoConfig.from_pretrained", remembered)
        with pytest.raises(DataError, match=r"hf:FOLDER \(Not found\)\.$"):
            encoded_texts(TEXTS, UsersName("hf:no-such-model"))
        assert asked == [True]
        assert capfd.readouterr() == ("", "")

    def test_a_name_out_of_a_file_is_never_downloaded(self):
        with pytest.raises(DataError, match="a file may not have it downloaded; name it yourself"):
            encoded_texts(TEXTS, "hf:no-such-model")

    def test_a_folder_of_something_else(self, tmp_path):
        (tmp_path / "empty").mkdir()
        with pytest.raises(DataError, match="cannot be loaded"):
            encoded_texts(TEXTS, UsersName(f"hf:{tmp_path / 'empty'}"))

    def test_code_and_pickles_are_not_run(self, bert, tmp_path):
        about = json.loads((bert / "config.json").read_text())
        about["auto_map"] = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
        about["model_type"] = "evil"
        (bert / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
        (bert / "config.json").write_text(json.dumps(about))
        with pytest.raises(DataError, match="cannot be loaded"):
            encoded_texts(TEXTS, UsersName(f"hf:{bert}"))
        assert not (tmp_path / "ran").exists()

    def test_weights_in_a_pickle(self, bert):
        weights = BertModel.from_pretrained(bert).state_dict()
        (bert / "model.safetensors").unlink()
        torch.save(weights, bert / "pytorch_model.bin")
        with pytest.raises(DataError, match="cannot be loaded"):
            encoded_texts(TEXTS, UsersName(f"hf:{bert}"))


def test_names():
    assert Model.named("org/name@cls", may_download=False).pooling == "cls"
    assert Model.named("org/name", may_download=False).pooling is None
