r"""First and second derivatives of the losses with respect to boosted scores, in numpy.

Scores z are logits, and p = softmax(z). Boosting takes Newton steps with a diagonal curvature:

- **soft targets**: gradient :math:`p - T_y`, curvature :math:`p (1 - p)`, its Hessian's diagonal;
- **SimLoss**: gradient :math:`p - \mathrm{softmax}(z + \log S_y)`. Its own curvature can be
  negative; :math:`p (1 - p)` is never below it, because the subtracted term is convex;
- **proper**: with J = diag(p) - p p' and F the negative entropy behind the loss, the gradient
  is :math:`J F'' (p - e_y)`. Its expected Hessian at the right scores is J F'' J, with the
  diagonal :math:`p_k^2 \, (2 S_{kk}/a_k - 1 - \sum_i p_i S_{ik}^2 / a_i^2)`, a = S p.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..loss.registry import LOSSES

Array = NDArray[np.float64]

# The losses whose derivatives are below, and those that are made from one of them.
_DERIVED = ("soft-target", "simloss", "proper")
BOOSTED = {
    name: base
    for base in _DERIVED
    for name, loss in LOSSES.items()
    if loss.module is LOSSES[base].module
}

# No probability is smaller, so its square does not underflow: exact for scores up to 345 apart.
_SMALLEST = 1e-150

# The curvature is at least this share of cross entropy's: for an S that is not proper it can be
# negative.
_LEAST_CURVATURE = 1e-3


@dataclass(frozen=True)
class ScoreGradients:
    """Gradient and curvature of one loss, (N, C) each.

    If S is the identity, all three losses are cross entropy. The proper loss is multiplied by a
    constant, `size`, and its curvature by another, `bend`, both 1 for the identity: at equal
    probabilities the curvature is then that of cross entropy, and no step overshoots the minimum,
    although all classes move at once. Settings such as the minimum sum of curvatures in a leaf mean
    the same as for the library's own objective.
    """

    loss: str
    similarity: Array  # (C, C)
    share: float = 0.0  # of cross entropy
    size: float = 1.0
    bend: float = 1.0

    @classmethod
    def of(cls, loss: str, similarity: Array, share: float) -> "ScoreGradients":
        plain = cls(loss, similarity, share)
        if loss != "proper":
            return plain
        hessian = (1 - share) * _at_equal_probabilities(similarity)
        hessian += share * _at_equal_probabilities(np.eye(len(similarity)))
        C = len(similarity)
        usual = (C - 1) / C**2  # p (1 - p)
        # Half of the sum over a row: this bounds the whole matrix, as p (1 - p) does for
        # cross entropy up to the factor 2.
        size = usual / max(np.abs(hessian).sum(1).mean() / 2, _LEAST_CURVATURE * usual)
        bend = usual / max(hessian.diagonal().mean(), _LEAST_CURVATURE * usual)
        return cls(loss, similarity, share, float(size), float(bend))

    def gradient(self, z: Array, y: NDArray[np.int64]) -> Array:
        """Derivatives with respect to the scores z, (N, C), if the classes y, (N), are true."""
        p = softmax(z)
        one = {"soft-target": self._soft_target, "simloss": self._simloss, "proper": self._proper}
        found = one[self.loss](p, z, y)
        if self.share:
            plain = p.copy()
            plain[np.arange(len(y)), y] -= 1
            found = (1 - self.share) * found + self.share * plain
        return self.size * found

    def curvature(self, z: Array) -> Array:
        """The positive diagonal that replaces the Hessian, (N, C); it does not depend on y."""
        p = softmax(z)
        usual = p * (1 - p)
        if self.loss != "proper":
            return usual
        a = p @ self.similarity.T
        own = self.similarity.diagonal() / a
        found = np.square(p) * (2 * own - 1 - (p / np.square(a)) @ np.square(self.similarity))
        found = self.bend * ((1 - self.share) * found + self.share * usual)
        return np.maximum(found, _LEAST_CURVATURE * usual)

    def _soft_target(self, p: Array, z: Array, y: NDArray[np.int64]) -> Array:
        rows = self.similarity[y]
        return p - rows / rows.sum(1, keepdims=True)

    def _simloss(self, p: Array, z: Array, y: NDArray[np.int64]) -> Array:
        rows = self.similarity[y]
        log_rows = np.log(rows, where=rows > 0, out=np.full_like(rows, -np.inf))
        return p - softmax(z + log_rows)

    def _proper(self, p: Array, z: Array, y: NDArray[np.int64]) -> Array:
        S = self.similarity
        a = p @ S.T  # (N, C)
        own = np.take_along_axis(a, y[:, None], 1)  # (N, 1)
        columns = S.T[y]  # (N, C): S_iy
        by_p = (p * columns / np.square(a)) @ S - S[y] / own - columns / a
        return p * (by_p - (p * by_p).sum(1, keepdims=True))


def softmax(z: Array) -> Array:
    """(N, C), never 0."""
    e = np.exp(z - z.max(1, keepdims=True))
    return np.maximum(e / e.sum(1, keepdims=True), _SMALLEST)


def _at_equal_probabilities(S: Array) -> Array:
    """The proper loss's expected Hessian J F'' J at equal probabilities, (C, C)."""
    C = len(S)
    a = S.mean(1)
    ratio = S / a[:, None]  # S_ik / a_i
    second = ratio + ratio.T - ratio.T @ ratio / C  # F''
    J = np.eye(C) / C - 1 / C**2
    return J @ second @ J
