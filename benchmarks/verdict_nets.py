"""Tables whose truth is known, and small nets trained on their splits, thousands at a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from simloss import similarity
from simloss.loss.registry import LOSSES

RULES = ("argmax", "median")
FRESH = 1000  # examples that no run has seen, by which the truth is known
_HIDDEN, _STEPS, _LOOK, _RATE = 8, 80, 4, 0.05

Arm = tuple[str, float | None]
CROSS_ENTROPY: Arm = ("cross-entropy", None)


@dataclass(frozen=True)
class World:
    """Where data sets come from, and what is compared on them.

    With `own_noise` all arms are cross entropy, each with a column of noise and initial weights of
    its own: what one of them gains is luck, by symmetry, though it is the same luck in all runs.
    With `folds` every five runs are a cross-validation: each example is tested with once.
    """

    examples: int
    classes: int
    signal: float
    arms: tuple[Arm, ...]
    own_noise: bool = False
    columns: int = 6
    runs: int = 10
    folds: bool = False

    def table(self, seed: int) -> tuple[Tensor, Tensor]:
        """Inputs and classes of a data set and of fresh examples behind it."""
        draw = torch.Generator().manual_seed(seed)
        total = self.examples + FRESH
        w, v = (torch.randn(self.columns, generator=draw) for _ in range(2))
        x = torch.randn(total, self.columns, generator=draw)
        mean = x @ (w / w.norm()) + 0.5 * torch.tanh(2 * x @ (v / v.norm()))
        latent = self.signal * mean + torch.randn(total, generator=draw)
        edges = latent[self.examples :].quantile(torch.linspace(0, 1, self.classes + 1)[1:-1])
        return x, torch.bucketize(latent, edges)

    def splits(self, seed: int) -> list[tuple[Any, Any, Any]]:
        """Training, validation and test examples of each run: 60, 20 and 20 %."""
        draw, fifth = np.random.default_rng(seed), self.examples // 5
        orders = [draw.permutation(self.examples) for _ in range(self.runs)]
        if self.folds:
            orders = [np.roll(orders[i - i % 5], -(i % 5) * fifth) for i in range(self.runs)]
        return [(o[2 * fifth :], o[fifth : 2 * fifth], o[:fifth]) for o in orders]


Numbers = dict[str, np.ndarray[Any, Any]]


def trained(world: World, seed: int) -> Numbers:
    """Mean errors on "validation", "test" and "truth", (runs, arms, rules), and the constant's."""
    x, y = world.table(seed)
    count, arms, B = world.examples, len(world.arms), len(world.arms) * world.runs
    draw = torch.Generator().manual_seed(seed + 10**6)
    own = torch.randn(arms, len(x), 1, generator=draw)

    def inputs(examples: Any) -> Tensor:
        """Of every arm, (arms, n, D)."""
        shared = x[examples].expand(arms, -1, -1)
        return torch.cat([shared, own[:, examples]], -1) if world.own_noise else shared

    splits = world.splits(seed)
    xs = [torch.stack([inputs(s[i]) for s in splits], 1).flatten(0, 1) for i in range(3)]
    ys = [torch.stack([y[s[i]] for s in splits]).repeat(arms, 1) for i in range(3)]  # (B, n)
    net = _Nets(world, xs[0].shape[-1], draw)
    losses = [_loss(arm, world.classes) for arm in world.arms]
    optimizer = torch.optim.Adam(net.parameters, lr=_RATE, fused=True)
    best = {rule: torch.full((B,), torch.inf) for rule in RULES}
    kept = {rule: [p.detach().clone() for p in net.parameters] for rule in RULES}
    for step in range(1, _STEPS + 1):
        optimizer.zero_grad(set_to_none=True)
        z = net(xs[0]).view(arms, -1, world.classes)
        truth = ys[0].view(arms, -1)
        sum(loss(z[i], truth[i]) for i, loss in enumerate(losses)).backward()
        optimizer.step()
        if step % _LOOK == 0:
            with torch.inference_mode():
                p = net(xs[1]).softmax(-1)
            for rule in RULES:
                error = _errors(p, ys[1], rule)
                better = error < best[rule]
                best[rule][better] = error[better]
                for old, new in zip(kept[rule], net.parameters, strict=True):
                    old[better] = new.detach()[better]
    fresh = np.arange(count, len(x))
    places = {
        "validation": (xs[1], ys[1]),
        "test": (xs[2], ys[2]),
        "truth": (inputs(fresh).repeat_interleave(world.runs, 0), y[fresh].expand(B, -1)),
    }
    found = {
        name: np.stack(
            [
                _errors(net(given, kept[rule]).softmax(-1), labels, rule)
                .view(arms, world.runs)
                .T.numpy()
                for rule in RULES
            ],
            -1,
        )
        for name, (given, labels) in places.items()
    }
    middle = ys[0][: world.runs].float().quantile(0.5, dim=1, interpolation="lower")
    found["constant"] = (ys[2][: world.runs] - middle[:, None]).abs().mean(-1).numpy()
    return found


class _Nets:
    """One hidden layer each; nets of one run begin alike unless arms are to have luck."""

    def __init__(self, world: World, columns: int, draw: torch.Generator) -> None:
        arms, runs = len(world.arms), world.runs
        starts, again = (arms * runs, 1) if world.own_noise else (runs, arms)

        def weights(*shape: int) -> Tensor:
            drawn = torch.randn(starts, *shape, generator=draw) / shape[0] ** 0.5
            return drawn.repeat(again, 1, 1).requires_grad_()

        zeros = [torch.zeros(arms * runs, 1, n).requires_grad_() for n in (_HIDDEN, world.classes)]
        self.parameters = [
            weights(columns, _HIDDEN), zeros[0], weights(_HIDDEN, world.classes), zeros[1],
        ]  # fmt: skip

    def __call__(self, x: Tensor, parameters: list[Tensor] | None = None) -> Tensor:
        """(B, n, D) -> logits (B, n, C)."""
        w, b, v, c = parameters or self.parameters
        return torch.baddbmm(c, torch.tanh(torch.baddbmm(b, x, w)), v)


def _loss(arm: Arm, classes: int) -> nn.Module:
    name, r = arm
    known = similarity.order(classes, r=r) if r is not None else None
    made: nn.Module = LOSSES[name].make(known, reduction="sum")
    return made


def _errors(p: Tensor, truth: Tensor, rule: str) -> Tensor:
    """The mean error of every net, (B)."""
    below = (p.cumsum(-1) < 0.5).sum(-1).clamp(max=p.shape[-1] - 1)
    answers = p.argmax(-1) if rule == "argmax" else below
    return (answers - truth).abs().float().mean(-1)


def solved(world: World, seed: int, own: int = 10) -> Numbers:
    """The same of linear regressions with `own` columns of noise each: nothing random in training.

    What an arm gains on one split it then gains on the next, the hardest case for a test that
    counts runs.
    """
    x, y = (tensor.double().numpy() for tensor in world.table(seed))
    draw, arms = np.random.default_rng(seed), len(world.arms)
    noise = draw.normal(size=(arms, len(x), own))
    wide = np.broadcast_to(x, (arms, *x.shape))
    X = np.concatenate([np.ones((arms, len(x), 1)), wide, noise], -1)
    found: dict[str, list[Any]] = {"validation": [], "test": [], "constant": []}
    for train, validation, test in world.splits(seed):
        A = X[:, train]
        gram = A.swapaxes(1, 2) @ A + 0.1 * np.eye(X.shape[-1])
        b = np.linalg.solve(gram, (A * y[train][:, None]).sum(1)[..., None])  # (arms, D, 1)
        for name, some in (("validation", validation), ("test", test)):
            answers = np.clip(np.rint((X[:, some] @ b)[..., 0]), 0, world.classes - 1)
            found[name].append(np.abs(answers - y[some]).mean(-1)[:, None])
        found["constant"].append(np.abs(y[test] - np.median(y[train])).mean())
    return {name: np.array(values) for name, values in found.items()}
