"""One run: a net, a loss, early stopping, the best weights kept."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ... import _threads, metrics
from ...data import rows
from ..plan.alternatives import Objective, objective_of
from ..plan.config import TrainingConfig
from .augment import crop_and_flip
from .checkpoint import Checkpoint
from .measure import Judge

# Images of 3 x 60 x 60 that a forward pass without gradients takes at once; fewer of larger ones.
_EVALUATION_BATCH = 2048
_EVALUATION_NUMBERS = _EVALUATION_BATCH * 3 * 60 * 60


def outputs_not_finite(epoch: int) -> str:
    """What a record says where the loss was finite and the step it led to was too large."""
    return (
        f"the net's outputs became NaN after the last batch of epoch {epoch}; "
        f"a lower learning rate may help."
    )


class NotFiniteError(ArithmeticError):
    """The loss became NaN or infinite."""


@dataclass
class Part:
    """One part of a split, in memory: examples as stored, and how a batch is made ready."""

    inputs: Tensor
    labels: Tensor
    ready: Callable[..., Tensor]  # (batch, *, out=None)

    def __len__(self) -> int:
        return len(self.labels)


@dataclass
class Outcome:
    """What a run leaves.

    Attributes:
        states: by decision rule, the weights of its best epoch on validation.
        best_epoch: by decision rule, counted from 1.
        history: one dict per epoch: the training loss and the validation metrics by rule.
    """

    states: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    best_epoch: dict[str, int] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


class EarlyStopping:
    """The best epoch for each decision rule, and whether all of them have stopped improving."""

    def __init__(self, rules: tuple[str, ...], metric: str, patience: int) -> None:
        self.higher_is_better = metrics.find(metric).higher_is_better
        self.patience = patience
        self.best: dict[str, tuple[float, int]] = {}
        self.rules = rules

    def improved(self, rule: str, value: float, epoch: int) -> bool:
        """Whether this epoch is the best yet for a rule; it is then remembered."""
        known = self.best.get(rule)
        better = known is None or (value > known[0] if self.higher_is_better else value < known[0])
        if better:
            self.best[rule] = (value, epoch)
        return better

    def is_over(self, epoch: int) -> bool:
        """Whether no rule has improved for `patience` epochs."""
        return all(epoch - self.best[rule][1] >= self.patience for rule in self.rules)


def device_of(name: str) -> torch.device:
    """The device of that name; "auto" is the fastest there is."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError("`device` 'cuda' must be available, but torch finds no such device here.")
    if name == "mps" and not torch.backends.mps.is_available():
        raise ValueError("`device` 'mps' must be available, but torch finds no such device here.")
    return torch.device(name)


def train(
    net: nn.Module,
    loss: nn.Module,
    training: Part,
    validation: Part,
    judge: Judge,
    rules: tuple[str, ...],
    config: TrainingConfig,
    seed: int,
    on_epoch: Callable[[dict[str, Any]], None] = lambda epoch: None,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Train until the validation metric has not improved for `patience` epochs.

    The order of the examples and the augmentation depend on `seed` alone, so that treatments with
    the same seed see the same batches. A run that is resumed from a checkpoint ends with the same
    numbers as one that was never interrupted. Parameters of the loss are trained with the net's.
    """
    checkpoint = checkpoint or Checkpoint()
    device = device_of(config.device)
    net, objective = net.to(device), objective_of(loss).to(device)
    if training.inputs.ndim == 4:
        net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    trained = [*net.parameters(), *objective.parameters()]
    optimizer = torch.optim.Adam(trained, lr=config.learning_rate, fused=True)
    generator = torch.Generator().manual_seed(seed)
    kept_rules = rules[:1] if config.keep_best_of == "argmax" else rules
    stopping = EarlyStopping(kept_rules, config.stop_on, config.patience)
    outcome = Outcome()
    started = time.perf_counter()
    fitting = {"net": net, "loss": objective, "optimizer": optimizer, "generator": generator}
    if found := checkpoint.load(fitting, kept_rules):
        stopping.best = found["best"]
        outcome = Outcome(**found["outcome"])
        started -= outcome.seconds["train"]
    for epoch in range(len(outcome.history) + 1, config.epochs + 1):
        objective.begin_epoch(epoch)
        with _threads.suited_to(net, config.batch_size):
            mean_loss = _epoch(net, objective, optimizer, training, config, generator, epoch)
        truth = validation.labels
        p = objective.logits(logits_of(net, validation, config.precision)).softmax(-1)
        if bool(p.isnan().any()):
            raise NotFiniteError(outputs_not_finite(epoch))
        line: dict[str, Any] = {"epoch": epoch, "loss": mean_loss, "validation": {}}
        for rule in rules:
            answers = judge.answers(p, rule)
            value = judge.metric(config.stop_on, answers, truth, p)
            line["validation"][rule] = value
            if rule in kept_rules and stopping.improved(rule, value, epoch):
                outcome.states[rule] = {k: v.clone() for k, v in net.state_dict().items()}
                outcome.best_epoch[rule] = epoch
        outcome.history.append(line)
        on_epoch(line)
        if stopping.is_over(epoch):
            break
        outcome.seconds["train"] = time.perf_counter() - started
        checkpoint.save_if_due(
            lambda: {
                "net": net.state_dict(),
                "loss": objective.state_dict(),
                "optimizer": optimizer.state_dict(),
                "generator": generator.get_state(),
                "best": stopping.best,
                "outcome": vars(outcome),
            }
        )
    for rule in rules[len(kept_rules) :]:
        outcome.states[rule] = outcome.states["argmax"]
        outcome.best_epoch[rule] = outcome.best_epoch["argmax"]
    outcome.seconds["train"] = time.perf_counter() - started
    return outcome


def _epoch(
    net: nn.Module,
    loss: Objective,
    optimizer: torch.optim.Optimizer,
    part: Part,
    config: TrainingConfig,
    generator: torch.Generator,
    epoch: int,
) -> float:
    """One pass over the training part; the mean of the batches' losses."""
    net.train()
    device = next(net.parameters()).device
    order = torch.randperm(len(part), generator=generator)
    losses: list[Tensor] = []
    x: Tensor | None = None
    for some in order.split(config.batch_size):
        batch = rows(part.inputs, some)
        if config.augment:
            batch = crop_and_flip(batch, generator=generator)
        # In the memory of the last batch: fresh memory would take longer than the work in it.
        again = x if x is not None and len(x) == len(batch) else None
        x, y = part.ready(batch.to(device), out=again), part.labels[some].to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=config.precision == "bfloat16"):
            value = loss(net(x), y)
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        optimizer.step()
        losses.append(value.detach())
    # Read once per epoch: reading after every batch would make an accelerator wait.
    values = torch.stack(losses).float()
    broken = ~values.isfinite()
    if bool(broken.any()):
        batch_number = int(broken.nonzero()[0]) + 1
        raise NotFiniteError(
            f"the loss became {values[batch_number - 1].item()} in epoch {epoch}, "
            f"batch {batch_number}; a lower learning rate may help."
        )
    return float(values.mean())


@torch.inference_mode()
def logits_of(net: nn.Module, part: Part, precision: str = "float32") -> Tensor:
    """The net's outputs for a whole part, (N, C), float32 on the CPU."""
    net.eval()
    device = next(net.parameters(), torch.empty(0)).device
    found = []
    at_once = min(_EVALUATION_BATCH, max(1, _EVALUATION_NUMBERS // part.inputs[0].numel()))
    for some in torch.arange(len(part)).split(at_once):
        x = part.ready(rows(part.inputs, some).to(device))
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            found.append(net(x).float().cpu())
    return torch.cat(found)
