"""Models of transformers as small as they come, and texts for them."""

import torch
from transformers import BertConfig, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from simloss.similarity import tokens

VOCABULARY, LENGTH = 24, 6
S = tokens({str(n): n for n in range(20)}, r=0.6, num_classes=VOCABULARY)


def gpt2():
    """Its last layer is its embedding."""
    torch.manual_seed(0)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCABULARY, n_positions=8, n_embd=16, n_layer=1, n_head=2,
            resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=0, eos_token_id=0,
        )
    )  # fmt: skip


def llama(cls=LlamaForCausalLM, config=LlamaConfig, **options):
    """Its last layer is its own."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "pad_token_id": None}
    return cls(config(vocab_size=VOCABULARY, **sizes, **heads, **options))


def bert(cls):
    torch.manual_seed(0)
    return cls(
        BertConfig(
            vocab_size=VOCABULARY, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
            num_attention_heads=2, num_labels=VOCABULARY, hidden_dropout_prob=0,
            attention_probs_dropout_prob=0,
        )
    )  # fmt: skip


def texts(count=4, *, per_token=True):
    """Examples with very unequal numbers of labels that count."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(VOCABULARY, (count, LENGTH), generator=generator)
    labels = torch.randint(VOCABULARY, (count, LENGTH), generator=generator)
    for example in range(count):
        labels[example, 2 + example % (LENGTH - 2) :] = -100
    labels = labels if per_token else labels[:, 0]
    return [{"input_ids": i, "labels": y} for i, y in zip(ids, labels, strict=True)]
