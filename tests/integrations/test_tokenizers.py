"""Tokenizers as they are trained: byte-level, SentencePiece and WordPiece marks."""

import pytest
import torch

tokenizers = pytest.importorskip("tokenizers", reason="make test-integrations brings it")
transformers = pytest.importorskip("transformers", reason="make test-integrations brings it")

from tokenizers import (  # noqa: E402
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast  # noqa: E402

from simloss.integrations.transformers import trainer_loss  # noqa: E402
from simloss.similarity import tokens  # noqa: E402

TEXTS = [f"{a} plus {b} is {a + b}" for a in range(30) for b in range(30)]


def byte_level():
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=120, show_progress=False))
    return made, "Ġ"


def sentence_piece():
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=120, show_progress=False))
    return made, "▁"


def word_piece():
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    options = {"special_tokens": ["[UNK]"], "show_progress": False}
    made.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=120, **options))
    return made, "##"


@pytest.mark.parametrize("make", [byte_level, sentence_piece, word_piece])
def test_numbers_with_a_mark_are_like_each_other(make):
    tokenizer, mark = make()
    vocabulary = tokenizer.get_vocab()
    size = tokenizer.get_vocab_size()
    S = tokens(tokenizer, r=0.5).to_dense()
    assert len(S) == size == tokenizer.get_vocab_size()
    pairs = [
        (a, b)
        for a in range(30)
        for b in range(30)
        if f"{mark}{a}" in vocabulary and f"{mark}{b}" in vocabulary
    ]
    assert len(pairs) >= 9  # also of two digits
    for a, b in pairs:
        assert S[vocabulary[f"{mark}{a}"], vocabulary[f"{mark}{b}"]] == 0.5 ** abs(a - b)
        assert S[vocabulary[f"{mark}{a}"], vocabulary[str(b % 10)]] == 0


def test_of_transformers_with_a_padded_vocabulary():
    plain, _ = byte_level()
    fast = PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>")
    before = dict(fast.get_vocab())
    assert before["<pad>"] == len(before) - 1
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=128, n_positions=32, n_embd=8, n_head=1, n_layer=1)
    )
    S = tokens(fast, r=0.5, num_classes=model.config.vocab_size)
    assert fast.get_vocab() == before
    ids = fast(["1 plus 2 is 3"], return_tensors="pt")["input_ids"]
    loss = trainer_loss(S, head_of=model)(model(input_ids=ids), ids)
    loss.backward()
    assert torch.isfinite(model.transformer.wte.weight.grad).all()
