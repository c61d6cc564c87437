"""Many small nets at once: the whole grid of a table as one batched program.

The nets of all cells are stacked, parameter by parameter, and take every step together; each has
its own seed, split, similarity and early stopping. The numbers are those of one net at a time: the
same initial weights, the same batches, the same formulas, and Adam works entry by entry.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from ..plan.config import TrainingConfig
from ..train.loop import EarlyStopping, Outcome, Part, outputs_not_finite
from ..train.measure import Judge
from .stacked_loss import StackedLoss

# Elementwise layers a stack of nets passes through unchanged.
_ELEMENTWISE = (nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Identity)


@dataclass
class Member:
    """One net of the stack: what trains it, and what it has reached."""

    net: nn.Module
    group: int  # which split, and so which order of examples, it sees
    outcome: Outcome
    stopping: EarlyStopping
    failure: str | None = None


def can_be_stacked(net: nn.Module) -> bool:
    """Whether a net is a plain chain of linear and elementwise layers."""
    return all(isinstance(layer, (nn.Linear, *_ELEMENTWISE)) for layer in _layers(net))


def _layers(net: nn.Module) -> list[nn.Module]:
    return [module for module in net.modules() if not list(module.children())]


class Stack:
    """The parameters of B nets of one architecture, each stacked to (B, ...)."""

    def __init__(self, nets: list[nn.Module]) -> None:
        self.layers = _layers(nets[0])
        self.parameters = {
            name: torch.stack([dict(net.named_parameters())[name].detach() for net in nets])
            for name, _ in nets[0].named_parameters()
        }
        self._names = {id(value): name for name, value in nets[0].named_parameters()}

    def __call__(self, x: Tensor) -> Tensor:
        """(B, n, D) -> logits (B, n, C)."""
        for layer in self.layers:
            if isinstance(layer, nn.Linear):
                weight = self.parameters[self._names[id(layer.weight)]]  # (B, out, in)
                bias = self.parameters[self._names[id(layer.bias)]]  # (B, out)
                x = torch.baddbmm(bias.unsqueeze(1), x, weight.mT)
            else:
                x = layer(x)
        return x

    def state(self, index: int) -> dict[str, Tensor]:
        """The weights of one net."""
        return {name: value[index].detach().clone() for name, value in self.parameters.items()}


def train_together(
    members: list[Member],
    loss: StackedLoss,
    training: list[Part],
    validation: list[Part],
    judge: Judge,
    rules: tuple[str, ...],
    config: TrainingConfig,
    seeds: list[int],
    on_epoch: Callable[[dict[str, Any]], None] = lambda line: None,
) -> None:
    """Train every member until its own early stopping ends it; outcomes are left in the members.

    `training`, `validation` and `seeds` have one entry per group.
    """
    x, y = _stacked_parts(training)
    x_validation, y_validation = _stacked_parts(validation)
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    kept_rules = rules[:1] if config.keep_best_of == "argmax" else rules
    running = list(range(len(members)))  # indices of members, in the order of the stack
    stack = Stack([member.net for member in members])
    optimizer = _StackAdam(stack, config.learning_rate)
    # Adam works entry by entry, so one for the losses' parameters is as good as one for all.
    own = loss.parameters()
    losses_optimizer = torch.optim.Adam(own, lr=config.learning_rate, fused=True) if own else None
    started = time.perf_counter()
    for epoch in range(1, config.epochs + 1):
        order = torch.stack([torch.randperm(x.shape[1], generator=g) for g in generators])
        group = torch.tensor([members[i].group for i in running])
        loss.begin_epoch(epoch)
        losses = []
        for some in order.split(config.batch_size, dim=1):
            batch = x[torch.arange(len(x)).unsqueeze(1), some][group]  # (B, n, D)
            truth = y.gather(1, some)[group]  # (B, n)
            outputs = stack(batch)  # (B, n, C)
            if losses_optimizer:
                losses_optimizer.zero_grad(set_to_none=True)
            values, gradient = loss(outputs.detach(), truth)  # (B), (B, n, C)
            outputs.backward(gradient)
            optimizer.step()
            if losses_optimizer:
                losses_optimizer.step()
            losses.append(values)
        batch_losses = torch.stack(losses, dim=1)  # (B, batches)
        _note_failures(members, running, batch_losses, epoch)
        with torch.inference_mode():
            p = loss.logits(stack(x_validation[group])).softmax(-1)  # (B, n, C)
        for position in p.sum((1, 2)).isnan().nonzero().flatten().tolist():
            member = members[running[position]]
            member.failure = member.failure or outputs_not_finite(epoch)
        _note_epoch(
            members, running, stack, batch_losses, p, y_validation, judge, rules, kept_rules, epoch,
            config.stop_on,
        )  # fmt: skip
        seconds = time.perf_counter() - started
        left = []
        for position, index in enumerate(running):
            member = members[index]
            if member.failure or member.stopping.is_over(epoch) or epoch == config.epochs:
                member.outcome.seconds["train"] = seconds
            else:
                left.append(position)
        on_epoch({"epoch": epoch, "training": len(left)})
        if not left:
            break
        if len(left) < len(running):
            running = [running[position] for position in left]
            optimizer.keep(torch.tensor(left))
            loss = loss.keep(torch.tensor(left))
    for member in members:
        for rule in rules[len(kept_rules) :]:
            if not member.failure:
                member.outcome.states[rule] = member.outcome.states["argmax"]
                member.outcome.best_epoch[rule] = member.outcome.best_epoch["argmax"]


def _stacked_parts(parts: list[Part]) -> tuple[Tensor, Tensor]:
    """Inputs (G, n, D), made ready, and labels (G, n)."""
    return (
        torch.stack([part.ready(part.inputs) for part in parts]),
        torch.stack([part.labels for part in parts]),
    )


class _StackAdam:
    """Adam for a stack from which nets can be dropped.

    Equals torch.optim.Adam. The class itself loads torch's compiler, which takes two seconds in
    every worker; the function behind it does not.
    """

    def __init__(self, stack: Stack, learning_rate: float) -> None:
        self.stack, self.learning_rate = stack, learning_rate
        values = [value.requires_grad_() for value in stack.parameters.values()]
        self.means, self.squares = ([torch.zeros_like(value) for value in values] for _ in range(2))
        self.steps = [torch.zeros(()) for _ in values]

    def step(self) -> None:
        """Change the parameters by their gradients, and forget these."""
        values = list(self.stack.parameters.values())
        gradients = [value.grad for value in values if value.grad is not None]  # all of them
        with torch.no_grad():
            adam(
                values, gradients, self.means, self.squares, [], self.steps, fused=True,
                amsgrad=False, maximize=False, beta1=0.9, beta2=0.999, eps=1e-8,
                lr=self.learning_rate, weight_decay=0.0,
            )  # fmt: skip
        for value in values:
            value.grad = None

    def keep(self, left: Tensor) -> None:
        """Drop all other nets, from the stack too."""
        parameters = self.stack.parameters
        self.stack.parameters = {
            name: value.detach()[left].requires_grad_() for name, value in parameters.items()
        }
        self.means = [each[left] for each in self.means]
        self.squares = [each[left] for each in self.squares]


def _note_failures(
    members: list[Member], running: list[int], batch_losses: Tensor, epoch: int
) -> None:
    for position, index in enumerate(running):
        broken = ~batch_losses[position].isfinite()
        if bool(broken.any()):
            batch = int(broken.nonzero()[0])
            members[index].failure = (
                f"the loss became {batch_losses[position, batch].item()} in epoch {epoch}, "
                f"batch {batch + 1}; a lower learning rate may help."
            )


def _note_epoch(
    members: list[Member],
    running: list[int],
    stack: Stack,
    batch_losses: Tensor,
    p: Tensor,
    truth: Tensor,
    judge: Judge,
    rules: tuple[str, ...],
    kept_rules: tuple[str, ...],
    epoch: int,
    metric: str,
) -> None:
    """Write each member's line of history, and keep its weights where it is at its best."""
    finite = torch.tensor([members[index].failure is None for index in running])
    answers = {rule: judge.answers(p[finite], rule) for rule in rules} if finite.any() else {}
    rows = iter(range(len(running)))
    for position, index in enumerate(running):
        member = members[index]
        if member.failure:
            continue
        row = next(rows)
        line: dict[str, Any] = {
            "epoch": epoch,
            "loss": float(batch_losses[position].mean()),
            "validation": {},
        }
        for rule in rules:
            value = judge.metric(metric, answers[rule][row], truth[member.group], p[position])
            line["validation"][rule] = value
            if rule in kept_rules and member.stopping.improved(rule, value, epoch):
                member.outcome.states[rule] = stack.state(position)
                member.outcome.best_epoch[rule] = epoch
        member.outcome.history.append(line)
