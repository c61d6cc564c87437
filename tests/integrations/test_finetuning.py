"""The pages about fine-tuning: their code runs as it stands, on tiny models."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

transformers = pytest.importorskip("transformers", reason="make test-integrations brings it")
pytest.importorskip("accelerate", reason="make test-integrations brings it")

from transformers import (  # noqa: E402
    BertConfig,
    BertForSequenceClassification,
    BertTokenizerFast,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessor,
)

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
BLOCK = re.compile(r"^```python integration\n(.*?)^```", re.MULTILINE | re.DOTALL)
SMALL = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "fine", "book", "bad", "good"]

pytestmark = pytest.mark.skipif(not HOWTO.exists(), reason="not in a clone")


def run(page, folder):
    """The output of the page's code, with the tiny model in place of the one it names."""
    code = "\n".join(BLOCK.findall((HOWTO / page).read_text()))
    code, count = re.subn(r"^MODEL = .*$", 'MODEL = "tiny"', code, flags=re.MULTILINE)
    assert count == 1
    (folder / "pasted.py").write_text(code)
    command = [sys.executable, "pasted.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_text(tmp_path):
    torch.manual_seed(0)
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "vocab.txt").write_text("\n".join(WORDS))
    BertTokenizerFast(vocab_file=str(tmp_path / "tiny" / "vocab.txt")).save_pretrained(
        tmp_path / "tiny"
    )
    config = BertConfig(vocab_size=len(WORDS), max_position_embeddings=16, num_labels=5, **SMALL)
    BertForSequenceClassification(config).save_pretrained(tmp_path / "tiny")
    rows = [("a bad book", 1), ("a fine book", 3), ("a good good book", 5), ("a book", 2)] * 8
    pd.DataFrame(rows, columns=["text", "stars"]).to_csv(tmp_path / "reviews.csv", index=False)
    shown = run("finetune_text.md", tmp_path)
    assert "eval_mae_median" in shown
    assert re.search(r"^[1-5] stars$", shown, re.MULTILINE)


def test_images(tmp_path):
    torch.manual_seed(0)
    config = ViTConfig(image_size=16, patch_size=8, num_labels=7, **SMALL)
    ViTForImageClassification(config).save_pretrained(tmp_path / "tiny")
    ViTImageProcessor(size={"height": 16, "width": 16}).save_pretrained(tmp_path / "tiny")
    rng = np.random.default_rng(0)
    for i in range(30):
        path = tmp_path / "photos" / str(1 + i % 3) / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (20, 20, 3), dtype=np.uint8)).save(path)
    shown = run("finetune_images.md", tmp_path)
    assert "('1', '2', '3')" in shown
    assert "mean error on test data, answered by the median:" in shown
