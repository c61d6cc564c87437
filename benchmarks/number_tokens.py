"""A tiny language model learns to add: mean absolute error of its answers, loss by loss.

    .venv-integrations/bin/python -m benchmarks.number_tokens [--seeds 5] [--json FILE]

The tokenizer is trained here and has a token for every number, as those of today's large models
have up to 999. The model reads "37+58=" and writes one token. It is trained on a fifth of all
pairs; on 1,000 others each loss's parameter is chosen, by the error at the decision it is shown
with; what is printed is measured on 2,000 more. ntloss is the number token loss (Zausinger et al.,
ICML 2025) beside cross entropy, as its authors use it.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from ntloss import NTLoss
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from simloss import decide
from simloss.integrations.transformers import trainer_loss
from simloss.similarity import Similarity, identity, tokens

LARGEST = 99  # operand
TRAIN, VALIDATION, TEST = 2_000, 1_000, 2_000
BATCH = 128
DECISIONS = ("argmax", "median")
Loss = Callable[[Tensor, Tensor], Tensor]  # logits (N, T, C), labels (N, T)


def tokenizer() -> PreTrainedTokenizerFast:
    """Signs, digits and numbers of several digits, each a token."""
    made = Tokenizer(models.WordLevel(unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"\d+"), "isolated")
    texts = [f"{n}+{n}={2 * n}" for n in range(2 * LARGEST + 1)]
    made.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["?"]))
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="?")


def texts(count: int) -> tuple[list[str], list[int]]:
    """Sums in a random order that is the same for all seeds, and their answers."""
    drawn = torch.randperm((LARGEST + 1) ** 2, generator=torch.Generator().manual_seed(0))[:count]
    pairs = [divmod(index, LARGEST + 1) for index in drawn.tolist()]
    return [f"{a}+{b}={a + b}" for a, b in pairs], [a + b for a, b in pairs]


def losses(words: PreTrainedTokenizerFast) -> dict[str, dict[str, Loss]]:
    """Method -> parameter -> loss."""

    def ours(similarity: Similarity, name: str = "simloss") -> Loss:
        loss = trainer_loss(similarity, loss=name, shift=True)
        return lambda logits, labels: loss((logits,), labels)

    def theirs(share: float) -> Loss:
        plain = ours(identity(len(words)))
        number = NTLoss(words, digit_level=False)

        def loss(logits: Tensor, labels: Tensor) -> Tensor:
            by_number = number(logits[:, :-1], labels[:, 1:].contiguous())
            return plain(logits, labels) + share * by_number

        return loss

    found: dict[str, dict[str, Loss]] = {"cross entropy": {"": ours(identity(len(words)))}}
    for method, name in (
        ("SimLoss", "simloss"),
        ("proper", "proper"),
        ("soft targets", "soft-target"),
    ):
        found[method] = {f"r={r}": ours(tokens(words, r), name) for r in (0.5, 0.8)}
    found["ntloss"] = {f"{share}": theirs(share) for share in (0.03, 0.3)}
    return found


def model(words: PreTrainedTokenizerFast, seed: int) -> GPT2LMHeadModel:
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=len(words), n_positions=8, n_embd=64, n_layer=2, n_head=4, use_cache=False,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    return GPT2LMHeadModel(config)


def train(net: nn.Module, ids: Tensor, loss: Loss, *, seed: int, steps: int) -> None:
    """Steps of AdamW on random batches; only the answer is learned."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for _ in range(steps):
        batch = ids[torch.randint(len(ids), (BATCH,), generator=generator)]
        labels = batch.clone()
        labels[:, :-1] = -100
        optimizer.zero_grad(set_to_none=True)
        loss(net(input_ids=batch).logits, labels).backward()
        optimizer.step()
        schedule.step()


def errors(net: nn.Module, ids: Tensor, truth: Tensor, numbers: Tensor) -> dict[str, float]:
    """Mean absolute error by decision; the share of right answers at argmax."""
    with torch.no_grad():
        p = net(input_ids=ids[:, :-1]).logits[:, -1].softmax(-1)  # (N, C)
    p = p[:, numbers]  # by rising value; what is not a number is no answer
    p = p / p.sum(-1, keepdim=True)
    found = {cost: decide(p, cost) for cost in DECISIONS}
    measured = {
        cost: (answer - truth).abs().float().mean().item() for cost, answer in found.items()
    }
    return {**measured, "right": (found["argmax"] == truth).float().mean().item()}


def records(seeds: int, steps: int) -> list[dict[str, object]]:
    """A record for each method, parameter and seed."""
    words = tokenizer()
    sums, answers = texts(TRAIN + VALIDATION + TEST)
    ids = torch.tensor([words(text)["input_ids"] for text in sums])
    truth = torch.tensor(answers)
    vocabulary = words.get_vocab()
    numbers = torch.tensor([vocabulary[str(n)] for n in range(2 * LARGEST + 1)])
    validation = slice(TRAIN, TRAIN + VALIDATION)
    test = slice(TRAIN + VALIDATION, None)
    found: list[dict[str, object]] = []
    for seed in range(seeds):
        for method, parameters in losses(words).items():
            for parameter, loss in parameters.items():
                start, net = time.perf_counter(), model(words, seed)
                train(net, ids[:TRAIN], loss, seed=seed, steps=steps)
                net.eval()
                found.append(
                    {
                        "method": method,
                        "parameter": parameter,
                        "seed": seed,
                        "validation": errors(net, ids[validation], truth[validation], numbers),
                        "test": errors(net, ids[test], truth[test], numbers),
                        "seconds": time.perf_counter() - start,
                    }
                )
                print(json.dumps(found[-1]), flush=True)
    return found


def table(found: list[dict]) -> str:
    """Mean ± standard deviation over the seeds, each method at its best parameter."""
    lines = ["| loss | MAE at argmax | MAE at median | right answers |", "|---|---|---|---|"]
    for method in dict.fromkeys(record["method"] for record in found):
        runs = [record for record in found if record["method"] == method]
        best = {decision: _best(runs, decision) for decision in DECISIONS}
        cells = [
            _spread([run["test"][decision] for run in some]) + _named(some)
            for decision, some in best.items()
        ]
        right = _spread([100 * run["test"]["right"] for run in best["argmax"]])
        lines.append(f"| {method} | {' | '.join(cells)} | {right} % |")
    return "\n".join(lines)


def _best(found: list[dict], decision: str) -> list[dict]:
    """The records of the parameter with the lowest mean validation error."""
    by_parameter: dict[str, list[dict]] = {}
    for record in found:
        by_parameter.setdefault(record["parameter"], []).append(record)
    return min(
        by_parameter.values(),
        key=lambda some: statistics.mean(r["validation"][decision] for r in some),
    )


def _named(records_of_one: list[dict]) -> str:
    parameter = records_of_one[0]["parameter"]
    return f" ({parameter})" if parameter else ""


def _spread(values: list[float]) -> str:
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--json", type=Path, help="where to keep the records")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = records(options.seeds, options.steps)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    print(table(found))


if __name__ == "__main__":
    main()
