"""The Trainer of transformers, with tiny models made from their configurations."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

transformers = pytest.importorskip("transformers", reason="make test-integrations brings it")

from transformers import (  # noqa: E402
    BertForSequenceClassification,
    BertForTokenClassification,
    CohereConfig,
    CohereForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.modeling_outputs import (  # noqa: E402
    CausalLMOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)

import reference  # noqa: E402
from integrations.tiny_models import LENGTH, VOCABULARY, S, bert, gpt2, llama, texts  # noqa: E402
from simloss.integrations.transformers import trainer_loss  # noqa: E402
from simloss.similarity import order, tokens  # noqa: E402

NAMES = ("simloss", "proper", "soft-target")
BY_LOOPS = {
    "simloss": reference.sim_loss,
    "proper": reference.proper_sim_loss,
    "soft-target": reference.soft_target_loss,
}


class Gradients(TrainerCallback):
    """Keeps the gradients of each optimizer step."""

    def __init__(self):
        self.steps = []

    def on_pre_optimizer_step(self, args, state, control, model=None, **kwargs):
        self.steps.append({name: p.grad.clone() for name, p in model.named_parameters()})


def trainer(model, data, folder, *, batch, accumulate=1, **options):
    arguments = TrainingArguments(
        output_dir=str(folder), use_cpu=True, report_to="none", save_strategy="no", max_steps=1,
        per_device_train_batch_size=batch, gradient_accumulation_steps=accumulate,
        max_grad_norm=0, disable_tqdm=True, dataloader_pin_memory=False,
        per_device_eval_batch_size=2,
    )  # fmt: skip
    return Trainer(model, arguments, train_dataset=data, eval_dataset=data, **options)


def gradients(make, data, folder, loss, **options):
    seen = Gradients()
    model = make()
    trainer(model, data, folder, compute_loss_func=loss(model), callbacks=[seen], **options).train()
    (step,) = seen.steps
    return step


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert torch.allclose(one[name], other[name], atol=1e-6), name
    assert any(bool(gradient.abs().max() > 1e-3) for gradient in one.values())


def by_loops(name, logits, labels, shift):
    """The mean over the labels that count."""
    losses = []
    for row, wanted in zip(logits.tolist(), labels.tolist(), strict=True):
        pairs = zip(row[:-1], wanted[1:], strict=True) if shift else zip(row, wanted, strict=True)
        losses += [BY_LOOPS[name](z, y, S.to_dense().tolist()) for z, y in pairs if y != -100]
    return losses


class TestValues:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("shift", [True, False])
    def test_tokens(self, name, shift):
        logits = torch.randn(3, LENGTH, VOCABULARY, dtype=torch.float64)
        labels = torch.stack([example["labels"] for example in texts(3)])
        outputs = (CausalLMOutput if shift else TokenClassifierOutput)(logits=logits)
        losses = by_loops(name, logits, labels, shift)
        loss = trainer_loss(S, loss=name)
        assert loss(outputs, labels).item() == pytest.approx(sum(losses) / len(losses))
        assert loss(outputs, labels, 50).item() == pytest.approx(sum(losses) / 50)
        assert loss(outputs, labels, torch.tensor(50)).item() == pytest.approx(sum(losses) / 50)
        told = trainer_loss(S, loss=name, shift=shift)
        assert told((logits,), labels).item() == pytest.approx(sum(losses) / len(losses))

    def test_sequences(self):
        logits = torch.randn(5, VOCABULARY, dtype=torch.float64)
        labels = torch.arange(5)
        losses = by_loops("simloss", logits.unsqueeze(0), labels.unsqueeze(0), shift=False)
        loss = trainer_loss(S, loss="simloss")(SequenceClassifierOutput(logits=logits), labels)
        assert loss.item() == pytest.approx(sum(losses) / 5)

    def test_the_identity_is_the_models_own_loss(self):
        model = gpt2()
        batch = {key: torch.stack([e[key] for e in texts()]) for key in ("input_ids", "labels")}
        for items in (None, 7):
            own = model(**batch, num_items_in_batch=items).loss
            loss = trainer_loss(order(VOCABULARY, 0.0))
            ours = loss(model(input_ids=batch["input_ids"]), batch["labels"], items)
            assert torch.allclose(ours, own)

    def test_options_matter(self):
        outputs = SequenceClassifierOutput(logits=torch.randn(5, VOCABULARY))
        labels = torch.arange(5)
        plain = trainer_loss(S)(outputs, labels)
        for options in (
            {"weight": torch.rand(VOCABULARY)},
            {"label_smoothing": 0.3},
            {"cross_entropy_share": 0.5},
        ):
            assert trainer_loss(S, **options)(outputs, labels) != plain

    def test_a_schedule_reaches_it(self):
        outputs = SequenceClassifierOutput(logits=torch.randn(5, VOCABULARY))
        loss, labels = trainer_loss(order(VOCABULARY, 0.9)), torch.arange(5)
        loss.module.set_similarity(order(VOCABULARY, 0.0))
        expected = nn.functional.cross_entropy(outputs.logits, labels)
        assert torch.allclose(loss(outputs, labels), expected)


class TestAccumulation:
    """Batches of one, four times, are one batch of four."""

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("make", [gpt2, llama], ids=["tied", "untied"])
    def test_causal_language_models(self, make, name, tmp_path):
        for head in (lambda model: None, lambda model: model):

            def loss(model, head=head):
                return trainer_loss(S, loss=name, head_of=head(model))

            whole = gradients(make, texts(), tmp_path, loss, batch=4)
            parts = gradients(make, texts(), tmp_path, loss, batch=1, accumulate=4)
            assert_same(whole, parts)

    def test_token_classification(self, tmp_path):
        def make():
            return bert(BertForTokenClassification)

        def loss(model):
            return trainer_loss(S)

        whole = gradients(make, texts(), tmp_path, loss, batch=4)
        assert_same(whole, gradients(make, texts(), tmp_path, loss, batch=1, accumulate=4))
        # A mean of the batches' means would not be the same: their labels are unequally many.
        means = gradients(
            make, texts(), tmp_path,
            lambda model: lambda o, y, num_items_in_batch: trainer_loss(S)(o, y) / 4,
            batch=1, accumulate=4,
        )  # fmt: skip
        assert not torch.allclose(means["classifier.weight"], whole["classifier.weight"], atol=1e-4)

    def test_sequence_classification(self, tmp_path):
        def make():
            return bert(BertForSequenceClassification)

        def loss(model):
            return trainer_loss(S)

        data = texts(per_token=False)
        whole = gradients(make, data, tmp_path, loss, batch=4)
        assert_same(whole, gradients(make, data, tmp_path, loss, batch=1, accumulate=4))

    def test_the_trainer_takes_the_steps_of_a_plain_loop(self, tmp_path):
        model, twin = llama(), llama()
        data = texts()
        trainer(model, data, tmp_path, batch=4, compute_loss_func=trainer_loss(S)).train()
        batch = {key: torch.stack([e[key] for e in data]) for key in ("input_ids", "labels")}
        optimizer = torch.optim.AdamW(twin.parameters(), lr=5e-5, weight_decay=0.0)
        trainer_loss(S)(twin(input_ids=batch["input_ids"]), batch["labels"]).backward()
        optimizer.step()
        for one, other in zip(model.parameters(), twin.parameters(), strict=True):
            assert torch.allclose(one, other, atol=1e-6)


class LargestTensor(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.entries = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for each in result if isinstance(result, (list, tuple)) else [result]:
            if isinstance(each, torch.Tensor):
                self.entries = max(self.entries, each.numel())
        return result


class TestHead:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("make", [gpt2, llama], ids=["tied", "untied"])
    def test_same_gradients_and_the_layer_never_works(self, make, name, tmp_path, monkeypatch):
        plain = gradients(
            make, texts(), tmp_path, lambda model: trainer_loss(S, loss=name), batch=4
        )
        heads = []
        own = nn.Linear.forward

        def forward(layer, input):
            assert layer not in heads, "the last layer must not work"
            return own(layer, input)

        monkeypatch.setattr(nn.Linear, "forward", forward)

        def loss(model):
            made = trainer_loss(S, loss=name, head_of=model)
            heads.append(model.get_output_embeddings())
            return made

        assert_same(plain, gradients(make, texts(), tmp_path, loss, batch=4))

    def test_logits_are_never_held(self):
        """150 tokens and 120,000 classes: 18 million logits; the loss works on 16 million."""
        many, length = 120_000, 151
        words = tokens({str(n): n for n in range(1000)}, r=0.9, num_classes=many)
        torch.manual_seed(0)
        model = GPT2LMHeadModel(
            GPT2Config(vocab_size=many, n_positions=length, n_embd=4, n_layer=1, n_head=1)
        )
        ids = torch.randint(1000, (1, length))
        largest = {}
        for head in (model, None):
            loss = trainer_loss(words, head_of=head)
            with LargestTensor() as seen:
                loss(model(input_ids=ids), ids).backward()
            loss.give_back_head()
            largest[head is None] = seen.entries
        assert largest[True] >= (length - 1) * many
        assert largest[False] <= 1 << 24

    def test_evaluation_is_as_usual(self, tmp_path):
        model = llama()
        data = texts()
        usual = trainer(model, data, tmp_path, batch=4, compute_loss_func=trainer_loss(S))
        expected = usual.predict(data)
        loss = trainer_loss(S, head_of=model)
        ours = trainer(model, data, tmp_path, batch=4, compute_loss_func=loss).predict(data)
        assert ours.predictions.shape == (4, LENGTH, VOCABULARY)
        assert (ours.predictions == expected.predictions).all()
        assert ours.metrics["test_loss"] == pytest.approx(expected.metrics["test_loss"])

    def test_generation_and_saving_are_as_usual(self, tmp_path):
        model = llama()
        ids = texts()[0]["input_ids"].unsqueeze(0)
        expected = model.eval().generate(ids, max_new_tokens=3, do_sample=False)
        trainer_loss(S, head_of=model)
        assert torch.equal(model.generate(ids, max_new_tokens=3, do_sample=False), expected)
        model.save_pretrained(tmp_path)
        again = LlamaForCausalLM.from_pretrained(tmp_path).eval()
        assert torch.equal(again.generate(ids, max_new_tokens=3, do_sample=False), expected)

    def test_the_head_is_given_back(self):
        model = llama().train()
        ids = texts()[0]["input_ids"].unsqueeze(0)
        loss = trainer_loss(S, head_of=model)
        assert model(input_ids=ids).logits.shape[-1] == 16
        with pytest.raises(ValueError, match="already has another forward; `give_back_head"):
            trainer_loss(S, head_of=model)
        loss.give_back_head()
        assert model(input_ids=ids).logits.shape[-1] == VOCABULARY
        loss(model(input_ids=ids), ids).backward()

    def test_half_precision(self):
        model = llama()
        ids = torch.stack([example["input_ids"] for example in texts()])
        found = []
        for head in (None, model):
            loss = trainer_loss(S, head_of=head)
            with torch.autocast("cpu", torch.bfloat16):
                value = loss(model(input_ids=ids), ids)
            model.zero_grad()
            value.backward()
            found.append((value.item(), model.lm_head.weight.grad))
        assert found[0][0] == pytest.approx(found[1][0], rel=2e-2)
        assert torch.allclose(found[0][1], found[1][1], atol=2e-2)

    @pytest.mark.parametrize(
        ("cls", "config"),
        [(CohereForCausalLM, CohereConfig), (Gemma2ForCausalLM, Gemma2Config)],
        ids=["scale", "soft cap"],
    )
    def test_a_model_that_changes_its_logits_is_refused(self, cls, config):
        model = llama(cls, config).train()
        ids = texts()[0]["input_ids"].unsqueeze(0)
        loss = trainer_loss(S, head_of=model)
        with pytest.raises(ValueError, match="this one changes it .a scale"):
            loss(model(input_ids=ids), ids)

    def test_a_head_out_of_reach_is_refused(self):
        with pytest.raises(ValueError, match="that of BertForSequenceClassification is NoneType"):
            trainer_loss(S, head_of=bert(BertForSequenceClassification))
        with pytest.raises(ValueError, match="it has 5 and `head_of` 24"):
            trainer_loss(order(5, 0.5), head_of=llama())


def test_two_processes_are_one(tmp_path):
    """With the untied head, which DistributedDataParallel does not see at work."""
    script = Path(__file__).with_name("trainer_steps.py")
    found = []
    for processes in (1, 2):
        result = tmp_path / f"{processes}.pt"
        subprocess.run(
            [
                sys.executable, "-m", "torch.distributed.run", "--standalone",
                f"--nproc-per-node={processes}", str(script), str(result), str(4 // processes),
            ],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        found.append(torch.load(result))
    for name in found[0]:
        assert torch.allclose(found[0][name], found[1][name], atol=1e-6), name
    assert not math.isclose(float(found[0]["lm_head.weight"].abs().sum()), 0)


class TestBadInput:
    def test_it_says_what_is_wrong(self):
        with pytest.raises(ValueError, match="`loss` must be one of 'simloss', 'proper', "):
            trainer_loss(S, loss="sim")
        logits, labels = torch.randn(2, LENGTH, VOCABULARY), torch.zeros(2, LENGTH).long()
        with pytest.raises(ValueError, match="`shift` must be given .* returns a tuple"):
            trainer_loss(S)((logits,), labels)
        with pytest.raises(ValueError, match="`labels` must be given"):
            trainer_loss(S)(CausalLMOutput(logits=logits), None)
        with pytest.raises(ValueError, match="it has 5 and `input` of shape .10, 24. has 24"):
            trainer_loss(order(5, 0.5))(CausalLMOutput(logits=logits), labels)
