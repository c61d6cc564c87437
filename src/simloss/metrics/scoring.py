"""Metrics as scikit-learn scorers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _checks
from .context import decided, refuse_unused
from .registry import Metric, find


@dataclass(frozen=True)
class Scorer:
    """A scikit-learn `scoring`; made by :func:`scorer`."""

    name: str
    classes: tuple[Any, ...] | None
    decision: Any
    context: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """The metric of the estimator's answers, negated if lower is better."""
        own = np.asarray(estimator.classes_)
        classes = own if self.classes is None else np.asarray(self.classes)
        context = dict(self.context)
        if self._uses_probabilities():
            given = np.asarray(estimator.predict_proba(X))
            context["probabilities"] = np.zeros((len(given), len(classes)), given.dtype)
            context["probabilities"][:, _places(own, classes, "estimator.classes_")] = given
        if self.decision is not None:
            answers = decided(context["probabilities"], self.decision, context)
        elif "answers" in self.metric.arguments:
            answers = _places(estimator.predict(X), classes, "answers")
        else:
            answers = None
        value = self.metric(answers, _places(y, classes, "y"), **context)
        return value if self.metric.higher_is_better else -value

    @property
    def metric(self) -> Metric:
        return find(self.name)

    def _uses_probabilities(self) -> bool:
        return self.decision is not None or "probabilities" in self.metric.needs


def scorer(
    name: str, *, classes: Sequence[Any] | None = None, decision: Any = None, **context: Any
) -> Scorer:
    """A metric as scikit-learn's `scoring`: higher is better, so errors come out negative.

    Args:
        name: the name of the metric.
        classes: **all class labels in class order**. By default the labels the estimator was
            trained on, as it sorted them: wrong for an order such as low, medium, high, and
            incomplete if a fold has not seen every class.
        decision: a cost for :func:`simloss.decide`, which then makes the answers from
            `predict_proba`. By default they come from `predict`.
        **context: what else the metric needs: `cost`, `tree`, `similarity`, `positions`; the
            last is also used by a `decision` by median or mean.

    Example:
        >>> from sklearn.dummy import DummyClassifier
        >>> from simloss import metrics
        >>> X, y = [[0]] * 5, ["low", "low", "mid", "top", "top"]
        >>> model = DummyClassifier(strategy="prior").fit(X, y)
        >>> order = ["low", "mid", "top"]
        >>> metrics.scorer("mae", classes=order)(model, X, y)
        -1.0
        >>> metrics.scorer("mae", classes=order, decision="median")(model, X, y)
        -0.8
    """
    metric = find(name)
    refuse_unused([metric], context, decision)
    for need in metric.needs - {"order", "probabilities"} - context.keys():
        raise ValueError(f"`{need}` must be given for the metric {metric.name!r}.")
    if classes is not None:
        _checks.distinct("classes", list(classes))
    return Scorer(metric.name, None if classes is None else tuple(classes), decision, context)


def _places(labels: Any, classes: Any, what: str) -> Any:
    """The index of each label among the classes, (N)."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    labels = np.asarray(labels).tolist()
    for label in labels:
        if label not in place:
            raise ValueError(
                f"`classes` must hold every label, but {what} holds {label!r}; "
                f"pass all labels in class order."
            )
    return np.array([place[label] for label in labels])
