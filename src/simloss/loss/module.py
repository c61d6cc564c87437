"""The base of the loss modules: a similarity in buffers, which can change while training."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from .. import _checks
from ..similarity import ClassGraph, Similarity, class_graph, matrix
from ..similarity.matrix import DenseSimilarity, as_similarity
from ..similarity.order import OrderSimilarity
from ..similarity.sparse import SparseSimilarity
from .contract import Formula, Options, smooth_graph, suits
from .first_look import FirstLook
from .kernel import loss_and_gradient

# Up to this many classes a computed similarity is stored: 64 MB, and a row is a look-up.
_STORED_UP_TO = 4096


class SimilarityLoss(nn.CrossEntropyLoss):
    """A drop-in for `nn.CrossEntropyLoss` that holds a similarity.

    The similarity's tensors are buffers: they follow the module from device to device, but keep
    their dtype (r = .999 is 1.0 in bfloat16), and they stay out of `state_dict`, so that a
    checkpoint saved with plain cross entropy in its place loads strictly. Only changes made by
    :meth:`set_similarity` are saved, so that a schedule survives.

    With `examples`, the number of training examples, `smoothness` is set by the rule
    ``class_graph(similarity).total_weight / examples``. The graph is that of the similarity given
    here and stays the same when the similarity changes: neighbours remain neighbours.
    """

    function: ClassVar[Callable[..., Tensor]]
    formula: ClassVar[Formula | None] = None  # None if the kernel cannot compute the loss
    _known: Similarity | None  # the similarity as last requested
    smoothness: float | ClassGraph = 0.0
    _graph: ClassGraph | None = None  # the graph along which logits are smooth, with its weights
    _version = 2  # tells its own checkpoints from those of plain cross entropy

    def __init__(
        self,
        similarity: Any,
        *,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        cross_entropy_share: float = 0.0,
        smoothness: float | ClassGraph = 0.0,
        examples: int | None = None,
    ) -> None:
        known, similarity = similarity, _own(similarity)
        if weight is not None:
            weight = _checks.class_weight(weight, similarity.num_classes)
        super().__init__(
            weight=weight,
            ignore_index=ignore_index,
            reduction=_checks.choice("reduction", reduction, _checks.REDUCTIONS),
            label_smoothing=_checks.share("label_smoothing", label_smoothing),
        )
        self.cross_entropy_share = _checks.share("cross_entropy_share", cross_entropy_share)
        self._changed: set[str] = set()
        self._first: Similarity | None = None  # the similarity before it was changed
        self._first_look = FirstLook()
        self._hold(similarity)
        if examples is not None or smoothness != 0.0:
            self._be_smooth(as_similarity(known), smoothness, examples)

    @property
    def similarity(self) -> Similarity:
        """The current similarity."""
        tensors = {name: getattr(self, _attribute(name)) for name in self._tensor_names}
        known = self._known
        if known is not None:  # the same object, with its caches
            for name, value in tensors.items():
                if known.tensors[name] is not value:
                    break
            else:
                return known
        self._known = self._structure(
            self._num_classes, tensors, names=self._names, kind=self._kind, **self._options
        )
        return self._known

    def set_similarity(self, similarity: Any) -> Self:
        """Change the similarity while training, for example r from 0.9 down to 0 over the epochs.

        A similarity of the same structure is written into the buffers, so that a compiled module
        is not compiled again. From then on the change is saved in `state_dict`.

        Example:
            >>> import simloss
            >>> from simloss.similarity import order
            >>> loss = simloss.SoftTargetLoss(order(90, r=0.9))
            >>> for epoch in range(10):
            ...     _ = loss.set_similarity(order(90, r=0.9 * (1 - epoch / 9)))
            >>> loss.similarity
            order(90 classes, r=0: the identity)
        """
        new = _own(similarity)
        if new.num_classes != self._num_classes:
            raise ValueError(
                f"`similarity` must keep its {self._num_classes} classes, "
                f"but the new one has {new.num_classes}."
            )
        old = self.similarity
        if self._first is None and not any(v.requires_grad for v in old.tensors.values()):
            self._first = old.with_tensors({k: v.clone() for k, v in old.tensors.items()})
        device = old._device()
        new = new.with_tensors({name: value.to(device) for name, value in new.tensors.items()})
        if _fits(old, new):
            with torch.no_grad():
                for name, value in new.tensors.items():
                    if not torch.equal(old.tensors[name], value):
                        old.tensors[name].copy_(value)
                        self._changed.add(name)
            self._names, self._known = new.names, None
        else:
            self._hold(new)
            self._changed = set(new.tensors)
        return self

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        loss = type(self).function(
            input,
            target,
            self.similarity,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
            cross_entropy_share=self.cross_entropy_share,
            smoothness=self._graph or 0.0,
        )
        if not torch.compiler.is_compiling() and not self._first_look.is_over:
            self._first_look.at(input, target)
        return loss

    def value_and_gradient(self, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """The loss and its gradient for logits on the CPU, (N, C), written over them if possible.

        For programs without autograd, such as many small nets trained as one.
        """
        similarity = self.similarity
        if self.formula is not None and suits(self.formula, input, similarity):
            options = Options(
                self.weight,
                self.ignore_index,
                self.reduction,
                self.label_smoothing,
                self.cross_entropy_share,
                self._graph or 0.0,
            )
            value, gradient = loss_and_gradient(
                self.formula, input, target, similarity, options, wants_gradient=True, over=True
            )
            assert gradient is not None
            return value, gradient
        leaf = input.detach().requires_grad_()
        with torch.enable_grad():
            value = self(leaf, target)
            return value.detach(), torch.autograd.grad(value, leaf)[0]

    def extra_repr(self) -> str:
        options = [repr(self.similarity)]
        for name, default in (
            ("ignore_index", -100),
            ("reduction", "mean"),
            ("label_smoothing", 0.0),
            ("cross_entropy_share", 0.0),
            ("smoothness", 0.0),
        ):
            value = getattr(self, name)
            if value != default:
                options.append(f"{name}={value!r}")
        return ", ".join(options)

    def _be_smooth(
        self, similarity: Similarity, smoothness: float | ClassGraph, examples: int | None
    ) -> None:
        """Keep the graph of the original similarity, even if S changes later."""
        if examples is not None:
            if smoothness != 0.0:
                raise ValueError(
                    f"`smoothness` and `examples` must not both be given, but got {smoothness!r} "
                    f"and {examples!r}; `examples` sets the smoothness."
                )
            whole = class_graph(similarity)
            smoothness = whole.total_weight / _checks.class_count("examples", examples)
            self._graph = smoothness * whole
        else:
            self._graph = smooth_graph(smoothness, similarity)
        self.smoothness = smoothness

    def _hold(self, similarity: Similarity) -> None:
        """Keep the structure as plain attributes and its tensors as buffers."""
        for name in getattr(self, "_tensor_names", ()):
            delattr(self, _attribute(name))
        self._known = None
        self._structure = type(similarity)
        self._num_classes = similarity.num_classes
        self._names, self._kind = similarity.names, similarity.kind
        self._options = similarity.options
        self._tensor_names = tuple(similarity.tensors)
        for name, value in similarity.tensors.items():
            if isinstance(value, nn.Parameter):
                self.register_parameter(_attribute(name), value)
            else:
                self.register_buffer(_attribute(name), value, persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        held = [getattr(self, _attribute(name)) for name in self._tensor_names]
        ours = {id(tensor) for tensor in (*held, *(t.grad for t in held if t.grad is not None))}

        def keeping_dtype(tensor: Tensor) -> Tensor:
            if id(tensor) not in ours:
                return fn(tensor)
            try:
                moved = fn(tensor)
            except TypeError:  # a device without float64
                return fn(tensor.float())
            return moved if moved.dtype == tensor.dtype else tensor.to(moved.device)

        super()._apply(keeping_dtype, recurse)
        return self

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        kind = "" if self._kind == "similarity" else f"{self._kind}."
        for name in sorted(self._changed):
            value = getattr(self, _attribute(name))
            if _attribute(name) not in self._parameters:
                key = f"{prefix}{_SAVED}{self._structure.structure}.{kind}{name}"
                destination[key] = value if keep_vars else value.detach()

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        saved = {k: v for k, v in state_dict.items() if k.startswith(prefix + _SAVED)}
        rest = {k: v for k, v in state_dict.items() if k not in saved}
        super()._load_from_state_dict(
            rest, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )
        if saved:
            try:
                self.set_similarity(
                    self._restored({k.removeprefix(prefix + _SAVED): v for k, v in saved.items()})
                )
            except ValueError as error:
                error_msgs.append(str(error))
        elif self._first is not None and local_metadata.get("version") == self._version:
            # Saved by such a module before its similarity was changed.
            self.set_similarity(self._first)
            self._changed = set()

    def _restored(self, saved: dict[str, Tensor]) -> Similarity:
        """The similarity in a `state_dict`: "structure.tensor", "structure.kind.tensor"."""
        structure, *kinds, _ = next(iter(saved)).split(".")
        kind = kinds[0] if kinds else "similarity"
        tensors = {key.rpartition(".")[2]: value for key, value in saved.items()}
        now = self.similarity
        if (structure, kind) == (now.structure, now.kind):
            return now.with_tensors({**now.tensors, **tensors})
        if structure not in _RESTORABLE:
            raise ValueError(
                f"the saved similarity must have the module's structure and kind, "
                f"{now.structure!r} and {now.kind!r}, but it has {structure!r} and {kind!r}; "
                f"call set_similarity() with such a similarity first, then load."
            )
        return _RESTORABLE[structure](now.num_classes, tensors, names=now.names, kind=kind)


_SAVED = "similarity."
_RESTORABLE = {kind.structure: kind for kind in (OrderSimilarity, DenseSimilarity)}


def _attribute(name: str) -> str:
    return f"similarity_{name}"


def _own(similarity: Any) -> Similarity:
    """A copy of the similarity with its own tensors, stored if that is cheap."""
    if not isinstance(similarity, Similarity):
        similarity = matrix(similarity)
    elif _is_better_stored(similarity):
        dense = similarity.to_dense()
        every = torch.arange(similarity.num_classes, device=dense.device)
        is_small = dense < torch.finfo(dense.dtype).tiny  # digits are lost before it becomes 0
        is_lost = is_small & similarity.log_rows(every, dense.dtype).isfinite()
        if not bool(is_lost.any()):  # otherwise only the logarithm can hold such a small number
            similarity = DenseSimilarity(
                similarity.num_classes,
                {"matrix": dense},
                names=similarity.names,
                kind=similarity.kind,
            )
    for value in similarity.tensors.values():
        if value.requires_grad and not value.is_leaf:
            raise ValueError(
                "`similarity` that requires gradients must be a leaf, such as an nn.Parameter, "
                "but got the result of a computation; call the function with it in every step."
            )
    with torch.inference_mode(False):  # a module made in it may be trained later
        return similarity.with_tensors(
            {k: v if v.requires_grad else v.clone() for k, v in similarity.tensors.items()}
        )


def _is_better_stored(similarity: Similarity) -> bool:
    """Whether its rows would be recomputed in every step although all of them fit in memory."""
    return (
        not isinstance(similarity, (OrderSimilarity, DenseSimilarity, SparseSimilarity))
        and similarity.num_rows == similarity.num_classes <= _STORED_UP_TO  # else it is stored
        and not any(value.requires_grad for value in similarity.tensors.values())
    )


def _fits(old: Similarity, new: Similarity) -> bool:
    """Whether the new tensors can be written into the old ones."""
    return (
        type(old) is type(new)
        and (old.kind, old.options) == (new.kind, new.options)
        and old.tensors.keys() == new.tensors.keys()
        and all(
            (old.tensors[k].shape, old.tensors[k].dtype) == (v.shape, v.dtype)
            and old.tensors[k].requires_grad == v.requires_grad  # a new nn.Parameter is learned
            for k, v in new.tensors.items()
        )
    )
