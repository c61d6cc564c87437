"""Calibrates logits and probabilities with one temperature, fitted on held-out data."""

import math
from typing import Any

import torch
from torch import Tensor

from .. import _checks

_STEPS = 90  # at most; about eight are needed
_CLOSE = 1e-11  # relative change of the temperature at which the search ends
_LEAST = 1e-7  # a probability that float32 cannot tell from 0 when added to 1


def fit_temperature(
    logits: Any, labels: Any, *, bounds: tuple[float, float] = (0.01, 100.0)
) -> float:
    r"""The temperature that makes held-out labels most likely.

    .. math:: \hat T = \operatorname*{argmin}_{T} \sum_n -\log \mathrm{softmax}(z_n / T)_{y_n}

    One number for all classes, so no answer by argmax changes, but every decision that weighs
    probabilities does: ``simloss.decide((logits / T).softmax(-1), cost)``. Above 1 the network was
    too sure of itself, below 1 not sure enough. Fit it on **validation** data, never on the data
    the network is trained on or tested on.

    The objective is convex in 1/T. The search keeps the zero of its slope between two bounds that
    close in on it, so there is nothing to tune and it cannot diverge. Without an optimum inside
    the bounds it returns a bound: the lower one if every example is right (more certainty is then
    always better), the upper one if the logits are no better than chance. If the temperature makes
    no difference (one class, equal logits), it returns 1, or the bound closest to 1.

    Args:
        logits: (..., C), classes last. Minus infinity marks a class as impossible.
        labels: the true classes, (...).
        bounds: the lowest and highest temperature to try.

    Example:
        >>> import torch, simloss
        >>> logits = torch.tensor([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 0.0]])
        >>> labels = torch.tensor([0, 0, 0, 1])  # right three times of four, but 98 % sure
        >>> temperature = simloss.calibration.fit_temperature(logits, labels)
        >>> (logits / temperature).softmax(-1)[0]
        tensor([0.7500, 0.2500])

    Reference:
        C. Guo et al., On Calibration of Modern Neural Networks, ICML 2017.
    """
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise TypeError(f"`bounds` must be (lower, upper), but got {bounds!r}.")
    lower, upper = (_checks.positive("bounds", bound) for bound in bounds)
    if lower > upper:
        raise ValueError(f"`bounds` must be (lower, upper), but got {bounds}.")
    z, own = _against_label(logits, labels)
    # In b = 1/T the slope only rises: from negative (colder is better) to positive.
    low, high = 1 / upper, 1 / lower
    slope_low, slope_high = _slope(z, own, low)[0], _slope(z, own, high)[0]
    if slope_low >= 0 and slope_high <= 0:
        return min(max(1.0, lower), upper)
    if slope_low >= 0 or slope_high <= 0:
        return upper if slope_low >= 0 else lower
    return 1 / _zero(z, own, low, high)


def tempered(probabilities: Any, temperature: float) -> Any:
    r"""Probabilities at another temperature, :math:`p_c^{1/T} / \sum_k p_k^{1/T}`.

    Equal to ``(logits / T).softmax(-1)``, for use if only the probabilities are known.

    Args:
        probabilities: (..., C), classes last; a tensor or an array.
        temperature: T, as :func:`fit_temperature` finds it from :func:`logits`.

    Example:
        >>> import torch
        >>> from simloss import calibration
        >>> p = torch.tensor([[0.982, 0.018]] * 4)
        >>> T = calibration.fit_temperature(calibration.logits(p), torch.tensor([0, 0, 0, 1]))
        >>> calibration.tempered(p, T)[0]
        tensor([0.7500, 0.2500])
    """
    temperature = _checks.positive("temperature", temperature)
    p = _checks.probabilities(probabilities)
    if temperature == 1:
        return probabilities if isinstance(probabilities, Tensor) else p.numpy()
    made = (_log(p) / temperature).softmax(-1).to(p.dtype)
    return made if isinstance(probabilities, Tensor) else made.numpy()


def logits(probabilities: Any) -> Tensor:
    """Logits whose softmax is these probabilities, (..., C).

    A probability below 1e-7 counts as 1e-7: trees and nearest neighbours give 0 to what they have
    not seen, and no temperature could fix that.

    Args:
        probabilities: (..., C), classes last.

    Example:
        >>> from simloss import calibration
        >>> calibration.logits([0.5, 0.5, 0.0]).softmax(-1)
        tensor([5.0000e-01, 5.0000e-01, 1.0000e-07], dtype=torch.float64)
    """
    return _log(_checks.probabilities(probabilities))


def _log(p: Tensor) -> Tensor:
    return p.clamp(min=_LEAST).log()


def _zero(z: Tensor, own: Tensor, low: float, high: float) -> float:
    """The b with slope 0: Newton steps in log b, halving the bounds if they fail."""
    left, right = math.log(low), math.log(high)
    at = min(max(0.0, left), right)  # b = 1, no temperature
    for _ in range(_STEPS):
        slope, bend = _slope(z, own, math.exp(at))
        left, right = (at, right) if slope < 0 else (left, at)
        step = slope / (bend * math.exp(at)) if bend > 0 else math.inf
        if abs(step) < _CLOSE or right - left < _CLOSE:
            break
        at = at - step if left < at - step < right else (left + right) / 2
    return math.exp(at)


def _against_label(logits: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """Logits minus the largest of each example, (M, C), and that of the label, (M); in float64."""
    # On the CPU, because not every device has float64; this happens only once.
    z = _checks.float_tensor("logits", logits).detach().cpu()
    if z.ndim == 0 or 0 in z.shape:
        raise ValueError(
            f"`logits` must have shape (..., C) and at least one example, but got {tuple(z.shape)}."
        )
    y = _checks.class_indices("labels", labels, z.shape[-1]).to(z.device)
    _checks.same_shape("labels", y.shape, "logits", z.shape[:-1])
    z = z.reshape(-1, z.shape[-1]).to(torch.float64)
    if bool((z.isnan() | (z == float("inf"))).any()):
        raise ValueError("`logits` must be finite or minus infinity, but got NaN or infinity.")
    z = z - z.amax(-1, keepdim=True)
    own = z.gather(-1, y.reshape(-1, 1)).squeeze(-1)  # (M)
    if not bool(own.isfinite().all()):
        raise ValueError(
            "`labels` must be possible, but the logit of one is minus infinity, "
            "which no temperature can fix."
        )
    return z, own


def _slope(z: Tensor, own: Tensor, b: float) -> tuple[float, float]:
    """First and second derivative of the mean negative log likelihood by b = 1/T."""
    p = (z * b).softmax(-1)
    finite = z.clamp(min=-1e150)  # an impossible class counts as 0
    mean = (p * finite).sum(-1)
    spread = (p * (finite - mean.unsqueeze(-1)).square()).sum(-1)
    return float((mean - own).mean()), float(spread.mean())
