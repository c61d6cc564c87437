"""Classes with a cost for confusing one with another."""

from collections.abc import Sequence
from typing import Any

from .. import _checks
from .base import Similarity
from .matrix import DenseSimilarity


def cost(
    matrix: Any, temperature: float = 1.0, *, names: Sequence[str] | None = None
) -> Similarity:
    r"""Similarity from a matrix of costs; row = true class, column = answer.

    .. math:: S_{ij} = \exp(-\mathrm{cost}_{ij} / \mathrm{temperature})

    This family includes every similarity: a temperature close to 0 is plain cross entropy, and a
    large one weighs answers by their expected cost. The matrix may be asymmetric: missing an
    illness can cost more than a false alarm.

    Args:
        matrix: (C, C), 0 on the diagonal, at least 0 elsewhere; infinity means a similarity of 0.
        temperature: the cost at which the similarity has fallen to 1/e.
        names: one name per class; by default the labels of a pandas table.

    Example:
        >>> cost([[0, 5], [1, 0]], temperature=2, names=["ill", "healthy"]).to_dense()
        tensor([[1.0000, 0.0821],
                [0.6065, 1.0000]], dtype=torch.float64)
    """
    costs = _checks.float_tensor("cost", matrix)
    _checks.square("cost", costs)
    labels = _checks.labels_of_both_sides("cost", matrix)
    _checks.cost_values(costs)
    temperature = _checks.positive("temperature", temperature)
    names = _checks.class_names(labels if names is None else names, costs.shape[0])
    similarity = (-costs.detach() / temperature).exp()
    return DenseSimilarity(costs.shape[0], {"matrix": similarity}, names=names)
