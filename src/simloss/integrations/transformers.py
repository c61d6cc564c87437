"""The losses for the Trainer of Hugging Face transformers.

It is useful only with the extra `transformers`, but imports nothing from it.
"""

from typing import Any

import torch
from torch import Tensor, nn

from .. import _checks
from ..loss.module import SimilarityLoss
from ..loss.registry import LOSSES, WITH_SIMILARITY
from ..similarity import ClassGraph

# The label that does not count; the Trainer counts with it, so it is fixed.
_IGNORED = -100


def trainer_loss(
    similarity: Any,
    *,
    loss: str = "blended",
    shift: bool | None = None,
    head_of: nn.Module | None = None,
    weight: Tensor | None = None,
    label_smoothing: float = 0.0,
    cross_entropy_share: float = 0.0,
    smoothness: float | ClassGraph = 0.0,
    examples: int | None = None,
) -> "TrainerLoss":
    r"""A loss for ``Trainer(compute_loss_func=...)``.

    .. math:: \frac{1}{M} \sum_{n} \ell(z_n, y_n)

    summed over the labels of a batch that are not -100. M is the ``num_items_in_batch`` that the
    Trainer counts over all batches of an optimizer step, so that accumulated gradients equal those
    of one large batch, however unequal the batches; without it, M counts this batch. `weight` does
    not change M.

    It is for models with logits (N, C) and labels (N), or logits (N, T, C) and labels (N, T):
    sequence and token classification, masked and causal language models.

    Args:
        similarity: over the C classes or tokens, such as :func:`simloss.similarity.tokens`.
        loss: "simloss", "proper", "soft-target" or "blended" (proper with a tenth of cross
            entropy).
        shift: whether the logits of a token predict the next label. By default they do if the
            model returns an output named "...CausalLM...".
        head_of: a model whose last layer the loss computes itself, so that logits (N T, C) are
            never held (:func:`simloss.linear_sim_loss`). From then on the layer
            ``head_of.get_output_embeddings()`` returns its input **while it is in training mode**;
            evaluation, generation and what is saved do not change.
            :meth:`TrainerLoss.give_back_head` undoes it. Models that scale or cap their logits are
            refused; it does not work with sharded parameters (FSDP, ZeRO 3).
        weight: a weight per class, (C).
        label_smoothing: in [0, 1]; the share of the uniform distribution in the target.
        cross_entropy_share: in [0, 1]; the share of plain cross entropy in the loss. 0 leaves it
            to `loss`.
        smoothness: as in :func:`simloss.sim_loss`.
        examples: the number of training examples, or of labels, that sets the smoothness by its
            rule.

    Example:
        >>> import simloss, torch
        >>> from simloss.integrations.transformers import trainer_loss
        >>> from transformers import GPT2Config, GPT2LMHeadModel
        >>> S = simloss.similarity.tokens({str(n): n for n in range(10)}, r=0.7)  # any tokenizer
        >>> sizes = {"vocab_size": 10, "n_embd": 8, "n_layer": 1, "n_head": 2}
        >>> model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=None, eos_token_id=None))
        >>> loss = trainer_loss(S, head_of=model)  # for Trainer(model, compute_loss_func=loss)
        >>> ids = torch.tensor([[3, 1, 4, 1, 5]])
        >>> loss(model(input_ids=ids), labels=ids).backward()  # as the Trainer calls it
    """
    known = LOSSES[_checks.choice("loss", loss, WITH_SIMILARITY)]
    share = {"cross_entropy_share": cross_entropy_share} if cross_entropy_share else {}
    held = known.make(
        similarity,
        weight=weight,
        label_smoothing=label_smoothing,
        smoothness=smoothness,
        examples=examples,
        **share,
    )
    head = None if head_of is None else _Head(_last_layer(head_of, held.similarity.num_classes))
    return TrainerLoss(held, known.linear, shift, head)


class TrainerLoss:
    """The result of :func:`trainer_loss`.

    Attributes:
        module: the loss as a module; its `set_similarity` changes the similarity while training.
    """

    def __init__(
        self, module: SimilarityLoss, linear: Any, shift: bool | None, head: "_Head | None"
    ) -> None:
        self.module = module
        self._linear, self._shift, self._head = linear, shift, head

    def __call__(
        self, outputs: Any, labels: Tensor | None, num_items_in_batch: Tensor | int | None = None
    ) -> Tensor:
        """The loss of a batch, a scalar."""
        if labels is None:
            raise ValueError("`labels` must be given, but the batch has none.")
        scores = outputs["logits"] if isinstance(outputs, dict) else outputs[0]  # (N, [T,] C or D)
        layer = None if self._head is None else self._head.layer_left_to_do(scores)
        if self._shifts(outputs, scores):
            scores, labels = scores[..., :-1, :], labels[..., 1:]
        labels = labels.to(scores.device)
        if num_items_in_batch is None:
            if self.module.weight is None:  # the sum of many would overflow in half precision
                return self._of(scores, labels, layer, "mean")
            num_items_in_batch = (labels != _IGNORED).sum()
        loss = self._of(scores, labels, layer, "sum")
        if isinstance(num_items_in_batch, Tensor):
            num_items_in_batch = num_items_in_batch.to(loss.device)
        return loss / num_items_in_batch

    def give_back_head(self) -> None:
        """Restore the model's last layer."""
        if self._head is not None:
            self._head.give_back()
            self._head = None

    def _shifts(self, outputs: Any, scores: Tensor) -> bool:
        if self._shift is not None:
            return self._shift
        if scores.ndim == 2:
            return False
        kind = type(outputs).__name__
        if kind in ("dict", "tuple"):
            raise ValueError(
                f"`shift` must be given if the model returns a {kind}: whether the logits "
                f"of a token predict the next label (causal language models) or its own."
            )
        return "CausalLM" in kind

    def _of(
        self, scores: Tensor, labels: Tensor, layer: nn.Linear | None, reduction: str
    ) -> Tensor:
        held = self.module
        if held.similarity._device() != scores.device:
            held.to(scores.device)
        options = {
            "weight": held.weight,
            "ignore_index": _IGNORED,
            "reduction": reduction,
            "label_smoothing": held.label_smoothing,
            "cross_entropy_share": held.cross_entropy_share,
            "smoothness": held._graph or 0.0,
        }
        if layer is not None:
            return self._linear(
                scores, layer.weight, labels, held.similarity, linear_bias=layer.bias, **options
            )
        flat = scores.reshape(-1, scores.shape[-1])  # (M, C)
        return type(held).function(flat, labels.reshape(-1), held.similarity, **options)


class _Head:
    """Replaces the forward of a last layer: in training mode it returns its input."""

    def __init__(self, layer: nn.Linear) -> None:
        self.layer = layer
        self._features: Tensor | None = None
        self._is_checked = False
        layer.forward = self._forward  # type: ignore[method-assign]

    def _forward(self, input: Tensor) -> Tensor:
        if not self.layer.training:
            self._features = None
            return nn.Linear.forward(self.layer, input)
        self._features = _HandedOn.apply(input, self.layer.weight, self.layer.bias)
        return self._features

    def layer_left_to_do(self, scores: Tensor) -> nn.Linear | None:
        """The layer, if `scores` are its input; None if they are logits."""
        features, self._features = self._features, None
        if features is None:
            return None
        if not self._is_checked:
            # Only once: a model treats its logits the same way each time, and the check makes a
            # device wait.
            same = scores.shape == features.shape
            if not (same and torch.equal(scores, features.to(scores.dtype))):
                raise ValueError(
                    "`head_of` must be a model that returns the output of its last layer, but this "
                    "one changes it (a scale, a soft cap, a selection); leave `head_of` out."
                )
            self._is_checked = True
        return self.layer

    def give_back(self) -> None:
        del self.layer.forward


class _HandedOn(torch.autograd.Function):
    """The input, which autograd sees as computed from the layer's parameters.

    DistributedDataParallel checks this to find parameters it does not need to wait for.
    """

    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return input.view_as(input)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return gradient, None, None


def _last_layer(model: nn.Module, num_classes: int) -> nn.Linear:
    layer = getattr(model, "get_output_embeddings", lambda: None)()
    if not isinstance(layer, nn.Linear) or type(layer).forward is not nn.Linear.forward:
        raise ValueError(
            f"`head_of` must be a model whose get_output_embeddings() is an nn.Linear, but that of "
            f"{type(model).__name__} is {type(layer).__name__}; leave `head_of` out."
        )
    if "forward" in vars(layer):
        raise ValueError(
            f"`head_of` must be a model with an unchanged last layer, but that of "
            f"{type(model).__name__} already has another forward; `give_back_head()` of an "
            f"earlier loss restores it."
        )
    _checks.class_counts_agree("similarity", num_classes, "head_of", layer.out_features)
    return layer
