"""Class probabilities for a regression, from its errors on validation data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _checks

Array = NDArray[np.float64]

# The number of distances between predictions to compute at once.
_BLOCK_ENTRIES = 1 << 22


def residual_probabilities(
    predictions: Any,
    validation_predictions: Any,
    validation_targets: Any,
    *,
    num_classes: int | None = None,
    positions: Any = None,
    neighbors: int = 200,
) -> Array:
    r"""Class probabilities of a regression on ordered classes, from its errors on validation data.

    .. math::

        p_c(x) \propto \sum_{i \in N(x)} w_i(x)\, \lambda_c(f(x) + t_i - f(x_i)),
        \qquad w_i(x) = \Bigl(1 - \bigl(|f(x) - f(x_i)| / h(x)\bigr)^3\Bigr)^3

    The errors of the `neighbors` validation examples whose predictions are closest to f(x) show
    what to expect: each error is added to f(x), the sum is clipped to the range of the classes and
    shared between the two nearest classes, :math:`\lambda`, in proportion. Closer predictions
    count more; h is the distance of the furthest. So errors may grow with the prediction and
    need not be symmetric, and nothing lies beyond the ends of the scale. A share of 1 / (M + 1) is
    spread over all classes, so that none is impossible.

    With it :func:`simloss.decide`, its `abstain`, :func:`simloss.expected_cost` and every metric of
    probabilities work for a regression, such as boosting with absolute error. Equal predictions get
    equal probabilities: it cannot see what else the errors depend on.

    Args:
        predictions: f(x), (N), in the unit of `positions`.
        validation_predictions: f(x_i), (M), for examples the regression was not trained on.
        validation_targets: their true classes, (M), from 0 to C - 1.
        num_classes: C; by default the length of `positions`, or what `validation_targets` shows.
        positions: the position of each class, (C), on the scale the regression predicts; t_i is
            that of the true class. By default class c lies at c.
        neighbors: how many; at most all. Fewer follow changes of the errors more closely, more
            are less noisy.

    Returns:
        Probabilities, an array of shape (N, C).

    Example:
        >>> import simloss
        >>> from simloss.calibration import residual_probabilities
        >>> p = residual_probabilities([1.0, 2.5], [1.0] * 4, [1, 1, 1, 2], num_classes=4)
        >>> p.round(2)
        array([[0.05, 0.65, 0.25, 0.05],
               [0.05, 0.05, 0.35, 0.55]])
        >>> simloss.decide(p, "median")
        array([1, 3])

    Reference:
        Conditional distributions from the predictions of one model: E.-M. Walz et al., Easy
        Uncertainty Quantification (EasyUQ), SIAM Review 2024.
    """
    at, place = _positions(positions, num_classes, validation_targets)
    y = _checks.class_indices("validation_targets", validation_targets, len(at)).numpy()
    f, known = (
        _numbers("predictions", predictions),
        _numbers("validation_predictions", validation_predictions),
    )
    _checks.same_shape("validation_predictions", known.shape, "validation_targets", tuple(y.shape))
    count = min(_checks.class_count("neighbors", neighbors), len(y))
    ordered = np.sort(at)
    f, known = (np.clip(each, ordered[0], ordered[-1]) for each in (f, known))
    errors = at[y] - known  # (M)
    rows = max(1, _BLOCK_ENTRIES // len(y))
    found = [
        _around(f[start : start + rows], known, errors, ordered, count)
        for start in range(0, len(f), rows)
    ]
    p = np.concatenate(found)  # (N, C), by rising position
    p = (len(y) * p + 1 / len(at)) / (len(y) + 1)
    return p[:, np.argsort(place)]


def _around(f: Array, known: Array, errors: Array, ordered: Array, count: int) -> Array:
    """The shares of the sorted positions for some predictions, (B, C)."""
    distance = np.abs(f[:, None] - known)  # (B, M)
    furthest = np.partition(distance, count - 1, axis=1)[:, count - 1 : count]  # (B, 1)
    row, near = np.nonzero(distance <= furthest)  # more than `count` if distances are equal
    relative = distance[row, near] / np.maximum(furthest[row, 0], np.finfo(np.float64).tiny)
    # The furthest also counts, if only a little: all may be equally far.
    weight = np.maximum((1 - relative**3) ** 3, 1e-6)
    value = np.clip(f[row] + errors[near], ordered[0], ordered[-1])
    low = np.clip(np.searchsorted(ordered, value, "right") - 1, 0, len(ordered) - 2)
    above = (value - ordered[low]) / (ordered[low + 1] - ordered[low])
    p = np.zeros((len(f), len(ordered)))
    np.add.at(p, (row, low), weight * (1 - above))
    np.add.at(p, (row, low + 1), weight * above)
    return p / p.sum(1, keepdims=True)


def _positions(
    positions: Any, num_classes: int | None, targets: Any
) -> tuple[Array, NDArray[np.int64]]:
    """The positions of the classes, (C), and the classes by rising position, (C)."""
    if positions is None:
        if num_classes is None:
            num_classes = int(_checks.class_indices("validation_targets", targets).max()) + 1
        at = np.arange(float(_checks.class_count("num_classes", num_classes)))
    else:
        at = _numbers("positions", positions)
        _checks.distinct("positions", at.tolist())
        if num_classes is not None:
            _checks.class_counts_agree("positions", len(at), "num_classes", num_classes)
    if len(at) < 2:
        raise ValueError("A distribution needs at least 2 classes, but there is 1.")
    return at, np.argsort(at)


def _numbers(name: str, values: Any) -> Array:
    """One finite number per example, (N)."""
    tensor = _checks.float_tensor(name, values).detach().double().cpu()
    if tensor.ndim != 1 or tensor.numel() == 0:
        raise ValueError(
            f"`{name}` must have shape (N) and not be empty, but got shape {tuple(tensor.shape)}."
        )
    _checks.finite(name, tensor)
    return tensor.numpy()
