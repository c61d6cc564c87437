"""Classes that a classifier or people confuse with each other."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .matrix import DenseSimilarity


def confusion(
    counts: Any,
    *,
    kind: str = "similarity",
    smoothing: float = 1.0,
    names: Sequence[str] | None = None,
) -> Similarity:
    r"""Similarity, or noise probabilities, from a confusion matrix; row = true class.

    With a pseudo-count a in every cell,

    .. math::

        P_{ij} = \frac{n_{ij} + a}{\sum_k (n_{ik} + a)}, \qquad
        S_{ij} = \min\Bigl(1, \sqrt{\frac{P_{ij} P_{ji}}{P_{ii} P_{jj}}}\Bigr)

    Kind "similarity" gives S, the similarity of Shepard and Luce's choice model: symmetric, 1 on
    the diagonal. Kind "probability" gives P, which forward correction of noisy labels needs; the
    rows are then the clean labels and the columns the given ones.

    Args:
        counts: (C, C), at least 0. For several annotators, make it with :func:`disagreement`.
        kind: "similarity" or "probability".
        smoothing: a, at least 0. If counts are few, it keeps an unseen pair from being impossible.
        names: one name per class; by default the labels of a pandas table.

    Example:
        >>> counts = [[80, 20, 0], [10, 90, 0], [0, 0, 50]]
        >>> confusion(counts, smoothing=0).to_dense()
        tensor([[1.0000, 0.1667, 0.0000],
                [0.1667, 1.0000, 0.0000],
                [0.0000, 0.0000, 1.0000]], dtype=torch.float64)
        >>> confusion(counts, kind="probability", smoothing=0).rows([0])
        tensor([[0.8000, 0.2000, 0.0000]], dtype=torch.float64)

    References:
        R. N. Shepard, Stimulus and response generalization, 1957. R. D. Luce, Detection and
        recognition, 1963.
    """
    tensor = _checks.float_tensor("counts", counts).detach().double()
    _checks.square("counts", tensor)
    labels = _checks.labels_of_both_sides("counts", counts)
    _checks.not_negative("counts", tensor)
    _checks.choice("kind", kind, ("similarity", "probability"))
    smoothing = _checks.at_least_zero("smoothing", smoothing)
    names = _checks.class_names(labels if names is None else names, tensor.shape[0])
    tensor = tensor + smoothing
    rows = tensor.sum(1, keepdim=True)  # (C, 1)
    _refuse(rows.squeeze(1) == 0, "was never seen")
    probability = tensor / rows
    if kind == "similarity":
        own = probability.diagonal()
        _refuse(own == 0, "was never taken for itself")
        ratio = probability * probability.T / (own.unsqueeze(1) * own)
        probability = ratio.sqrt().clamp(max=1).fill_diagonal_(1)
    return DenseSimilarity(tensor.shape[0], {"matrix": probability}, names=names, kind=kind)


def _refuse(broken: Tensor, what: str) -> None:
    if bool(broken.any()):
        raise ValueError(
            f"`counts` must say something about every class, but class "
            f"{int(broken.nonzero()[0])} {what}; use a `smoothing` above 0."
        )


def disagreement(annotations: Any, num_classes: int) -> Tensor:
    """How often two annotators gave the same example the classes i and j, (C, C).

    Every ordered pair of different annotators counts once, so the matrix is symmetric.

    Args:
        annotations: (N, A), the class that each of A annotators gave; -1 for no answer.
        num_classes: C.

    Example:
        >>> disagreement([[0, 0, 1], [1, 1, -1]], num_classes=2)
        tensor([[2., 2.],
                [2., 2.]], dtype=torch.float64)
    """
    num_classes = _checks.class_count("num_classes", num_classes)
    table = _checks.index_tensor("annotations", annotations)
    if table.ndim != 2:
        raise ValueError(
            f"`annotations` must have shape (N, A), one row per example, "
            f"but got shape {tuple(table.shape)}."
        )
    none = table == -1
    table = _checks.class_indices("annotations", table.masked_fill(none, 0), num_classes)
    votes = torch.zeros(table.shape[0], num_classes, dtype=torch.float64)
    votes.scatter_add_(1, table, (~none).double())  # (N, C)
    return votes.T @ votes - votes.sum(0).diag()
