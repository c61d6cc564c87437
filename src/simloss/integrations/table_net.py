"""A small net for tables that trains with a weight per example."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import _threads

# The number of rows in one forward pass without gradients.
_EVALUATION_ROWS = 4096


class TableNet:
    """A net, the scaling of its inputs, and its optimiser; it can be pickled at any time.

    The net works in the dtype of `like`: in float64 a weight of 2 equals two copies of an example
    to the last digits, if the batch is all of the data.
    """

    def __init__(
        self,
        like: Tensor,
        weights: Tensor,
        num_classes: int,
        *,
        hidden: Sequence[int],
        learning_rate: float,
        weight_decay: float,
        seed: int,
        device: torch.device,
    ) -> None:
        self.device, self.dtype = device, like.dtype
        self.mean, self.std = _moments(like.double(), weights.double())
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = _layers(like.shape[1], hidden, num_classes).to(like.dtype)
        self.optimizer = torch.optim.AdamW(
            self.net.parameters(), lr=learning_rate, weight_decay=weight_decay
        )
        self.generator = torch.Generator().manual_seed(seed)

    def ready(self, x: Tensor) -> Tensor:
        """The inputs, standardised by the data the net was made with."""
        return ((x.double() - self.mean) / self.std).to(self.dtype)

    def epoch(self, x: Tensor, y: Tensor, weights: Tensor, loss: nn.Module, batch: int) -> float:
        """One pass over prepared inputs; returns the weighted mean of the losses.

        Weights are divided by their overall mean, not by their sum in each batch, so that the
        gradient of a batch is an unbiased estimate of the whole.
        """
        self._move(self.device)
        loss.to(self.device)
        self.net.train()
        weights = weights / weights.mean()
        total = 0.0
        with _threads.suited_to(self.net, batch):
            for some in self._batches(len(y), batch):
                losses = loss(self.net(x[some].to(self.device)), y[some].to(self.device))
                value = (losses * weights[some].to(self.device)).mean()
                self.optimizer.zero_grad(set_to_none=True)
                value.backward()
                self.optimizer.step()
                total += float(value.detach()) * len(some) / len(y)
        self._move(torch.device("cpu"))
        return total

    @torch.no_grad()
    def logits(self, x: Tensor) -> Tensor:
        """The logits of prepared inputs, (N, C)."""
        self.net.eval()
        with _threads.suited_to(self.net, min(len(x), _EVALUATION_ROWS)):
            return torch.cat([self.net(some) for some in x.split(_EVALUATION_ROWS)])

    def _batches(self, count: int, batch: int) -> Sequence[Tensor]:
        if count <= batch:
            return [torch.arange(count)]
        return torch.randperm(count, generator=self.generator).split(batch)

    def _move(self, device: torch.device) -> None:
        """To the device to train on; back to the CPU, where any machine can read a pickle."""
        if next(self.net.parameters()).device != device:
            self.net.to(device)
            self.optimizer.load_state_dict(self.optimizer.state_dict())  # follows the parameters


class Patience:
    """Whether a loss has stopped falling by more than `tol`, and the best so far."""

    def __init__(self, patience: int, tol: float) -> None:
        self.patience, self.tol = patience, tol
        self.best, self.waited = float("inf"), 0

    def is_over(self, value: float, on_best: Callable[[], Any]) -> bool:
        """Called after an epoch with this loss; calls `on_best` if it is the lowest so far."""
        self.waited = 0 if value < self.best - self.tol else self.waited + 1
        if value < self.best:
            self.best = value
            on_best()
        return self.waited >= self.patience


def held_out(
    y: np.ndarray[Any, Any], fraction: float, random: np.random.RandomState
) -> np.ndarray[Any, Any]:
    """The examples to hold out, (N) of bool: random, but the training part keeps every class."""
    drawn = random.permutation(len(y))
    first = np.unique(y[drawn], return_index=True)[1]
    free = np.delete(drawn, first)
    count = min(len(free), max(1, round(fraction * len(y))))
    if count == 0:
        raise ValueError(
            "`early_stopping` needs more examples than there are classes, "
            f"but got n_samples={len(y)}; pass early_stopping=False."
        )
    return np.isin(np.arange(len(y)), free[:count])


def _layers(num_features: int, hidden: Sequence[int], num_classes: int) -> nn.Sequential:
    sizes = [num_features, *hidden]
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], num_classes))


def _moments(x: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Weighted mean and standard deviation of each column; 1 for a constant one."""
    share = (weights / weights.sum()).unsqueeze(1)  # (N, 1)
    mean = (share * x).sum(0)
    std = (share * (x - mean).square()).sum(0).sqrt()
    return mean, std.masked_fill((x == x[:1]).all(0), 1.0)
