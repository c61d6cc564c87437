"""SimLoss, the paper's loss: a class similar to the true one counts as partly right."""

from typing import Any

from torch import Tensor

from ..similarity import ClassGraph, Similarity
from .contract import Formula, Options, applied
from .mixture import log_mixture, log_mixtures, log_total
from .module import SimilarityLoss


def _of_target(z: Tensor, y: Tensor, similarity: Similarity) -> Tensor:
    return log_total(z) - log_mixture(z, y, similarity)


def _of_each_class(z: Tensor, similarity: Similarity) -> Tensor:
    return log_total(z, keepdim=True) - log_mixtures(z, similarity)


SIM_LOSS = Formula(_of_target, _of_each_class, "sim")


def sim_loss(
    input: Tensor,
    target: Tensor,
    similarity: Any,
    *,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    cross_entropy_share: float = 0.0,
    smoothness: float | ClassGraph = 0.0,
) -> Tensor:
    r"""Cross entropy that takes class similarity into account.

    .. math::

        \ell(z, y) = -\log \sum_{c=1}^{C} S_{yc}\, p_c
                   = \log \sum_c e^{z_c} - \log \sum_c S_{yc}\, e^{z_c},
        \qquad p = \mathrm{softmax}(z)

    with gradient :math:`p - \mathrm{softmax}(z + \log S_y)`. It is 0 if all probability is on the
    true class (or on classes interchangeable with it), and plain cross entropy if S is the
    identity. It is computed in log space, without any epsilon, so it is exact for all logits.

    It is not a proper scoring rule: its optimum is sparse, and its probabilities are not a
    posterior. Those of :func:`proper_sim_loss` are.

    Args:
        input: logits, (C), (N, C) or (N, C, d1, ..., dK); float16 to float64.
        target: class indices, (), (N) or (N, d1, ..., dK); or class probabilities in the shape of
            `input`, which give :math:`\sum_y t_y\, \ell(z, y)`. With a similarity from
            :func:`simloss.similarity.with_nodes`, also nodes above the classes.
        similarity: a :class:`simloss.Similarity`, or a (C, C) tensor, array or nested list with
            values in [0, 1] and diagonal 1, row = true class. A tensor that requires gradients
            gets them.
        weight: a weight per class, (C). The mean is then a weighted mean, as in torch.
        ignore_index: a target that does not count.
        reduction: "mean", "sum" or "none".
        label_smoothing: in [0, 1]; the share of the uniform distribution in the target.
        cross_entropy_share: in [0, 1]; blends in plain cross entropy,
            :math:`(1 - a)\,\ell + a\,\ell_{CE}`. A little helps if a confident answer on a
            similar wrong class leaves almost no gradient. With a share of 1 it is cross entropy.
        smoothness: at least 0; how smooth the logits should be over similar classes. Adds
            :math:`\lambda \sum_{(i, j)} w_{ij} (z_i - z_j)^2` to the loss of each example, which is
            weighted, averaged and ignored with it, over the edges of
            :func:`simloss.similarity.class_graph`. It should fall with the number n of training
            examples: the rule is ``class_graph(S).total_weight / n``. Or a
            :class:`~simloss.similarity.ClassGraph`, whose weights are used unchanged.

    Returns:
        A scalar, or with reduction "none" a tensor in the shape of the class indices; in the dtype
        that `F.cross_entropy` would return.

    Example:
        >>> import torch, simloss
        >>> logits = torch.tensor([[0.0, 2.0, 0.0]])  # says class 1
        >>> S = simloss.similarity.order(3, r=0.5)
        >>> simloss.sim_loss(logits, torch.tensor([1]), S).item()  # right
        0.11...
        >>> simloss.sim_loss(logits, torch.tensor([0]), S).item()  # nearly right
        0.641...
        >>> torch.nn.functional.cross_entropy(logits, torch.tensor([0])).item()
        2.239...

    Reference:
        K. Kobs et al., SimLoss: Class Similarities in Cross Entropy, ISMIS 2020.
    """
    options = Options(
        weight, ignore_index, reduction, label_smoothing, cross_entropy_share, smoothness
    )
    return applied(SIM_LOSS, input, target, similarity, options)


class SimLoss(SimilarityLoss):
    """:func:`simloss.sim_loss` as a module: it replaces `nn.CrossEntropyLoss()`.

    Example:
        >>> import torch, simloss
        >>> loss = simloss.SimLoss(simloss.similarity.order(90, r=0.8))
        >>> loss
        SimLoss(order(90 classes, r=0.8))
        >>> logits = torch.zeros(4, 90, requires_grad=True)
        >>> loss(logits, torch.tensor([3, 14, 15, 9])).backward()
    """

    function = staticmethod(sim_loss)
    formula = SIM_LOSS
