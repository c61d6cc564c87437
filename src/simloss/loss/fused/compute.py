"""A batch through a kernel: part by part, into one buffer; unsound rows again in log space."""

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from ..problem import Problem
from .parts import buffer_like, classes_last, parts, places
from .targets import Targets, targets_of
from .worker import Worker, row_scale


def compute(problem: Problem, wants_gradient: bool) -> tuple[Tensor, Tensor | None]:
    """The loss, and its gradient by the input if that is wanted, in the dtype of the sums."""
    targets = targets_of(problem)
    worker = Worker(problem, targets, row_scale(targets, problem.reduction))
    gradient = buffer_like(problem.input, problem.dtype) if wants_gradient else None
    view = classes_last(problem.input)
    filled = None if gradient is None else classes_last(gradient)
    with without_autocast(problem.input):
        losses = _losses(worker, view, filled)
        total = losses.sum()
        if worker.may_be_unsound and math.isnan(total):
            _again(worker, view, filled, losses)
            total = losses.sum()
    return reduced(losses, total, targets, problem), gradient


def without_autocast(tensor: Tensor) -> AbstractContextManager[Any]:
    """Matrix products in the dtype they are given in."""
    device = tensor.device.type
    if torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def reduced(losses: Tensor, total: Tensor, targets: Targets, problem: Problem) -> Tensor:
    """The losses of the rows, (M), whose sum is `total`, weighed and reduced."""
    if targets.rows is not None:
        losses = losses * targets.rows
    if targets.counts is not None:
        losses = torch.where(targets.counts, losses, 0.0)
    if problem.reduction == "none":
        return losses.reshape(problem.batch_shape).to(problem.output_dtype)
    if targets.rows is not None:
        total = losses.sum()
    if problem.reduction == "mean":
        total = total / targets.divisor
    return total.to(problem.output_dtype)


def _losses(worker: Worker, view: Tensor, filled: Tensor | None) -> Tensor:
    """The loss of each row, (M), of a view (N, C) or (N, L, C); a like view is `filled`."""
    if view.ndim == 2 and view.shape[0] <= worker.rows_at_once:
        return _of_part(worker, view, filled, slice(0, view.shape[0]))
    losses = []
    for part in parts(view.shape, worker.rows_at_once):
        into = None if filled is None else filled[part.at]
        losses.append(_of_part(worker, view[part.at], into, part.rows))
    return torch.cat(losses)


def _of_part(worker: Worker, given: Tensor, into: Tensor | None, rows: slice) -> Tensor:
    z = given.reshape(-1, worker.num_classes).to(worker.dtype)  # (m, C)
    if into is not None and into.is_contiguous():
        return worker.losses(z, rows, into.view_as(z), wants_gradient=True)
    is_copy = z.data_ptr() != given.data_ptr()
    out = z if is_copy and not worker.needs_logits else torch.empty_like(z)
    losses = worker.losses(z, rows, out, wants_gradient=into is not None)
    if into is not None:
        into.copy_(out.view_as(into))
    return losses


def _again(worker: Worker, view: Tensor, filled: Tensor | None, losses: Tensor) -> None:
    """Fill in the rows that linear space could not do; logits that are NaN stay so."""
    rows = losses.isnan().nonzero().squeeze(1)
    z = view[places(view, rows)].to(worker.dtype)  # (k, C)
    real = ~z.isnan().any(-1)
    rows, z = rows[real], z[real]
    if not len(rows):
        return
    again, gradient = worker.losses_again(z, rows, wants_gradient=filled is not None)
    losses[rows] = again
    if filled is not None:
        filled[places(filled, rows)] = gradient
