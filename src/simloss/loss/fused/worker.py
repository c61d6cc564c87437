"""One part of a batch through a kernel."""

import torch
from torch import Tensor

from ..problem import Problem
from .choose import log_operator, operator, reads_values
from .kernel import apply
from .log_operator import LogOperator
from .operator import BLOCK_ENTRIES, Operator
from .targets import Targets


class Worker:
    """The kernel of a problem with all it needs but the logits.

    `scale` is what the gradient of each row is multiplied by, (M, 1) or one number.

    Attributes:
        dtype: of the work.
        rows_at_once: rows in a part.
        may_be_unsound: whether a loss can be NaN because linear space was not enough.
        needs_logits: whether the gradient may not be written over the logits.
    """

    def __init__(self, problem: Problem, targets: Targets, scale: Tensor | float) -> None:
        assert problem.formula.kernel is not None
        self._kernel = problem.formula.kernel
        self._share = problem.cross_entropy_share
        self._targets = targets
        self._scale = scale
        self.dtype = problem.dtype
        self._similarity = problem.similarity
        self.num_classes = problem.similarity.num_classes
        self.may_be_unsound = reads_values(problem.input)
        self._S: Operator | LogOperator
        if self.may_be_unsound:
            self._S = operator(problem.similarity, problem.dtype)
            self.rows_at_once = self._S.rows_at_once()
        else:
            self._S = log_operator(problem.similarity, problem.dtype)
            self.rows_at_once = max(1, BLOCK_ENTRIES // self.num_classes)
        self.needs_logits = self._kernel.needs_logits or not self.may_be_unsound

    def losses(
        self, z: Tensor, rows: slice | Tensor, out: Tensor, *, wants_gradient: bool
    ) -> Tensor:
        """The losses of some rows, (m), from their logits (m, C); `out` gets their gradient.

        `out` may be z unless :attr:`needs_logits`. Unsound rows have the loss NaN.
        """
        return self._apply(self._S, z, rows, out, wants_gradient)

    def losses_over(self, z: Tensor, first: int, *, wants_gradient: bool) -> Tensor:
        """The same in parts, for the rows from `first` on; the gradient is written over z."""
        losses = []
        for start in range(0, z.shape[0], self.rows_at_once):
            part = z[start : start + self.rows_at_once]
            out = torch.empty_like(part) if self.needs_logits else part
            rows = slice(first + start, first + start + part.shape[0])
            losses.append(self.losses(part, rows, out, wants_gradient=wants_gradient))
            if out is not part and wants_gradient:
                part.copy_(out)
        return losses[0] if len(losses) == 1 else torch.cat(losses)

    def losses_again(
        self, z: Tensor, rows: Tensor, *, wants_gradient: bool
    ) -> tuple[Tensor, Tensor]:
        """Losses and gradient of some rows in log space.

        In float64: there are few of them, and a logit of 1000 has a rounding of 6e-5 in float32.
        """
        S = log_operator(self._similarity, torch.float64)
        step = max(1, BLOCK_ENTRIES // self.num_classes // 16)
        z = z.double()
        out = torch.empty_like(z)
        losses = [
            self._apply(S, some, which, into, wants_gradient)
            for some, which, into in zip(
                z.split(step), rows.split(step), out.split(step), strict=True
            )
        ]
        return torch.cat(losses).to(self.dtype), out.to(self.dtype)

    def _apply(
        self,
        S: Operator | LogOperator,
        z: Tensor,
        rows: slice | Tensor,
        out: Tensor,
        wants_gradient: bool,
    ) -> Tensor:
        scale = self._scale[rows] if isinstance(self._scale, Tensor) else self._scale
        target = self._targets.part(rows, z.dtype, self.num_classes)
        return apply(
            self._kernel,
            z,
            target,
            S,
            scale=scale,
            share=self._share,
            out=out,
            wants_gradient=wants_gradient,
        )


def row_scale(targets: Targets, reduction: str) -> Tensor | float:
    """What the gradient of each row is multiplied by, (M, 1) or one number."""
    divisor = targets.divisor if reduction == "mean" else 1.0
    if targets.rows is not None:
        scale = targets.rows / divisor
        if targets.counts is not None:
            scale = torch.where(targets.counts, scale, 0.0)
        return scale.unsqueeze(1)
    if isinstance(divisor, Tensor):
        assert targets.y is not None
        return (1 / divisor).expand(targets.y.shape[0], 1)
    return 1 / divisor
