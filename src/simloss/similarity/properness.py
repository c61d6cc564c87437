r"""Whether the proper loss is proper with a given S: proved, refuted by an example, or unknown.

It is proper if and only if :math:`F(p) = \sum_i p_i \log (S p)_i` is convex on the simplex. Two
tests decide that; docs/mathematics.md proves both. The first is quick and sufficient: S^-1 has no
positive entry off its diagonal and no negative column sum. The second is exact: at each corner k
of the simplex one matrix of curvatures,
:math:`S_{ij} / S_{ik} + S_{ji} / S_{jk} - S_{ki} S_{kj} - 1`, has no negative eigenvalue.
"""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from .base import Similarity
from .circular import CircularSimilarity
from .counterexample import counterexample
from .order import OrderSimilarity
from .sparse import SparseSimilarity
from .taxonomy import TreeSimilarity
from .values import ValueSimilarity

# An eigenvalue or an entry of S^-1 counts as 0 below this, relative to the largest.
_TOLERANCE = 1e-9
# Classes whose rows and columns agree to so many digits count as one.
_DIGITS = 9
# All corners of up to 362 classes, or 16 of 1,024: a few seconds on one core.
_WORK = 1 << 34
_ENTRIES_AT_ONCE = 1 << 22
_LARGEST_BLOCK = 1024
# Below this, the square root of a curvature is rounding.
_ROUNDING = 1e-6
# Replaces a similarity of 0 in a denominator.
_TINY = 1e-300

_BY_INVERSE = "S^-1 has no entry above 0 off its diagonal, no column sum below 0"

Block = tuple[Tensor, Tensor]


class Verdict(NamedTuple):
    """Whether the loss is proper, and how that is known.

    Attributes:
        proper: True if proved, False if refuted, None if unknown.
        reason: what proves it or what failed, as a phrase.
        example: if refuted, the truth p and an answer q that is better than p, (C) each.
    """

    proper: bool | None
    reason: str
    example: tuple[Tensor, Tensor] | None = None


def decide(whole: Similarity, part: Tensor, classes: Tensor) -> Verdict:
    """Whether the proper loss is proper with a similarity.

    Args:
        whole: the similarity, of kind "similarity".
        part: S, or some of its rows and columns if there are many classes, (M, M).
        classes: which classes `part` holds, (M).
    """
    structure = _by_structure(whole)
    if structure is not None:
        return Verdict(True, structure)
    part = part.clone().fill_diagonal_(1)  # rounding may have left it slightly off
    if len(classes) == whole.num_classes:
        return _verdict(whole, _blocks(part, classes))
    blocks = _sparse_blocks(whole) if isinstance(whole, SparseSimilarity) else None
    if blocks is not None:
        return _verdict(whole, blocks)
    found = _verdict(whole, _blocks(part, classes))
    if found.proper is not True:
        return found
    return Verdict(None, f"proper among {len(part)} of {whole.num_classes:,} classes")


def _by_structure(whole: Similarity) -> str | None:
    """Why the structure of S makes the loss proper, without reading entries; None if it does not.

    In each case S^-1 passes the first test for any number of classes.
    """
    if isinstance(whole, (OrderSimilarity, ValueSimilarity)):
        return "the classes are positions on a line"
    if isinstance(whole, TreeSimilarity):
        depth = whole.tensors["depth"]
        if whole.options["measure"] == "height" or bool((depth == depth[0]).all()):
            return "the classes are leaves of a tree, and S is ultrametric"
    return None


def _blocks(part: Tensor, classes: Tensor) -> list[Block]:
    """Blocks of classes that are similar only to each other, with their similarities.

    If S does not split into such blocks, it is one block.
    """
    alike = part > 0
    label = alike.int().argmax(1)  # the first class that is similar to it
    if not bool((alike == (label.unsqueeze(1) == label)).all()):
        return [(classes, part)]
    places = [(label == first).nonzero().squeeze(1) for first in label.unique()]
    return [(classes[some], part[some][:, some]) for some in places]


def _sparse_blocks(whole: SparseSimilarity) -> list[Block] | None:
    """The same for sparse rows; None if they do not split into blocks that fit in memory."""
    crow, column = whole.tensors["crow"], whole.tensors["column"]
    label, lengths = column[crow[:-1]], crow.diff()
    sizes = label.bincount(minlength=whole.num_classes)
    is_apart = bool((label[column] == label.repeat_interleave(lengths)).all())
    if not is_apart or bool((lengths != sizes[label]).any()) or int(sizes.max()) > _LARGEST_BLOCK:
        return None
    places = [(label == first).nonzero().squeeze(1) for first in (sizes > 1).nonzero()]
    return [(some, whole.rows(some, torch.float64)[:, some]) for some in places]


def _verdict(whole: Similarity, blocks: Iterable[Block]) -> Verdict:
    """The verdict on a similarity, or a part of it, that consists of these blocks."""
    proved, unknown = _BY_INVERSE, None
    for classes, s in map(_distinct, blocks):
        names = [whole.names[i] if whole.names else str(i) for i in classes.tolist()]
        fault = _inverse_fault(s, names)
        if fault is None:
            continue
        # On a circle all corners are alike, so one is enough.
        is_circle = isinstance(whole, CircularSimilarity) and len(s) == whole.num_classes
        corners = torch.arange(1) if is_circle else _some_corners(len(s))
        bent = _bent_corner(s, corners)
        example = None if bent is None or bent[1] is None else counterexample(s, bent[0], bent[1])
        if example is not None:
            nothing = torch.zeros(whole.num_classes, dtype=s.dtype)
            p, q = (nothing.index_put((classes,), each) for each in example)
            return Verdict(False, fault, (p, q))
        if bent is not None:
            is_clear = bent[1] is not None
            how = "is negative, but no example was found" if is_clear else "is 0 up to rounding"
            unknown = f"the curvature at {names[bent[0]]} {how}"
        elif len(corners) < len(s) and not is_circle:
            unknown = f"no negative curvature at {len(corners)} of {len(s):,} corners, but {fault}"
        elif float(s.min()) < _TINY:
            unknown = "S is not symmetric and has zeros, and no test covers that"
        else:
            proved = f"no negative curvature at any corner, though {fault}"
    return Verdict(True, proved) if unknown is None else Verdict(None, unknown)


def _distinct(block: Block) -> Block:
    """One for all classes with the same row and column: F sees only the sum of their p."""
    classes, s = block
    group = torch.cat([s, s.T], 1).round(decimals=_DIGITS).unique(dim=0, return_inverse=True)[1]
    first = (group.unsqueeze(1) == group).int().argmax(1).unique()
    return classes[first], s[first][:, first]


def _inverse_fault(s: Tensor, names: list[str]) -> str | None:
    """Why S^-1 does not prove it; None if it does."""
    inverse, singular = torch.linalg.inv_ex(s)
    rounding = (s @ inverse - torch.eye(len(s), dtype=s.dtype)).abs().max()
    if int(singular) or not float(rounding) < _TOLERANCE:
        return "S has no inverse"
    allowed = _TOLERANCE * float(inverse.abs().max())
    off = inverse - inverse.diagonal().diag()
    if float(off.max()) > allowed:
        i, j = sorted(divmod(int(off.argmax()), len(s)))  # rounding alone tells (i, j) from (j, i)
        return f"S^-1 is above 0 ({float(off.max()):.2g}) for {names[i]} and {names[j]}"
    sums = inverse.sum(0)
    if float(sums.min()) < -allowed:
        return f"S^-1 sums to {float(sums.min()):.2g} in column {names[int(sums.argmin())]}"
    return None


def _some_corners(size: int) -> Tensor:
    count = min(size, max(1, _WORK // size**3))
    return torch.randperm(size, generator=torch.Generator().manual_seed(0))[:count]


def _bent_corner(s: Tensor, corners: Tensor) -> tuple[int, Tensor | None] | None:
    """The first corner at which F curves down, and in which direction, (C).

    If there is none, a corner at which rounding hides whether it does, and None.
    """
    flat = None
    one = torch.eye(len(s), dtype=s.dtype)
    for some in corners.split(max(1, _ENTRIES_AT_ONCE // s.numel())):
        curvature, size = _curvature(s, some)
        rounding = _TOLERANCE + len(s) * torch.finfo(s.dtype).eps / size.amin(1).square()  # (M)
        failed = torch.linalg.cholesky_ex(curvature - rounding.reshape(-1, 1, 1) * one).info
        for place in failed.nonzero().squeeze(1).tolist():
            flat = int(some[place]), None
            if int(torch.linalg.cholesky_ex(curvature[place] + _TOLERANCE * one).info):
                direction = torch.linalg.eigh(curvature[place]).eigenvectors[:, 0] / size[place]
                return int(some[place]), direction / direction.abs().max()
    return flat


def _curvature(s: Tensor, corners: Tensor) -> tuple[Tensor, Tensor]:
    """Second derivatives at corners, (M, C, C), scaled to a diagonal of 1, and the scale (M, C)."""
    ratio = s / s[:, corners].T.clamp(min=_TINY).unsqueeze(2)  # (M, C, C), S_ij / S_ik
    row = s[corners]  # (M, C)
    curvature = ratio + ratio.mT
    curvature.addcmul_(row.unsqueeze(2), row.unsqueeze(1), value=-1).sub_(1)
    own = torch.arange(len(corners))
    curvature[own, corners] = 0  # towards the corner itself it is 0 up to rounding
    curvature[own, :, corners] = 0
    curvature[own, corners, corners] = 1
    size = curvature.diagonal(dim1=1, dim2=2).sqrt()
    size = torch.where(size > _ROUNDING, size, 1.0)  # interchangeable with the corner: 0
    return curvature.div_(size.unsqueeze(2)).div_(size.unsqueeze(1)), size
