"""Loss and gradient of a batch on the CPU by one loop in C (native/), called through ctypes.

If it was not built, `native_kernel()` is False and the formula does the work. The environment
variable SIMLOSS_NATIVE=0 turns it off, and SIMLOSS_NATIVE=PATH loads another build.
"""

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .. import _checks
from ..similarity import ClassGraph, Similarity
from .formula import dtypes, formula_loss

if TYPE_CHECKING:
    from .contract import Formula, Options

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
STRUCTURES = {"order": 0, "circular": 1, "matrix": 2, "sparse": 3}
_LOSSES = {"sim": 0, "proper": 1, "soft-target": 2}
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}

# The fields of `Call` in native/call.h.
_CALL = Struct("@40q3dq")
# Below this many logits, waking a second thread takes longer than it saves.
_ONE_THREAD = 1 << 15


def _library() -> Any:
    """The kernel's function and the width of its vectors; None if it was not built."""
    wanted = os.environ.get("SIMLOSS_NATIVE", "")
    path = Path(wanted or Path(__file__).with_name("native") / "kernel.so")
    if wanted == "0" or not path.is_file():
        return None
    try:
        library = ctypes.CDLL(str(path))
        function, width = library.simloss_loss, library.simloss_vectors(ctypes.c_int64(_CALL.size))
    except (OSError, AttributeError):  # built for another machine, or by another version
        return None
    function.argtypes = (ctypes.c_char_p, ctypes.c_int, ctypes.c_int)
    function.restype = ctypes.c_int64
    return (function, width) if width else None


def _parallel() -> int:
    """Torch's own OpenMP runtime: one pool of threads in the process, not two that compete."""
    with suppress(OSError, AttributeError):
        found = ctypes.CDLL("libgomp.so.1").GOMP_parallel
        return ctypes.cast(found, ctypes.c_void_p).value or 0
    return 0


_kernel = _library()
_gomp_parallel = _parallel() if _kernel else 0


def _after_fork() -> None:
    """A forked child has none of the pool's threads, and would wait for them forever."""
    global _gomp_parallel
    _gomp_parallel = 0


os.register_at_fork(after_in_child=_after_fork)


def native_kernel() -> bool:
    """Whether losses on the CPU are computed by the compiled kernel.

    Example:
        >>> import simloss
        >>> simloss.native_kernel() in (True, False)
        True
    """
    return _kernel is not None


def kernel_loss(
    formula: "Formula", input: Tensor, target: Tensor, similarity: Similarity, options: "Options"
) -> Tensor:
    """Equals `formula_loss` of the same arguments, value and gradient."""
    if torch.is_grad_enabled() and input.requires_grad:
        loss: Tensor = _apply(input, target, similarity, options, formula)
        return loss
    return loss_and_gradient(formula, input, target, similarity, options)[0]


class KernelLoss(torch.autograd.Function):
    """Keeps one buffer of the size of the input: its gradient.

    The first backward pass scales the buffer in place and hands it over; another one computes it
    again. A backward pass that is itself differentiated uses the formula.
    """

    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        target: Tensor,
        similarity: Similarity,
        options: "Options",
        formula: "Formula",
    ) -> Tensor:
        loss, ctx.gradient = loss_and_gradient(
            formula, input, target, similarity, options, wants_gradient=True
        )
        ctx.call = formula, similarity, options
        ctx.dtype = input.dtype
        ctx.save_for_backward(input, target, *similarity.tensors.values())
        return loss

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        gradient, ctx.gradient = ctx.gradient, None
        if torch.is_grad_enabled() or gradient is None:
            input, target, *tensors = ctx.saved_tensors
            formula, similarity, options = ctx.call
            similarity = similarity.with_tensors(
                dict(zip(similarity.tensors, tensors, strict=True))
            )
            if torch.is_grad_enabled():
                loss = formula_loss(formula, input, target, similarity, options)
                again = torch.autograd.grad(loss, input, grad_output, create_graph=True)
                return again[0], None, None, None, None
            gradient = loss_and_gradient(
                formula, input, target, similarity, options, wants_gradient=True
            )[1]
        gradient = scaled(gradient, grad_output)
        if gradient.dtype != ctx.dtype:
            gradient = gradient.to(ctx.dtype)
        return gradient, None, None, None, None


# `Function.apply` without its preparations for transforms, under which the formula is used: a
# tenth of the time of a tiny batch.
_apply = super(torch.autograd.Function, KernelLoss).apply


def scaled(gradient: Tensor, by: Tensor) -> Tensor:
    """``gradient * by``, in place if possible; `by` is a scalar or (N, d1, ...)."""
    if by.ndim and gradient.ndim > 1:
        by = by.unsqueeze(1)
    if not _checks.values_can_be_read(by) or torch._C._functorch.is_legacy_batchedtensor(by):
        return gradient * by
    return gradient if by.numel() == 1 and by.item() == 1 else gradient.mul_(by)


def loss_and_gradient(
    formula: "Formula",
    input: Tensor,
    target: Tensor,
    similarity: Similarity,
    options: "Options",
    *,
    wants_gradient: bool = False,
    over: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The loss, and its gradient for the input in the dtype of the sums.

    With `over`, the gradient overwrites the input.
    """
    dtype, answer = dtypes(input, target)
    z, outer, inner, strides = _as_three(input if input.dtype == dtype else input.to(dtype))
    gradient, out = None, strides
    if wants_gradient:
        gradient = z if over else torch.empty_like(z)
        gradient, _, _, out = _as_three(gradient)
    soft, given = target.is_floating_point(), target
    of_target: tuple[int, ...] = (0, 0, 0)
    if soft:
        target, _, _, of_target = _as_three(target.to(dtype))
    elif target.dtype != torch.long or not target.is_contiguous():
        target = target.long().contiguous()
    is_reduced = options.reduction != "none"
    result = z.new_empty(() if is_reduced else outer * inner)
    many = z.numel() >= _ONE_THREAD and _gomp_parallel
    # Kept alive until the call is over, because the call knows only addresses.
    held, structure = _structure(similarity, formula.name == "proper", dtype)
    smooth = _smoothness(options.graph, held)
    weight, examples = _doubles(options.weight), _doubles(options.example_weight)
    call = _CALL.pack(
        z.data_ptr(),
        0 if gradient is None else gradient.data_ptr(),
        0 if is_reduced else result.data_ptr(),
        outer,
        similarity.num_classes,
        inner,
        *strides,
        *out,
        target.data_ptr(),
        soft,
        *of_target,
        0 if weight is None else weight.data_ptr(),
        0 if examples is None else examples.data_ptr(),
        options.ignore_index,
        _LOSSES[formula.name or ""],
        STRUCTURES[similarity.structure],
        *structure,
        *smooth,
        _REDUCTIONS[options.reduction],
        torch.get_num_threads() if many else 1,
        _gomp_parallel,
        held[0].item() if "r" in similarity.tensors else 0.0,
        options.label_smoothing,
        options.cross_entropy_share,
        result.data_ptr() if is_reduced else 0,
    )
    function, width = _kernel
    failed = function(call, dtype == torch.float64, width)
    if failed < 0:
        raise MemoryError("the loss could not allocate memory for a few rows of logits.")
    if failed:
        _checks.target_range(target, similarity.num_classes, options.ignore_index)
    if soft and not over and bool(result.isnan().any()):  # infinite targets: infinity minus itself
        with torch.no_grad():
            return formula_loss(formula, input, given, similarity, options), gradient
    if not is_reduced:
        result = result.view(input.shape[:1] + input.shape[2:] if input.ndim > 1 else ())
    return result if dtype == answer else result.to(answer), gradient


def _as_three(tensor: Tensor) -> tuple[Tensor, int, int, tuple[int, ...]]:
    """A tensor as (outer, classes, inner): sizes, and the strides of its entries.

    It is the tensor itself, or a copy if its other dimensions cannot be merged.
    """
    if tensor.ndim == 2:
        return tensor, tensor.shape[0], 1, (*tensor.stride(), 1)
    if tensor.ndim == 1:
        return tensor, 1, 1, (1, tensor.stride(0), 1)
    size, stride = tensor.shape[2:], tensor.stride()[2:]
    for k in range(len(size) - 1):
        if stride[k] != stride[k + 1] * size[k + 1]:
            return _as_three(tensor.contiguous())
    return tensor, tensor.shape[0], size.numel(), (*tensor.stride()[:2], stride[-1])


def _structure(
    similarity: Similarity, is_proper: bool, dtype: torch.dtype
) -> tuple[list[Tensor], tuple[int, ...]]:
    """The data of S, and the fields of `Call` from `is_wide` to `row_sums`."""
    tensors = similarity.tensors
    if similarity.structure == "matrix":
        matrix = tensors["matrix"].contiguous()
        matrix = matrix.to(torch.promote_types(matrix.dtype, dtype))
        return [matrix], (matrix.dtype == torch.float64, matrix.data_ptr(), 0, 0, 0, 0, 0, 0)
    if similarity.structure == "sparse":
        value = tensors["value"].to(torch.promote_types(tensors["value"].dtype, dtype))
        held = [value, tensors["crow"], tensors["column"]]
        held += similarity.by_columns() if is_proper else ()  # type: ignore[attr-defined]
        held = [each.contiguous() for each in held]
        places = [each.data_ptr() for each in held] + [0] * (6 - len(held))
        return held, (held[0].dtype == torch.float64, *places, 0)
    held = [tensors["r"]]
    if similarity.kind == "probability":
        sums = similarity._row_sums(similarity._all_classes(), torch.float64)
        held.append(sums.contiguous())
    return held, (0, 0, 0, 0, 0, 0, 0, held[1].data_ptr() if len(held) > 1 else 0)


def _smoothness(graph: ClassGraph | None, held: list[Tensor]) -> tuple[int, ...]:
    """The fields of `Call` from `edges` to `member`; what they point to is added to `held`."""
    if graph is None or not len(graph.weight):
        return (0, 0, 0, 0, 0, 0, 0)
    ends = () if graph.is_path else (graph.first, graph.second)
    begin, member = graph.groups
    parts = [each.contiguous() for each in (*ends, graph.weight.double(), begin, member)]
    held += parts
    places = [0] * (2 - len(ends)) + [each.data_ptr() for each in parts]
    return (len(graph.weight), len(begin) - 1, *places)


def _doubles(weight: Tensor | None) -> Tensor | None:
    return None if weight is None else weight.detach().double().contiguous()
