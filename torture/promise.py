"""Promises made and kept: `promise_threshold` in many simulated repetitions.

`python -m torture.promise 2000` draws held-out and new examples anew each time, of a model that is
too sure of itself, and prints how often each promise was kept on average.
"""

import sys
from dataclasses import dataclass

import torch
from torch import Tensor

import simloss

TREE = simloss.Tree.from_paths(
    ["bird/song/robin", "bird/song/wren", "bird/crow", "fish/cod", "fish/eel", "rock"]
)
CLASSES = TREE.num_classes
LEVELS = (0.7, 0.9, 0.95)
RISKS = (0.1, 0.3, 0.6)


@dataclass(frozen=True)
class Outcome:
    """How well a promise was kept.

    Attributes:
        promised: the level, or what was to be at most.
        mean: of the repetitions: the share of answers that hold the truth, or the mean loss.
        error: the standard error of that mean.
    """

    promised: float
    mean: float
    error: float


def drawn(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Probabilities of an overconfident model, (N, C), and the true classes, (N)."""
    logits = 1.5 * torch.randn(count, CLASSES, generator=generator, dtype=torch.float64)
    truth = torch.multinomial(logits.softmax(-1), 1, generator=generator).squeeze(1)
    noise = torch.randn(count, CLASSES, generator=generator, dtype=torch.float64)
    return (2.5 * logits + noise).softmax(-1), truth


def losses(kind: str, p: Tensor, truth: Tensor, threshold: float) -> Tensor:
    """How far the truth lies outside of each answer, (N), by the definition."""
    if kind == "node":
        nodes = simloss.decide_node(p, TREE, threshold=threshold).tolist()
        return torch.tensor([_levels(v, k) for v, k in zip(nodes, truth.tolist(), strict=True)])
    if kind == "interval":
        first, last = simloss.decide_interval(p, threshold=threshold).T
        return (first - truth).clamp(min=0) + (truth - last).clamp(min=0)
    inside = simloss.decide_set(p, threshold=threshold)
    away = (torch.arange(CLASSES) - truth.unsqueeze(1)).abs()
    return torch.where(inside, away, CLASSES).amin(1)


def _levels(node: int, truth: int) -> int:
    """Levels to climb from the node until the truth is below."""
    line, at = {truth, *TREE.ancestors(truth)}, node
    while at not in line:
        at = TREE.parents[at]
    return TREE.heights[at] - TREE.heights[node]


def simulate(
    kind: str, *, level: float | None = None, at_most: float | None = None, repetitions: int
) -> Outcome:
    """Fit on 99 held-out examples, answer 20 new ones; repeatedly."""
    answer = TREE if kind == "node" else kind
    cost = "absolute" if kind == "set" and at_most is not None else None
    found = []
    for seed in range(repetitions):
        generator = torch.Generator().manual_seed(seed)
        p, truth = drawn(119, generator)
        threshold = simloss.promise_threshold(
            p[:99], truth[:99], answer, level=level, at_most=at_most, cost=cost
        )
        lost = losses(kind, p[99:], truth[99:], threshold).double()
        found.append(float((lost == 0).double().mean() if level is not None else lost.mean()))
    values = torch.tensor(found, dtype=torch.float64)
    promised = level if level is not None else at_most
    assert promised is not None
    return Outcome(promised, float(values.mean()), float(values.std() / repetitions**0.5))


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{repetitions:,} repetitions, 99 held-out and 20 new examples each\n")
    for kind in ("node", "interval", "set"):
        for level in LEVELS:
            found = simulate(kind, level=level, repetitions=repetitions)
            print(f"{kind:8}  holds the truth  promised {level:.2f}  {_shown(found)}", flush=True)
        for risk in RISKS:
            found = simulate(kind, at_most=risk, repetitions=repetitions)
            print(f"{kind:8}  lies outside by  at most  {risk:.2f}  {_shown(found)}", flush=True)


def _shown(found: Outcome) -> str:
    return f"kept {found.mean:.4f} ± {found.error:.4f}"


if __name__ == "__main__":
    main()
