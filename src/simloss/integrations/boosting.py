"""Similarities and costs in boosted trees: LightGBM, XGBoost and CatBoost.

This module imports none of the three: an objective and a metric are objects they call.
"""

from collections.abc import Iterator
from typing import Any, NoReturn, Self

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _checks
from ..decision import decide, expected_cost
from ..decision.costs import WORDS
from ..loss.registry import LOSSES
from ..similarity import as_similarity
from .score_gradients import BOOSTED, ScoreGradients, softmax

Array = NDArray[np.float64]

# If no fourth argument is passed: only LightGBM's scikit-learn classes pass one.
_NOT_GIVEN: Any = object()

# Rows whose sums are this close to 1 are probabilities.
_CLOSE_TO_ONE = 1e-3


class _Unchanging:
    """An immutable object is its own copy.

    CatBoost copies its parameters, and scikit-learn's `clone` must find the same objects it set.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class SimilarityObjective(_Unchanging):
    r"""A loss of simloss as the objective of boosted trees, for any similarity S.

    .. code-block:: python

        objective = SimilarityObjective(S)
        LGBMClassifier(objective=objective)  # or lgb.train({"objective": objective, ...}, ...)
        XGBClassifier(objective=objective)  # or xgb.train(..., obj=objective)
        CatBoostClassifier(loss_function=objective, eval_metric=CostMetric(...))

    Labels are 0, ..., C - 1, the classes of `similarity` in their order. Sample weights and the
    libraries' class weights count as usual. If S is the identity, the trees are those of
    the library's own objective started from equal probabilities.

    XGBoost and CatBoost give `predict_proba` as usual. LightGBM computes no probabilities for a
    custom objective: use ``scipy.special.softmax(model.predict(X, raw_score=True),
    axis=1)``. CatBoost calls Python for every example, so training takes about ten times as long.

    Args:
        similarity: a :class:`simloss.Similarity`, or a (C, C) array with values in [0, 1] and
            diagonal 1, row = true class.
        loss: "soft-target", "simloss", "proper" or "blended" (proper with a tenth of cross
            entropy).
        weight: a weight per class, (C), for its examples.
        cross_entropy_share: in [0, 1]; blends in plain cross entropy. 0 leaves it to `loss`.

    Example:
        >>> import numpy as np, simloss
        >>> from simloss.integrations.boosting import SimilarityObjective
        >>> objective = SimilarityObjective(simloss.similarity.order(3, r=0.5))
        >>> gradient, curvature = objective(np.array([0]), np.zeros((1, 3)))
        >>> gradient.round(3)  # class 0 is true; its neighbour is hardly pushed down
        array([[-0.238,  0.048,  0.19 ]])
    """

    def __init__(
        self,
        similarity: Any,
        *,
        loss: str = "soft-target",
        weight: Any = None,
        cross_entropy_share: float = 0.0,
    ) -> None:
        known = as_similarity(similarity).detached()
        self.similarity, self.num_classes = known, known.num_classes
        if self.num_classes < 3:
            raise ValueError(
                f"`similarity` must have at least 3 classes to boost, but it has "
                f"{self.num_classes}; for two, use the library's own objective and "
                f"`simloss.decide`."
            )
        self.loss = _checks.choice("loss", loss, tuple(BOOSTED))
        share = _checks.share("cross_entropy_share", cross_entropy_share)
        self.cross_entropy_share = share or LOSSES[loss].options.get("cross_entropy_share", 0.0)
        matrix = known.to_dense(torch.float64).numpy()
        self._gradients = ScoreGradients.of(BOOSTED[loss], matrix, self.cross_entropy_share)
        self._class_weight = _class_weight(weight, self.num_classes)

    def __call__(
        self, first: Any, second: Any, sample_weight: Any = None, group: Any = _NOT_GIVEN
    ) -> tuple[Array, Array]:
        """Gradient and curvature, (N, C) each, of the weighted losses.

        `train` calls it with (scores, data), scikit-learn's classes with (labels, scores).
        """
        call = _Call(first, second, sample_weight, group)
        z = _scores(call.scores, self.num_classes)
        y = _labels(call.labels, self.num_classes)
        weight = self._class_weight[y] * call.weight  # (N)
        # The factor of p (1 - p) in each library's own objective.
        factor = self.num_classes / (self.num_classes - 1) if call.by_lightgbm else 2.0
        gradient = self._gradients.gradient(z, y)
        curvature = factor * self._gradients.curvature(z)
        return gradient * weight[:, None], curvature * weight[:, None]

    def calc_ders_multi(
        self, approxes: Any, target: float, weight: float
    ) -> tuple[list[float], Iterator[list[float]]]:
        """For CatBoost, which maximises: derivatives of one example's minus loss, (C), (C, C)."""
        z = _scores(np.asarray(approxes)[None], self.num_classes)
        y = _labels(np.array([target]), self.num_classes)
        weight = float(weight * self._class_weight[y[0]])
        gradient = -weight * self._gradients.gradient(z, y)[0]
        return gradient.tolist(), self._hessian(z, weight)

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> NoReturn:
        """For CatBoost, which calls this if it takes the task for a binary one."""
        raise ValueError(
            f"CatBoost must be told that there are {self.num_classes} classes: "
            f"pass classes_count={self.num_classes}."
        )

    def __repr__(self) -> str:
        share = f", cross_entropy_share={self.cross_entropy_share}" * bool(self.cross_entropy_share)
        return f"SimilarityObjective({self.similarity}, loss={self.loss!r}{share})"

    def _hessian(self, z: Array, weight: float) -> Iterator[list[float]]:
        """Row by row, and only on request: CatBoost does not use it to grow trees."""
        if self._gradients.loss == "proper":
            rows = np.diag(-self._gradients.curvature(z)[0])
        else:
            p = softmax(z)[0]
            rows = np.outer(p, p) - np.diag(p)
        yield from (weight * rows).tolist()


class CostMetric(_Unchanging):
    """The mean cost of the answers, for early stopping.

    .. code-block:: python

        metric = CostMetric("absolute")
        LGBMClassifier(...).fit(..., eval_metric=metric)  # or lgb.train(..., feval=metric)
        XGBClassifier(eval_metric=metric)  # or xgb.train(..., custom_metric=metric)
        CatBoostClassifier(eval_metric=metric)

    It also works with the library's own objectives. To switch off all other metrics, pass
    ``metric="None"`` to LightGBM and ``disable_default_eval_metric=True`` to XGBoost.

    Args:
        cost: the cost of a wrong answer, as for :func:`simloss.decide`.
        positions: the position of each class, as for :func:`simloss.decide`.
        decision: how the answers are made, as the cost of :func:`simloss.decide`; by default those
            of lowest expected `cost`.
        name: its name in the library's output.

    Example:
        >>> import numpy as np
        >>> from simloss.integrations.boosting import CostMetric
        >>> probabilities = np.array([[0.4, 0.3, 0.3], [0.8, 0.1, 0.1]])
        >>> CostMetric("absolute")(np.array([2, 0]), probabilities)  # answers 1 and 0
        0.5
        >>> CostMetric("absolute", decision="argmax")(np.array([2, 0]), probabilities)
        1.0
    """

    def __init__(
        self,
        cost: Any = "zero-one",
        *,
        positions: Any = None,
        decision: Any = None,
        name: str = "mean_cost",
    ) -> None:
        self.cost, self.positions, self.decision = cost, positions, decision
        self.__name__ = name  # where XGBoost looks for it

    def __call__(
        self, first: Any, second: Any, sample_weight: Any = None, group: Any = _NOT_GIVEN
    ) -> Any:
        """The metric in the form the calling library expects."""
        call = _Call(first, second, sample_weight, group)
        costs = self._costs(call.scores, call.labels)
        value = float(np.average(costs, weights=call.weight))
        if call.by_lightgbm:
            return self.__name__, value, False
        return (self.__name__, value) if call.is_native else value

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """For CatBoost: the sum of the costs, and that of the weights."""
        costs = self._costs(np.stack(approxes, 1), np.asarray(target))
        weights = np.ones(len(costs)) if weight is None else np.asarray(weight, np.float64)
        return float(costs @ weights), float(weights.sum())

    def get_final_error(self, error: float, weight: float) -> float:
        """For CatBoost: the mean."""
        return error / weight

    def is_max_optimal(self) -> bool:
        """For CatBoost: lower is better."""
        return False

    def _costs(self, scores: Any, labels: Any) -> Array:
        """The cost of the answer to each example, (N)."""
        z = np.asarray(scores, np.float64)
        if z.ndim != 2:
            raise ValueError(
                f"`CostMetric` needs one score per class, (N, C), but got shape {z.shape}."
            )
        p = z if _are_probabilities(z) else softmax(z)
        y = _labels(labels, z.shape[1])
        decision, positions = self.decision, self.positions
        if decision is None:
            decision = self.cost
        elif not isinstance(decision, str) or WORDS.get(decision) == "zero-one":
            positions = None
        answers = decide(p, decision, positions=positions)
        certain = np.eye(z.shape[1])
        return np.asarray(expected_cost(certain, cost=self.cost, positions=self.positions))[
            y, answers
        ]


class _Call:
    """Who calls, and with what: native training or the scikit-learn classes of a library.

    `train` of either library passes scores and its data set. LightGBM's classes pass labels,
    scores, weights and groups to a function of four parameters; XGBoost's classes pass labels and
    scores, and weights by name if there are any.
    """

    def __init__(self, first: Any, second: Any, sample_weight: Any, group: Any) -> None:
        self.is_native = hasattr(second, "get_label")
        if self.is_native:
            self.scores, self.labels = first, second.get_label()
            sample_weight = second.get_weight()
            self.by_lightgbm = type(second).__module__.startswith("lightgbm")
        else:
            self.labels, self.scores = first, second
            self.by_lightgbm = group is not _NOT_GIVEN
        is_weighted = sample_weight is not None and len(sample_weight) > 0
        self.weight = (
            np.asarray(sample_weight, np.float64) if is_weighted else np.ones(len(self.labels))
        )  # (N)


def _scores(scores: Any, num_classes: int) -> Array:
    z = np.asarray(scores, np.float64)
    if z.ndim != 2 or z.shape[1] != num_classes:
        came = z.shape[1] if z.ndim == 2 else 1
        raise ValueError(
            f"`similarity` must have as many classes as the model has scores per example, "
            f"but it has {num_classes} and the model {came}; if a class has no examples, use "
            f"`simloss.similarity.restricted` to leave it out."
        )
    return z


def _labels(labels: Any, num_classes: int) -> NDArray[np.int64]:
    y = np.asarray(labels, np.float64)
    wrong = ~((y >= 0) & (y < num_classes) & (y == np.floor(y)))
    if wrong.any():
        raise ValueError(
            f"Labels must be whole numbers from 0 to {num_classes - 1}, the class indices, "
            f"but got {y[wrong][0]:g}."
        )
    return y.astype(np.int64)


def _are_probabilities(rows: Array) -> bool:
    """What the libraries pass for their own objectives; for others they pass scores."""
    return bool((rows >= 0).all() and (np.abs(rows.sum(1) - 1) < _CLOSE_TO_ONE).all())


def _class_weight(weight: Any, num_classes: int) -> Array:
    if weight is None:
        return np.ones(num_classes)
    known = _checks.class_weight(_checks.float_tensor("weight", weight), num_classes)
    _checks.not_negative("weight", known)
    return known.detach().double().cpu().numpy()
