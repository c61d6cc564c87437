"""The last layer and the loss in one: from features to the loss, without holding all logits."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..similarity import ClassGraph, as_similarity
from .contract import Formula, Options, is_eager
from .formula import formula_loss
from .module import SimilarityLoss
from .over_chunks import Linear, loss_over_chunks
from .proper import PROPER_SIM_LOSS
from .sim import SIM_LOSS
from .soft_target import SOFT_TARGET_LOSS


def linear_sim_loss(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    similarity: Any,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    cross_entropy_share: float = 0.0,
    smoothness: float | ClassGraph = 0.0,
    example_weight: Tensor | None = None,
) -> Tensor:
    r"""The last layer of a net and :func:`simloss.sim_loss` in one, for very many classes.

    .. math:: \ell(W x + b,\, y)

    It equals ``sim_loss(F.linear(input, linear_weight, linear_bias), target, similarity, ...)``,
    value and gradients, but processes a few examples at a time, so that the N x C logits are never
    held: for the vocabulary of a language model or extreme classification. It is named after
    `torch.nn.functional.linear_cross_entropy`.

    With `reduction` "mean" or "sum" the gradients are computed in the forward pass and scaled in
    the backward pass; with "none" they are computed in the backward pass. A second backward pass,
    one that is itself differentiated, `torch.compile` and `torch.func` work too; the last three
    hold the logits.

    Args:
        input: features, (D), (N, D) or (..., D).
        linear_weight: the weight of the last layer, (C, D); it may also be that of an embedding.
        target: class indices, () or (N) or (...); or class probabilities, (C) or (N, C) or
            (..., C).
        similarity: as in :func:`simloss.sim_loss`.
        linear_bias: the bias of the last layer, (C).
        weight: a weight per class, (C).
        ignore_index: a target that does not count.
        reduction: "mean", "sum" or "none".
        label_smoothing: in [0, 1]; the share of the uniform distribution in the target.
        cross_entropy_share: in [0, 1]; the share of plain cross entropy in the loss.
        smoothness: as in :func:`simloss.sim_loss`.
        example_weight: a weight per example or token, in the shape of the class indices. The
            mean is then a weighted mean.

    Returns:
        A scalar, or with reduction "none" a tensor in the shape of the class indices.

    Example:
        >>> import torch, simloss
        >>> from torch.nn.functional import linear
        >>> S = simloss.similarity.order(1000, r=0.8)
        >>> features, W = torch.randn(4, 16), torch.randn(1000, 16, requires_grad=True)
        >>> y = torch.tensor([3, 14, 159, 265])
        >>> loss = simloss.linear_sim_loss(features, W, y, S)
        >>> loss.backward()
        >>> bool(torch.isclose(loss, simloss.sim_loss(linear(features, W), y, S)))
        True
    """
    options = Options(
        *(weight, ignore_index, reduction, label_smoothing),
        *(cross_entropy_share, smoothness, example_weight),
    )
    return _linear_loss(
        SIM_LOSS, Linear(input, linear_weight, linear_bias), target, similarity, options
    )


def linear_proper_sim_loss(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    similarity: Any,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    cross_entropy_share: float = 0.0,
    smoothness: float | ClassGraph = 0.0,
    example_weight: Tensor | None = None,
) -> Tensor:
    r"""The last layer of a net and :func:`simloss.proper_sim_loss` in one.

    .. math:: \ell(W x + b,\, y)

    It needs S p for all classes, so it is fast with an order, O(C) per example, or with sparse
    rows, one step per entry; a stored or computed S costs O(C^2) per example.

    Args: as :func:`simloss.linear_sim_loss`.

    Returns:
        As :func:`simloss.linear_sim_loss`.

    Example:
        >>> import torch, simloss
        >>> S = simloss.similarity.order(3, r=0.5)
        >>> x, W, y = torch.zeros(2, 4), torch.zeros(3, 4), torch.tensor([0, 1])
        >>> simloss.linear_proper_sim_loss(x, W, y, S)
        tensor(0.4544)
    """
    options = Options(
        *(weight, ignore_index, reduction, label_smoothing),
        *(cross_entropy_share, smoothness, example_weight),
    )
    return _linear_loss(
        PROPER_SIM_LOSS, Linear(input, linear_weight, linear_bias), target, similarity, options
    )


def linear_soft_target_loss(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    similarity: Any,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    cross_entropy_share: float = 0.0,
    smoothness: float | ClassGraph = 0.0,
    example_weight: Tensor | None = None,
) -> Tensor:
    r"""The last layer of a net and :func:`simloss.soft_target_loss` in one.

    .. math:: \ell(W x + b,\, y)

    Args: as :func:`simloss.linear_sim_loss`.

    Returns:
        As :func:`simloss.linear_sim_loss`.

    Example:
        >>> import torch, simloss
        >>> S = simloss.similarity.order(3, r=0.5)
        >>> x, W, y = torch.zeros(2, 4), torch.zeros(3, 4), torch.tensor([0, 1])
        >>> simloss.linear_soft_target_loss(x, W, y, S)
        tensor(1.0986)
    """
    options = Options(
        *(weight, ignore_index, reduction, label_smoothing),
        *(cross_entropy_share, smoothness, example_weight),
    )
    return _linear_loss(
        SOFT_TARGET_LOSS, Linear(input, linear_weight, linear_bias), target, similarity, options
    )


def _linear_loss(
    formula: Formula, linear: Linear, target: Tensor, similarity: Any, options: Options
) -> Tensor:
    similarity = as_similarity(similarity)
    C = similarity.num_classes
    _checks.linear_shapes(*linear, C)
    shape = linear.input.shape[:-1]
    _checks.linear_target(linear.input, target, C)
    options = options.checked(target, similarity)
    if options.example_weight is not None:
        examples = _checks.example_weight(options.example_weight, linear.input)
        options = options._replace(example_weight=examples.reshape(-1))
    linear = linear._replace(input=linear.input.reshape(-1, linear.input.shape[-1]))  # (N, D)
    target = target.reshape(-1, C) if target.is_floating_point() else target.reshape(-1)
    linear = _as_autocast(linear)
    if is_eager(linear, target, similarity, options):
        loss = loss_over_chunks(formula, linear, target, similarity, options)
    else:
        logits = torch.nn.functional.linear(*linear)
        loss = formula_loss(formula, logits, target, similarity, options)
    return loss if loss.ndim == 0 or len(shape) == 1 else loss.reshape(shape)


def _as_autocast(linear: Linear) -> Linear:
    """The last layer in the dtype of autocast, if that is on."""
    device = linear.input.device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return linear
    dtype = torch.get_autocast_dtype(device)
    if linear.input.dtype == torch.float64:  # as in F.linear: autocast leaves float64 alone
        return linear
    bias = None if linear.bias is None else linear.bias.to(dtype)
    return Linear(linear.input.to(dtype), linear.weight.to(dtype), bias)


class LinearSimLoss(SimilarityLoss):
    """:func:`simloss.linear_sim_loss` as a module that holds the last layer, as `self.linear`.

    Named after `torch.nn.LinearCrossEntropyLoss`, whose checkpoints it loads. To tie the layer to
    an embedding: ``loss.linear.weight = embedding.weight``.

    Args:
        in_features: D.
        num_classes: C.
        similarity: over the C classes.
        bias: whether the last layer has a bias.
        device, dtype: those of the last layer.
        **options: those of :class:`simloss.SimLoss`.

    Example:
        >>> import torch, simloss
        >>> loss = simloss.LinearSimLoss(16, 1000, simloss.similarity.order(1000, r=0.8))
        >>> loss
        LinearSimLoss(
          order(1000 classes, r=0.8)
          (linear): Linear(in_features=16, out_features=1000, bias=False)
        )
        >>> loss(torch.randn(4, 16), torch.tensor([3, 14, 159, 265])).backward()
    """

    function = staticmethod(linear_sim_loss)

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        similarity: Any,
        *,
        bias: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        cross_entropy_share: float = 0.0,
        smoothness: float | ClassGraph = 0.0,
        examples: int | None = None,
    ) -> None:
        super().__init__(
            similarity,
            weight=weight,
            ignore_index=ignore_index,
            reduction=reduction,
            label_smoothing=label_smoothing,
            cross_entropy_share=cross_entropy_share,
            smoothness=smoothness,
            examples=examples,
        )
        _checks.class_counts_agree("similarity", self._num_classes, "num_classes", num_classes)
        self.linear = torch.nn.Linear(
            in_features, num_classes, bias=bias, device=device, dtype=dtype
        )

    def forward(
        self, input: Tensor, target: Tensor, example_weight: Tensor | None = None
    ) -> Tensor:
        return type(self).function(
            input,
            self.linear.weight,
            target,
            self.similarity,
            linear_bias=self.linear.bias,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
            cross_entropy_share=self.cross_entropy_share,
            smoothness=self._graph or 0.0,
            example_weight=example_weight,
        )


class LinearProperSimLoss(LinearSimLoss):
    """:func:`simloss.linear_proper_sim_loss` as a module, as :class:`simloss.LinearSimLoss`.

    Example:
        >>> import simloss
        >>> loss = simloss.LinearProperSimLoss(16, 90, simloss.similarity.order(90, r=0.8))
    """

    function = staticmethod(linear_proper_sim_loss)


class LinearSoftTargetLoss(LinearSimLoss):
    """:func:`simloss.linear_soft_target_loss` as a module, as :class:`simloss.LinearSimLoss`.

    Example:
        >>> import simloss
        >>> loss = simloss.LinearSoftTargetLoss(16, 90, simloss.similarity.order(90, r=0.8))
    """

    function = staticmethod(linear_soft_target_loss)
