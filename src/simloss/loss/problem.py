"""What a loss was asked: the arguments of a call, checked, in one value."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import torch
from torch import Tensor

from .. import _checks
from ..similarity import Similarity
from .fused.kernel import Kernel


class Formula(NamedTuple):
    """A loss of logits z (M, C), whose largest entry in each row is 0, and a similarity.

    Attributes:
        of_target: (z, y (M), S) -> loss of each row when class y is true, (M).
        of_each_class: (z, S) -> loss of each row for every class that could be true, (M, C).
        kernel: the same, fused with its gradient; the two above are its judge, and stand in where
            there is none.
    """

    of_target: Callable[[Tensor, Tensor, Similarity], Tensor]
    of_each_class: Callable[[Tensor, Similarity], Tensor]
    kernel: Kernel | None = None


class Problem(NamedTuple):
    """A call of a loss. `example_weight` is (M), M the number of rows the classes are taken from.

    Of the two dtypes, sums are taken in `dtype` and the answer is given in `output_dtype`.
    """

    formula: Formula
    input: Tensor
    target: Tensor
    similarity: Similarity
    weight: Tensor | None
    ignore_index: int
    reduction: str
    label_smoothing: float
    cross_entropy_share: float
    dtype: torch.dtype
    output_dtype: torch.dtype
    example_weight: Tensor | None = None

    @property
    def has_indices(self) -> bool:
        """Whether the target is class indices, not class probabilities."""
        return not self.target.is_floating_point()

    def all_count(self) -> bool:
        """Whether it is known that no class index is ignored; refuses those that are no class."""
        return _checks.target_range(self.target, self.similarity.num_classes, self.ignore_index)

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of a loss that is not reduced."""
        shape = self.input.shape
        return shape[:1] + shape[2:] if len(shape) > 1 else torch.Size()

    @property
    def constants(self) -> list[Tensor | None]:
        """All tensors but the input: a fused loss has no gradient to them."""
        return [self.target, self.weight, self.example_weight, *self.similarity.tensors.values()]

    @property
    def tensors(self) -> list[Tensor | None]:
        """All tensors: the input first, those of the similarity last."""
        return [self.input, *self.constants]

    def without_input(self) -> Self:
        """The same problem, not holding on to the memory of its input."""
        return self._replace(input=self.input.new_empty(0))

    def with_tensors(self, tensors: Sequence[Tensor | None]) -> Self:
        """The same problem with other tensors, in the order of :attr:`tensors`."""
        input, target, weight, example_weight, *values = tensors
        assert input is not None
        assert target is not None
        held = {k: v for k, v in zip(self.similarity.tensors, values, strict=True) if v is not None}
        return self._replace(
            input=input,
            target=target,
            weight=weight,
            example_weight=example_weight,
            similarity=self.similarity.with_tensors(held),
        )
