"""Two mistakes that raise no error: a softmax too many, and labels that count from 1.

A loss module checks only its first batches, so that training pays nothing for it.
"""

import warnings
from collections.abc import Iterator

import torch
from torch import Tensor

from .. import _checks

# Labels are counted in at most this many batches, and only until class 0 occurs.
_MOST_BATCHES = 100
# If every other class occurs this often and class 0 never, it is not just rare.
_OFTEN = 30
# Random logits do not sum to 1 in two rows; float16 rounds a softmax by less than this.
_ROUNDING = 2e-3


class FirstLook:
    """What a loss has seen of its first batches; `is_over` once nothing is left to check."""

    def __init__(self) -> None:
        self.is_over = False
        self._batches = 0
        self._counts = torch.zeros(1, dtype=torch.long)  # (C) from the first batch on

    def at(self, input: Tensor, target: Tensor) -> None:
        """Warn about a batch, at most once for each mistake."""
        for mistake in self._mistakes(input.detach(), target):
            warnings.warn(mistake, stacklevel=5)  # where the module was called

    def _mistakes(self, input: Tensor, target: Tensor) -> Iterator[str]:
        if not (_checks.values_can_be_read(input) and _checks.values_can_be_read(target)):
            self.is_over = True  # on another device, reading values would make it wait
            return
        if self._batches == 0 and _are_probabilities(input):
            yield (
                "`input` must be logits, but every example of the first batch sums to 1 like "
                "probabilities; leave out the softmax before the loss."
            )
        self._batches += 1
        num_classes = input.shape[min(1, input.ndim - 1)]
        if target.is_floating_point() or num_classes < 3 or self._batches > _MOST_BATCHES:
            self.is_over = True
            return
        self._count(target, num_classes)
        if self._counts[0] > 0:
            self.is_over = True
        elif int(self._counts[1:].min()) >= _OFTEN:
            self.is_over = True
            yield (
                f"`target` must be class indices from 0 on, but class 0 does not occur in the "
                f"first {int(self._counts.sum()):,} labels and every other class does; if "
                f"labels count from 1, pass `target - 1` and give the net one class less."
            )

    def _count(self, target: Tensor, num_classes: int) -> None:
        valid = target[(target >= 0) & (target < num_classes)].long()  # without the ignored ones
        self._counts = self._counts + torch.bincount(valid, minlength=num_classes)


def _are_probabilities(input: Tensor) -> bool:
    """Whether each of several rows is at least 0 and sums to 1."""
    if input.ndim < 2 or input.shape[1] < 2 or input.numel() < 2 * input.shape[1]:
        return False
    for some in (input[:2], input):  # of logits, two rows are enough to know
        if not (bool(some.min() >= 0) and bool(((some.sum(1) - 1).abs() < _ROUNDING).all())):
            return False
    return True
