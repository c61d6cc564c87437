"""Any scikit-learn classifier, with the answers of lowest expected cost."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .. import _checks
from ..calibration import fit_temperature, logits, tempered
from ..decision import Thresholds, decide, expected_cost, fit_thresholds
from ..decision.aims import BY_POSITION
from ..decision.answer import UNSURE
from ..decision.costs import WORDS
from .class_knowledge import cost_of
from .class_order import LabelOrder, order_of_categories

_checks.installed("sklearn", "sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.model_selection import cross_val_predict  # noqa: E402
from sklearn.utils import assert_all_finite, get_tags  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import check_is_fitted, column_or_1d  # noqa: E402

Array = np.ndarray[Any, Any]

_SEEN_BY_FIT = ("n_features_in_", "feature_names_in_")


class CostAwareClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Any classifier with `predict_proba`, with the answers of lowest expected cost.

    It wraps pipelines, gradient boosting, LightGBM, XGBoost, CatBoost and anything else with
    scikit-learn's interface, and works in `GridSearchCV`, `clone` and pickles. The classifier is
    trained unchanged; only the answers change.

    To wrap a trained classifier, pass ``FrozenEstimator(model)``, from `sklearn.frozen`: `fit`
    then leaves it alone and uses its examples, **which it must not have been trained on**,
    to calibrate and to fit thresholds.

    **The class order matters** for "absolute", "squared" and a plain matrix: as for
    :class:`simloss.SimLossClassifier`.

    Args:
        estimator: the classifier.
        cost: as for :func:`simloss.decide`: "zero-one", "absolute", "squared", a (K, K) cost in
            class order (or a pandas table with labels), row = true class, a similarity or a
            tree; their names are matched with the labels, and there may be more of them.
        calibrate: whether to fit a temperature (:func:`simloss.calibration.fit_temperature`) on
            probabilities of examples that the classifier has not seen.
        abstain: answer `unsure` if even the best class has an expected cost above this.
        thresholds: for the cost "squared", the metric to fit thresholds for, such as
            "quadratic_kappa" (:func:`simloss.fit_thresholds`), on the same probabilities.
        class_order: every label, from the lowest to the highest; may name classes without examples.
        by_value: whether "absolute" and "squared" use the labels as numbers or dates instead of
            their places in the class order.
        cv: for `calibrate` and `thresholds`: how to get probabilities of unseen examples, as for
            `cross_val_predict`. The classifier is trained this many more times.
        unsure: the label for "unsure"; by default -1 for numbers and "unsure" for words.

    Attributes:
        estimator_: the trained classifier.
        classes_: the labels, sorted.
        class_order_: the labels in class order.
        temperature_: 1 without `calibrate`.
        thresholds_: the result of :func:`simloss.fit_thresholds`, or None.

    Example:
        >>> import numpy as np, simloss
        >>> from sklearn.linear_model import LogisticRegression
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(300, 1))
        >>> ill = random.random(300) < 1 / (1 + np.exp(3 - X[:, 0]))
        >>> y = np.where(ill, "ill", "well")
        >>> costs = [[0, 20], [1, 0]]  # ill, well: an illness missed is the worst
        >>> model = simloss.CostAwareClassifier(
        ...     LogisticRegression(), cost=costs, class_order=["ill", "well"]
        ... ).fit(X, y)
        >>> model.predict([[-1.0], [1.0]])
        array(['well', 'ill'], dtype='<U4')
        >>> model.estimator_.predict([[-1.0], [1.0]])
        array(['well', 'well'], dtype='<U4')
        >>> model.expected_cost([[1.0]]).round(2)
        array([[0.87, 2.62]])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Any = "zero-one",
        calibrate: bool = False,
        abstain: float | None = None,
        thresholds: str | None = None,
        class_order: Sequence[Any] | None = None,
        by_value: bool = False,
        cv: Any = 5,
        unsure: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.calibrate = calibrate
        self.abstain = abstain
        self.thresholds = thresholds
        self.class_order = class_order
        self.by_value = by_value
        self.cv = cv
        self.unsure = unsure

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Train the classifier on X (N, D) with labels y (N), then fit temperature and thresholds.

        Args:
            X: the examples, in the form the classifier takes.
            y: their labels.
            **fit_params: passed to the classifier's `fit`, including `sample_weight`; temperature
                and thresholds count every example with a weight above 0 once.
        """
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"`estimator` must have predict_proba, but {type(self.estimator).__name__} does "
                f"not; sklearn.calibration.CalibratedClassifierCV adds it."
            )
        categories = order_of_categories(y)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        labels = np.asarray(labels)
        self.estimator_ = clone(self.estimator).fit(X, labels, **fit_params)
        self.classes_ = np.asarray(self.estimator_.classes_)
        for name in _SEEN_BY_FIT:
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self._learn_order(categories)
        self.temperature_ = 1.0
        self.thresholds_: Thresholds | None = None
        if self.calibrate or self.thresholds is not None:
            self._fit_on_top(X, labels, fit_params)
        return self

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, calibrated, (N, C), in the order of `classes_`."""
        check_is_fitted(self, "estimator_")
        return np.asarray(tempered(self.estimator_.predict_proba(X), self.temperature_))

    def predict(self, X: Any) -> Array:
        """The labels with the lowest expected cost, (N)."""
        p = self.predict_proba(X)
        p, (cost, positions) = p[:, self._order.columns], self._cost()
        answers = decide(
            p, cost, positions=positions, thresholds=self.thresholds_, abstain=self.abstain
        )
        found = self.classes_[self._order.columns[answers]]
        is_unsure = answers == UNSURE
        if not is_unsure.any():
            return found
        label = np.asarray(self._unsure_label())
        is_alike = label.dtype.kind == found.dtype.kind or {label.dtype.kind, found.dtype.kind} <= {
            *"iuf"
        }
        return np.where(is_unsure, label, found if is_alike else found.astype(object))

    def expected_cost(self, X: Any) -> Array:
        """The expected cost of each answer, (N, C), in the order of `classes_`."""
        p = self.predict_proba(X)
        p, (cost, positions) = p[:, self._order.columns], self._cost()
        found = np.empty(p.shape)
        found[:, self._order.columns] = expected_cost(p, cost=cost, positions=positions)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.input_tags = own.input_tags
        if own.classifier_tags is not None:
            tags.classifier_tags = own.classifier_tags
        tags.classifier_tags.multi_label = False
        tags.target_tags.single_output = True
        return tags

    def _learn_order(self, categories: list[Any] | None) -> None:
        given = self.class_order if self.class_order is not None else categories
        self._order = LabelOrder.of(self.classes_, given)
        self.class_order_ = self.classes_[self._order.columns]
        is_word = isinstance(self.cost, str)
        if given is None and is_word and WORDS.get(self.cost) != "zero-one":
            self._order.warn_of_the_alphabet()
        self._cost()  # reports a mistake in it now
        if self.thresholds is not None and (not is_word or WORDS[self.cost] != "squared"):
            raise ValueError(
                f"`thresholds` must be used with the cost 'squared', but got {self.cost!r}."
            )
        if self.abstain is not None:
            _checks.threshold("abstain", self.abstain)
            self._unsure_label()

    def _cost(self) -> tuple[Any, Any]:
        cost, positions = cost_of(self.cost, self._order, by_value=self.by_value, name="cost")
        if self.thresholds is None or self.thresholds in BY_POSITION:
            return cost, positions
        return cost, None  # they were fitted for class indices

    def _unsure_label(self) -> Any:
        is_number = self.classes_.dtype.kind in "iuf"
        label = self.unsure if self.unsure is not None else (-1 if is_number else "unsure")
        if label in self.classes_.tolist():
            raise ValueError(f"`unsure` must not be a class, but {label!r} is one.")
        return label

    def _fit_on_top(self, X: Any, labels: Array, fit_params: dict[str, Any]) -> None:
        """A temperature, then thresholds, from probabilities of unseen examples."""
        p = self._unseen(X, labels, fit_params)[:, self._order.columns]
        place = {label: at for at, label in enumerate(self.class_order_.tolist())}
        for label in labels.tolist():
            if label not in place:
                raise ValueError(
                    f"`y` must hold the classifier's classes, but {label!r} is not one."
                )
        truth = np.array([place[label] for label in labels.tolist()])
        if fit_params.get("sample_weight") is not None:  # examples of weight 0 do not count
            counts = np.asarray(fit_params["sample_weight"]) > 0
            p, truth = p[counts], truth[counts]
        if self.calibrate:
            self.temperature_ = fit_temperature(logits(p), truth)
        if self.thresholds is not None:
            _, positions = self._cost()
            self.thresholds_ = fit_thresholds(
                tempered(p, self.temperature_), truth, self.thresholds, positions=positions
            )

    def _unseen(self, X: Any, labels: Array, fit_params: dict[str, Any]) -> Array:
        """The probabilities from a classifier that was not trained on these examples, (N, C)."""
        if isinstance(self.estimator, FrozenEstimator):
            return np.asarray(self.estimator_.predict_proba(X))
        found = cross_val_predict(
            self.estimator, X, labels, cv=self.cv, method="predict_proba", params=fit_params
        )
        return np.asarray(found)
