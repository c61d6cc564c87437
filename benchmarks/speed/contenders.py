"""The losses that are compared: ours, torch's, the paper's formula, the plain one, dlordinal's.

A contender is made for a shape of logits, (N, C) or (N, C, H, W), and gives a step: a forward and a
backward pass. It is None if it is not available.
"""

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import simloss
from simloss.loss.contract import Options
from simloss.loss.formula import formula_loss
from simloss.loss.proper import PROPER_SIM_LOSS
from simloss.loss.sim import SIM_LOSS
from simloss.similarity import Similarity, order
from simloss.similarity.sparse import SparseSimilarity

R = 0.8
ENTRIES = 50
# From here on nobody would hold C x C.
MOST_STORED = 5000

Loss = Callable[[Tensor, Tensor], Tensor]


def sparse_rows(num_classes: int, entries: int = ENTRIES) -> Similarity:
    """Each class is similar to itself and to some random others."""
    entries = min(entries, num_classes)
    own = torch.arange(num_classes).unsqueeze(1)
    stride = max(1, num_classes // entries)
    column = ((own + stride * torch.arange(entries)) % num_classes).sort(1).values
    value = torch.where(column == own, 1.0, 0.5)
    crow = torch.arange(0, num_classes * entries + 1, entries)
    tensors = {"crow": crow, "column": column.reshape(-1), "value": value.reshape(-1)}
    return SparseSimilarity(num_classes, tensors)


def _cross_entropy(num_classes: int) -> Loss:
    return F.cross_entropy


def _order(num_classes: int) -> Loss:
    return simloss.SimLoss(order(num_classes, R))


def _sparse(num_classes: int) -> Loss:
    return simloss.SimLoss(sparse_rows(num_classes))


def _dense(num_classes: int) -> Loss | None:
    if num_classes > MOST_STORED:
        return None
    return simloss.SimLoss(order(num_classes, R).to_dense())


def _proper(num_classes: int) -> Loss:
    return simloss.ProperSimLoss(order(num_classes, R))


def _blended(num_classes: int) -> Loss:
    return simloss.ProperSimLoss(order(num_classes, R), cross_entropy_share=0.1)


def _smooth(num_classes: int) -> Loss:
    """Cross entropy with smoothness along the order; the weight makes no difference here."""
    return simloss.SimLoss(order(num_classes, R), cross_entropy_share=1.0, smoothness=0.1)


def _blended_smooth(num_classes: int) -> Loss:
    return simloss.ProperSimLoss(order(num_classes, R), cross_entropy_share=0.1, smoothness=0.1)


def _proper_sparse(num_classes: int) -> Loss:
    return simloss.ProperSimLoss(sparse_rows(num_classes))


def _soft_target(num_classes: int) -> Loss:
    return simloss.SoftTargetLoss(order(num_classes, R))


def _paper(num_classes: int) -> Loss | None:
    """The paper's equation 1 as written, without the epsilon of the published code."""
    if num_classes > MOST_STORED:
        return None
    S = order(num_classes, R).to_dense()

    def loss(input: Tensor, target: Tensor) -> Tensor:
        p = input.softmax(1).movedim(1, -1)
        return -(S[target] * p).sum(-1).log().mean()

    return loss


def _plain(formula: Any, num_classes: int) -> Loss:
    S = order(num_classes, R)
    return lambda input, target: formula_loss(formula, input, target, S, Options())


def _plain_sim(num_classes: int) -> Loss:
    return _plain(SIM_LOSS, num_classes)


def _plain_proper(num_classes: int) -> Loss | None:
    return _plain(PROPER_SIM_LOSS, num_classes)


def _dlordinal(name: str, num_classes: int) -> Loss | None:
    if importlib.util.find_spec("dlordinal") is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import dlordinal.losses as theirs
    if name == "SORD":
        return theirs.SORDLoss(1.0, num_classes, torch.arange(num_classes))  # type: ignore
    return theirs.EMDLoss(num_classes)  # type: ignore[no-any-return]


def _sord(num_classes: int) -> Loss | None:
    return _dlordinal("SORD", num_classes)


def _emd(num_classes: int) -> Loss | None:
    return _dlordinal("EMD", num_classes)


CONTENDERS: dict[str, Callable[[int], Loss | None]] = {
    "F.cross_entropy": _cross_entropy,
    "SimLoss, order": _order,
    "SimLoss, sparse (50 per row)": _sparse,
    "SimLoss, dense": _dense,
    "ProperSimLoss, order": _proper,
    "ProperSimLoss, order, blended": _blended,
    "ProperSimLoss, order, blended, smooth": _blended_smooth,
    "ProperSimLoss, sparse (50 per row)": _proper_sparse,
    "SoftTargetLoss, order": _soft_target,
    "cross entropy, smooth": _smooth,
    "the paper's formula": _paper,
    "our formula in torch": _plain_sim,
    "our proper formula in torch": _plain_proper,
    "dlordinal SORD": _sord,
    "dlordinal squared EMD": _emd,
}
ONLY_TWO_DIMENSIONS = ("dlordinal SORD", "dlordinal squared EMD")


def step(name: str, shape: tuple[int, ...]) -> Callable[[], object] | None:
    """A forward and a backward pass of a contender, or None if it is not available."""
    if len(shape) > 2 and name in ONLY_TWO_DIMENSIONS:
        return None
    loss = CONTENDERS[name](shape[1])
    if loss is None:
        return None
    generator = torch.Generator().manual_seed(0)
    input = torch.randn(shape, generator=generator).requires_grad_()
    target = torch.randint(shape[1], (shape[0], *shape[2:]), generator=generator)

    def forward_and_backward() -> None:
        input.grad = None
        loss(input, target).backward()

    return forward_and_backward
