"""How large an answer must be to keep a promise, however good the probabilities are."""

from typing import Any

import torch
from torch import Tensor

from .. import _checks
from ..similarity import Tree
from .answer import blocks
from .as_cost import as_cost
from .costs import Cost, wide
from .nested import Intervals, Nested, Nodes, Sets, Steps
from .node import require_tree

KINDS = ("interval", "set")
_ROUNDING = 1e-9  # 1 - 0.9 is not exactly 0.1


def promise_threshold(
    probabilities: Any,
    truth: Any,
    answer: Any,
    *,
    level: float | None = None,
    at_most: float | None = None,
    cost: Any = None,
) -> float:
    r"""The lowest threshold at which answers keep a promise on new examples.

    With `level`, the answer contains the truth with at least that probability. With `at_most`, the
    expected distance of the truth from the answer is at most that.

    .. math:: \hat t = \inf\Big\{t : \frac{\sum_n L_n(t) + B}{N + 1} \le \alpha\Big\}

    :math:`L_n(t)` is the loss of held-out example n, B its largest possible value and
    :math:`\alpha` the promise, 1 - `level` or `at_most`. The only assumption is that new
    examples are drawn like the held-out ones (they are exchangeable). The promise holds for
    finite N, calibrated probabilities or not, **on average** over held-out and new examples; not
    for each class or each kind of example.

    Args:
        probabilities: of **held-out** examples, (..., C), used neither to train nor to calibrate.
        truth: their classes, (...).
        answer: the kind of answer, and the distance of the truth from it:

            - a :class:`simloss.Tree`: nodes, :func:`simloss.decide_node`; levels still to climb;
            - "interval": :func:`simloss.decide_interval`; classes to its nearest end;
            - "set": :func:`simloss.decide_set`; how much more its cheapest class costs than the
              cheapest of all classes.
        level: in (0, 1), such as 0.9.
        at_most: a number above 0, in the unit of the loss.
        cost: for "set" with `at_most`, as for :func:`simloss.decide`.

    Returns:
        In [0, 1]. 1 is the answer of all classes: with so few examples no other keeps the promise.
        A level needs at least level / (1 - level) examples.

    Example:
        >>> import torch, simloss
        >>> generator = torch.Generator().manual_seed(0)
        >>> p = torch.randn(1000, 5, generator=generator).softmax(-1)
        >>> truth = torch.multinomial(p, 1, generator=generator).squeeze(1)
        >>> threshold = simloss.promise_threshold(p[:500], truth[:500], "interval", level=0.9)
        >>> first, last = simloss.decide_interval(p[500:], threshold=threshold).T
        >>> ((first <= truth[500:]) & (truth[500:] <= last)).float().mean()
        tensor(0.8...)

    References:
        A. Angelopoulos et al., Conformal Risk Control, ICLR 2024. S. Goren et al., Hierarchical
        Selective Classification, NeurIPS 2024.
    """
    p = _checks.probabilities(probabilities)
    y = _checks.class_indices("truth", truth, p.shape[-1]).to(p.device)
    _checks.same_shape("truth", y.shape, "probabilities", p.shape[:-1])
    promised = _promised(level, at_most)
    nested = _nested(answer, cost, p, by_cost=at_most is not None)

    at, height = [], []
    for block, own in blocks(p, y, entries=nested.entries):
        steps = nested.steps(block, own) if level is None else _last_steps(nested.steps(block, own))
        at.append(steps.at[steps.height > 0])
        height.append(steps.height[steps.height > 0])
    worst = nested.worst if level is None else 1.0
    return _lowest(torch.cat(at), torch.cat(height), (y.numel() + 1) * promised - worst)


def _last_steps(steps: Steps) -> Steps:
    """The same if every distance counts as wrong, however small: only the last step counts."""
    nowhere = steps.at.new_full((len(steps.at), 1), -2.0)
    places = torch.where(steps.height > 0, steps.at, nowhere)  # (M, J)
    last = torch.cat([nowhere, places], -1).amax(-1)  # (M)
    return Steps(last, (last > nowhere[:, 0]).to(last))


def _lowest(at: Tensor, height: Tensor, allowed: float) -> float:
    """The lowest t in [0, 1] for which the steps above t sum to no more than is allowed."""
    rounding = _ROUNDING * (1 + abs(allowed))
    if allowed < -rounding:
        return 1.0
    at, order = at.sort(descending=True)
    is_too_much = (height[order].cumsum(0) > allowed + rounding).nonzero()
    return min(1.0, max(0.0, float(at[is_too_much[0, 0]]))) if len(is_too_much) else 0.0


def _promised(level: float | None, at_most: float | None) -> float:
    if (level is None) == (at_most is None):
        raise ValueError(
            "Exactly one of `level` and `at_most` must be given, but got "
            + ("neither." if level is None else "both.")
        )
    if level is None:
        return _checks.positive("at_most", at_most)  # type: ignore[arg-type]
    share = _checks.real("level", level)
    if not 0 < share < 1:
        raise ValueError(f"`level` must be in (0, 1), but got {share}.")
    return 1 - share


def _nested(answer: Any, cost: Any, p: Tensor, *, by_cost: bool) -> Nested:
    if cost is not None and not (answer == "set" and by_cost):
        raise ValueError("`cost` must be used with answer='set' and `at_most`.")
    if isinstance(answer, Tree):
        require_tree(answer, p.shape[-1])
        return Nodes(answer, p.device)
    if not isinstance(answer, str):
        raise TypeError(
            f"`answer` must be a simloss.Tree, 'interval' or 'set', but got "
            f"{type(answer).__name__}."
        )
    if _checks.choice("answer", answer, KINDS) == "interval":
        return Intervals(p.shape[-1])
    known = as_cost("zero-one" if cost is None else cost, p)
    if not isinstance(known, Cost):
        raise ValueError("`cost` must be the same for all examples.")
    return Sets(known, p.shape[-1], p.new_empty(0, dtype=wide(p)))
