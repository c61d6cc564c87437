"""The contract of `F.cross_entropy`, once for every loss; and which of two paths a call takes.

A loss is a `Formula`: the cost of an answer if a given class is true, and its cost for each class
that could be true. `formula.py` adds shapes, weights and reductions in plain torch;
`kernel.py` does the same, with the gradient, in C.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _checks
from ..similarity import ClassGraph, Similarity, as_similarity, class_graph
from . import kernel
from .formula import formula_loss
from .kernel import kernel_loss


class Formula(NamedTuple):
    """A loss of logits z (M, C), whose largest entry in each row is 0, and a similarity.

    Attributes:
        of_target: (z, y (M), S) -> loss of each row if class y is true, (M).
        of_each_class: (z, S) -> loss of each row for every class that could be true, (M, C).
        name: the kernel's name for the same loss; None if the kernel does not have it.
    """

    of_target: Callable[[Tensor, Tensor, Similarity], Tensor]
    of_each_class: Callable[[Tensor, Similarity], Tensor]
    name: str | None = None


class Options(NamedTuple):
    """The options of a call besides logits, target and similarity; `example_weight` is (M)."""

    weight: Tensor | None = None
    ignore_index: int = -100
    reduction: str = "mean"
    label_smoothing: float = 0.0
    cross_entropy_share: float = 0.0
    smoothness: float | ClassGraph = 0.0
    example_weight: Tensor | None = None

    @property
    def graph(self) -> ClassGraph | None:
        """The class graph that `smoothness` has become in checked options."""
        return self.smoothness if isinstance(self.smoothness, ClassGraph) else None

    def checked(self, target: Tensor, similarity: Similarity) -> "Options":
        """The same options, checked; weights become a tensor and smoothness its graph."""
        num_classes = similarity.num_classes
        _checks.choice("reduction", self.reduction, _checks.REDUCTIONS)
        if self.label_smoothing or self.cross_entropy_share:
            _checks.share("label_smoothing", self.label_smoothing)
            _checks.share("cross_entropy_share", self.cross_entropy_share)
        if target.is_floating_point():
            _checks.no_ignored_class(self.ignore_index)
        if similarity.num_rows > num_classes and (
            self.weight is not None or self.cross_entropy_share
        ):
            raise ValueError(
                "`weight` and `cross_entropy_share` must not be given with a similarity that has "
                "rows for inner nodes, because they do not apply to them."
            )
        options = self
        if self.smoothness != 0.0:
            options = self._replace(smoothness=smooth_graph(self.smoothness, similarity))
        if self.weight is None:
            return options
        return options._replace(weight=_checks.class_weight(self.weight, num_classes))


def smooth_graph(smoothness: float | ClassGraph, similarity: Similarity) -> ClassGraph:
    """The edges along which logits should be smooth, with their weights beside the mean loss."""
    if isinstance(smoothness, ClassGraph):
        _checks.class_counts_agree(
            "smoothness", smoothness.num_classes, "similarity", similarity.num_classes
        )
        return smoothness
    return _checks.at_least_zero("smoothness", smoothness) * class_graph(similarity)


def loss_by_contract(
    formula: Formula, input: Tensor, target: Tensor, similarity: Any, **options: Any
) -> Tensor:
    r"""Apply a formula the way `F.cross_entropy` applies its own.

    With :math:`\ell(y)` the formula's loss for true class y, :math:`w` the class weights and
    :math:`\epsilon` the label smoothing, an example of class y costs

    .. math:: (1 - \epsilon)\, w_y \ell(y) + \frac{\epsilon}{C} \sum_c w_c \ell(c)

    and one with class probabilities t costs
    :math:`\sum_c w_c \bigl((1 - \epsilon) t_c + \epsilon / C\bigr) \ell(c)`. A
    `cross_entropy_share` and `smoothness` are part of :math:`\ell`.

    Logits, target, similarity and keywords are those of :func:`simloss.sim_loss`.
    """
    return applied(formula, input, target, similarity, Options(**options))


def applied(
    formula: Formula, input: Tensor, target: Tensor, similarity: Any, options: Options
) -> Tensor:
    """The loss of a call whose arguments are not checked yet."""
    similarity = as_similarity(similarity)
    num_classes = _checks.logits(input)
    _checks.same_class_count(similarity.num_classes, input, num_classes)
    _checks.target_is_index(input, target)
    options = options.checked(target, similarity)
    if is_eager((input,), target, similarity, options) and suits(formula, input, similarity):
        return kernel_loss(formula, input, target, similarity, options)
    return formula_loss(formula, input, target, similarity, options)


def suits(formula: Formula, input: Tensor, similarity: Similarity) -> bool:
    """Whether the kernel supports the loss, the structure of S and the kind of logits."""
    return (
        kernel.native_kernel()
        and formula.name is not None
        and similarity.structure in kernel.STRUCTURES
        and input.device.type == "cpu"
        and input.dtype in kernel.DTYPES
    )


def is_eager(
    inputs: tuple[Tensor | None, ...], target: Tensor, similarity: Similarity, options: Options
) -> bool:
    """Whether the gradient may be computed with the loss: for the input only, in a plain backward.

    Compilers, transforms, forward mode and other gradients need the graph of the formula.
    """
    if (
        torch.compiler.is_compiling()
        or torch._C._are_functorch_transforms_active()
        or torch.autograd.forward_ad._current_level >= 0
        or torch.jit.is_tracing()  # type: ignore[attr-defined]
    ):
        return False
    for each in inputs:
        if each is not None and not _holds_values(each):
            return False
    graph = None if options.graph is None else options.graph.weight
    for constant in (
        *(target, options.weight, options.example_weight, graph),
        *similarity.tensors.values(),
    ):
        if constant is not None and constant.requires_grad:
            return False
    return True


def _holds_values(tensor: Tensor) -> bool:
    kind = type(tensor)
    is_plain = kind is Tensor or kind is torch.nn.Parameter
    # What a transform has left behind looks like a tensor, but has no memory of its own.
    is_plain = is_plain and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    return is_plain and tensor.device.type != "meta" and tensor.numel() > 0
