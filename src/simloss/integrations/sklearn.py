"""The losses as a scikit-learn classifier."""

import warnings
from collections.abc import Sequence
from inspect import signature
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from .. import _checks
from ..decision import decide
from ..decision.costs import WORDS
from ..loss.registry import BASELINE, BY_RULE, LOSSES
from ..similarity import Tree, class_graph
from .class_knowledge import cost_of, similarity_of
from .class_order import LabelOrder, order_of_categories
from .table_net import Patience, TableNet, held_out

_checks.installed("sklearn", "sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.utils import check_random_state  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import (  # noqa: E402
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

Array = np.ndarray[Any, Any]

_DTYPES = (np.float64, np.float32)


class SimLossClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A small net for tables with a loss of simloss, as a scikit-learn classifier.

    It works in pipelines, `GridSearchCV`, `clone` and pickles. It standardises inputs itself, by
    the (weighted) mean and standard deviation of the training data, or of the first batch with
    :meth:`partial_fit`. float32 stays float32, everything else is float64.

    **The class order matters.** Labels that are numbers or dates, or look like them, are ordered by
    value, and well-known words by their meaning (low, medium, high). The order of other names is
    unknown: pass `class_order`, or make `y` an ordered pandas categorical; without either they are
    in alphabetical order, with a warning. `classes_` and the columns of :meth:`predict_proba` are
    sorted as everywhere in scikit-learn, whatever the class order.

    Args:
        similarity: how alike the classes are:

            - "order": r^|i - j| of the classes in their order;
            - "values": r^|a - b| of labels that are numbers or dates, evenly spaced or not;
            - "words": by the meaning of the labels as words;
            - a :class:`simloss.Tree` or a :class:`simloss.Similarity`; names are matched with the
              labels, and there may be more of them;
            - a (K, K) array in class order, or a pandas table with the labels on both sides.
        r: for "order" and "values", in [0, 1). Where the similarity shapes neither the loss nor the
            answers, as by default, `fit` warns of an `r`, `lower_bound` or `temperature`.
        loss: "simloss", "proper", "soft-target", "blended" (proper with a tenth of cross entropy)
            or "cross-entropy", which ignores the similarity.
        decision: as for :func:`simloss.decide`: "argmax", "median", "mean", a (K, K) cost in
            class order (or a pandas table with labels), row = true class, a similarity or a
            tree. With similarity "values", median and mean use the values of the labels. None is
            what suits the similarity: the median of an order, else the answer of the lowest
            expected cost by the tree or the similarity.
        class_order: every label, from the lowest to the highest; may name classes without examples.
        lower_bound: for "words", in [0, 1).
        temperature: for a tree.
        cross_entropy_share: the share of cross entropy, in [0, 1]; 0 leaves it to `loss`.
        label_smoothing: in [0, 1].
        smoothness: of the logits over like classes, at least 0, beside any loss; "rule" sets it by
            the number of training examples (with :meth:`partial_fit`, of those of the first call).
        class_weight: label -> weight, or "balanced". Multiplied by `sample_weight`.
        hidden: the sizes of the hidden layers; () is a linear model.
        learning_rate: of AdamW.
        weight_decay: of AdamW.
        batch_size: examples per step.
        max_iter: the maximum number of epochs.
        patience: stop after this many epochs in which the loss has not fallen by more than `tol`.
        tol: see `patience`.
        early_stopping: watch the loss on held-out training data, and keep the weights of the best
            epoch; otherwise the training loss is watched.
        validation_fraction: the share to hold out for that.
        device: "cpu", "cuda", "mps".
        random_state: for the initial weights, the order of examples and the held-out examples.

    Attributes:
        classes_: the labels, sorted.
        class_order_: the labels in class order.
        similarity_: the similarity of `class_order_`.
        n_iter_: epochs trained.
        loss_curve_: the mean training loss of each epoch.
        validation_curve_: with `early_stopping`, the mean loss on held-out data of each epoch.

    A weight of 2 equals two copies of an example, up to the order of the batches. With
    `early_stopping` it does not, because one of the copies may be held out.

    Example:
        >>> import numpy as np, simloss
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(200, 3))
        >>> size = np.digitize(X[:, 0] + X[:, 1], [-1, 1])
        >>> y = np.array(["small", "medium", "large"])[size]
        >>> net = simloss.SimLossClassifier(
        ...     loss="blended", r=0.5, class_order=["small", "medium", "large"],
        ...     max_iter=30, learning_rate=0.01, random_state=0,
        ... ).fit(X, y)
        >>> net.predict([[-2, -2, 0], [0, 0, 0], [2, 2, 0]])
        array(['small', 'medium', 'large'], dtype='<U6')
        >>> net.classes_
        array(['large', 'medium', 'small'], dtype='<U6')
        >>> net.score(X, y) > 0.9
        True
    """

    def __init__(
        self,
        similarity: Any = "order",
        *,
        r: float = 0.95,
        loss: str = "cross-entropy",
        decision: Any = None,
        class_order: Sequence[Any] | None = None,
        lower_bound: float = 0.0,
        temperature: float = 1.0,
        cross_entropy_share: float = 0.0,
        label_smoothing: float = 0.0,
        smoothness: Any = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        hidden: Sequence[int] = (64, 64),
        learning_rate: float = 3e-3,
        weight_decay: float = 0.0,
        batch_size: int = 256,
        max_iter: int = 200,
        patience: int = 10,
        tol: float = 1e-4,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        device: str = "cpu",
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.r = r
        self.loss = loss
        self.decision = decision
        self.class_order = class_order
        self.lower_bound = lower_bound
        self.temperature = temperature
        self.cross_entropy_share = cross_entropy_share
        self.label_smoothing = label_smoothing
        self.smoothness = smoothness
        self.class_weight = class_weight
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.patience = patience
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on examples X (N, D) with labels y (N) and optional weights (N)."""
        self._check_options()
        categories = order_of_categories(y)
        X, y = validate_data(self, X, y, dtype=_DTYPES)
        y = _labels(y)
        weights = self._weights(X, y, np.unique(y), sample_weight)
        self._learn_classes(np.unique(y), categories)
        x, t, w = self._tensors(X, y, weights)
        validation = None
        random = check_random_state(self.random_state)
        if self.early_stopping:
            out = torch.from_numpy(held_out(t.numpy(), self.validation_fraction, random))
            validation = x[out], t[out], w[out]
            x, t, w = x[~out], t[~out], w[~out]
        self._start(x, w, random)
        self._train((x, t, w), validation)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train one epoch on these examples; the first call needs `classes`, all the labels."""
        first = not hasattr(self, "net_")
        if first:
            self._check_options()
            if classes is None:
                raise ValueError("`classes` must be passed in the first call of partial_fit.")
        if self.class_weight == "balanced":
            raise ValueError(
                "`class_weight` must be a dict in partial_fit, which cannot count the "
                "examples of each class, but got 'balanced'."
            )
        categories = order_of_categories(y)
        X, y = validate_data(self, X, y, dtype=_DTYPES, reset=first)
        y = _labels(y)
        if first:
            self._learn_classes(np.unique(_labels(np.asarray(classes))), categories)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"`classes` must be those of the first call of partial_fit, "
                f"{self.classes_.tolist()}, but got {np.unique(classes).tolist()}."
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"`y` must be among `classes`, but {unknown.tolist()[0]!r} is not.")
        x, t, w = self._tensors(X, y, self._weights(X, y, self.classes_, sample_weight))
        if first:
            self._start(x, w, check_random_state(self.random_state))
        self._epoch(x, t, w)
        return self

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, (N, C), in the order of `classes_`.

        SimLoss is not a proper scoring rule: with "simloss" they are sharper than a posterior.
        """
        p = self._probabilities(X)
        found = np.empty_like(p)
        found[:, self._order.columns] = p
        return found

    def predict(self, X: Any) -> Array:
        """The labels answered by `decision`, (N)."""
        p = self._probabilities(X)
        cost, positions = self._cost()
        answers = decide(p, cost, positions=positions)
        return self.classes_[self._order.columns[answers]]

    def _probabilities(self, X: Any) -> Array:
        """In class order, (N, C)."""
        check_is_fitted(self, "net_")
        X = validate_data(self, X, dtype=_DTYPES, reset=False)
        x = self.net_.ready(torch.from_numpy(_checks.writable(X)))
        return self.net_.logits(x).softmax(-1).numpy()

    def _check_options(self) -> None:
        _checks.choice("loss", self.loss, tuple(LOSSES))
        for name in ("batch_size", "max_iter", "patience"):
            _checks.class_count(name, getattr(self, name))
        if not isinstance(self.hidden, (tuple, list)):
            raise TypeError(
                f"`hidden` must be a tuple of widths, such as (32,), but got {self.hidden!r}."
            )
        for size in self.hidden:
            _checks.class_count("hidden", size)
        _checks.positive("learning_rate", self.learning_rate)
        _checks.at_least_zero("weight_decay", self.weight_decay)
        _checks.at_least_zero("tol", self.tol)
        _checks.fraction("validation_fraction", self.validation_fraction)
        if self.smoothness != BY_RULE:
            _checks.at_least_zero("smoothness", self.smoothness)
        self._warn_of_no_effect()

    def _warn_of_no_effect(self) -> None:
        """One sentence on a parameter of a similarity that shapes neither loss nor answers.

        No error: a search over losses and values has such a pair, and wants the baseline.
        """
        if self.loss != BASELINE or self.smoothness != 0 or self._decision() is None:
            return
        usual = signature(SimLossClassifier).parameters
        for name in ("r", "lower_bound", "temperature"):
            if (value := getattr(self, name)) != usual[name].default:
                warnings.warn(
                    f"`{name}`={value!r} changes nothing with loss {BASELINE!r}, only with a loss "
                    f"that uses the similarity.",
                    UserWarning,
                    stacklevel=4,
                )

    def _learn_classes(self, classes: Array, categories: list[Any] | None) -> None:
        self.classes_ = classes
        given = self.class_order if self.class_order is not None else categories
        self._order = LabelOrder.of(classes, given)
        self.class_order_ = classes[self._order.columns]
        if given is None and self._goes_by_order():
            self._order.warn_of_the_alphabet()
        self.similarity_ = similarity_of(
            self.similarity,
            self._order,
            r=self.r,
            lower_bound=self.lower_bound,
            temperature=self.temperature,
        )
        self._cost()  # reports a mistake in it now

    def _cost(self) -> tuple[Any, Any]:
        choice, by_word = self._decision(), isinstance(self.similarity, str)
        if choice is None:  # words, an array, a similarity: all are over the class order by now
            return self.similarity_, None
        return cost_of(choice, self._order, by_value=by_word and self.similarity == "values")

    def _decision(self) -> Any:
        """What was asked for, or what suits the similarity; None for the similarity itself."""
        if self.decision is not None or isinstance(self.similarity, Tree):
            return self.similarity if self.decision is None else self.decision
        is_line = isinstance(self.similarity, str) and self.similarity in ("order", "values")
        return "median" if is_line else None

    def _goes_by_order(self) -> bool:
        by_similarity = isinstance(self.similarity, str) and self.similarity == "order"
        decision = self._decision()
        by_decision = isinstance(decision, str) and WORDS.get(decision) != "zero-one"
        return (by_similarity and (self.loss != BASELINE or self.smoothness != 0)) or by_decision

    def _weights(self, X: Array, y: Array, classes: Array, sample_weight: Any) -> Array:
        """One weight per example: its own times that of its class, (N)."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if self.class_weight is not None:
            place = np.searchsorted(classes, y)
            weights = (
                weights
                * self._class_weights(classes, np.bincount(place, weights, len(classes)))[place]
            )
        if not weights.any():
            raise ValueError("`sample_weight` must be above 0 for some example, but all are 0.")
        return weights

    def _class_weights(self, classes: Array, counts: Array) -> Array:
        if self.class_weight == "balanced":
            present = counts > 0
            return np.where(present, counts.sum() / np.maximum(counts, 1e-300) / present.sum(), 0)
        if not isinstance(self.class_weight, dict):
            raise ValueError(
                f"`class_weight` must be a dict, 'balanced' or None, but got {self.class_weight!r}."
            )
        self._refuse_unknown_weights(self.class_weight, classes.tolist())
        given = [self.class_weight.get(label, 1.0) for label in classes.tolist()]
        return np.array([_checks.at_least_zero("class_weight", each) for each in given])

    def _refuse_unknown_weights(self, weights: dict[Any, float], labels: list[Any]) -> None:
        """Refuse a weight for an unknown class; a fold may lack a class whose weight is given."""
        named = [*labels, *(() if self.class_order is None else self.class_order)]
        unknown = [label for label in weights if label not in named]
        if unknown and any(label not in weights for label in labels):
            remedy = _checks.nearest_spelling(str(unknown[0]), map(str, labels))
            raise ValueError(
                f"`class_weight` must name classes of `y`, but {unknown[0]!r} is not one{remedy}."
            )

    def _tensors(self, X: Array, y: Array, weights: Array) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs, class indices in class order and weights, without examples of weight 0."""
        index_of = np.empty(len(self.classes_), dtype=np.int64)
        index_of[self._order.columns] = np.arange(len(self.classes_))
        t = index_of[np.searchsorted(self.classes_, y)]
        counts = weights > 0
        w = weights[counts].astype(X.dtype)
        return torch.from_numpy(X[counts]), torch.from_numpy(t[counts]), torch.from_numpy(w)

    def _start(self, x: Tensor, weights: Tensor, random: np.random.RandomState) -> None:
        """A fresh net and loss."""
        self.net_ = TableNet(
            x,
            weights,
            len(self.classes_),
            hidden=[int(size) for size in self.hidden],
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            seed=int(random.randint(2**31 - 1)),
            device=torch.device(self.device),
        )
        self._loss = self._loss_module(float(weights.sum()))
        self.n_iter_ = 0
        self.loss_curve_: list[float] = []
        if hasattr(self, "validation_curve_"):  # of an earlier fit
            del self.validation_curve_

    def _loss_module(self, examples: float) -> nn.Module:
        """For so many training examples, each counted by its weight."""
        smoothing = _checks.share("label_smoothing", self.label_smoothing)
        options: dict[str, Any] = {"reduction": "none", "label_smoothing": smoothing}
        if self.cross_entropy_share and self.loss != BASELINE:
            options["cross_entropy_share"] = self.cross_entropy_share
        loss = self.loss
        if self.smoothness != 0:
            smoothness = self.smoothness
            if smoothness == BY_RULE:
                smoothness = class_graph(self.similarity_).total_weight / examples
            options["smoothness"] = _checks.at_least_zero("smoothness", smoothness)
            if loss == BASELINE:  # the similarity is there for its graph alone
                loss, options["cross_entropy_share"] = "simloss", 1.0
        made: nn.Module = LOSSES[loss].make(self.similarity_, **options)
        return made

    def _epoch(self, x: Tensor, t: Tensor, w: Tensor) -> float:
        value = self.net_.epoch(self.net_.ready(x), t, w, self._loss, int(self.batch_size))
        self.n_iter_ += 1
        self.loss_curve_.append(value)
        if not np.isfinite(value):
            raise ValueError(
                f"the loss became {value} in epoch {self.n_iter_}; a lower `learning_rate` "
                f"than {self.learning_rate} may help."
            )
        return value

    def _train(
        self,
        training: tuple[Tensor, Tensor, Tensor],
        validation: tuple[Tensor, Tensor, Tensor] | None,
    ) -> None:
        patience = Patience(self.patience, self.tol)
        best: dict[str, Tensor] = {}
        if validation is not None:
            self.validation_curve_: list[float] = []

        def keep() -> None:
            if validation is not None:
                best.update({k: v.clone() for k, v in self.net_.net.state_dict().items()})

        for _ in range(int(self.max_iter)):
            watched = self._epoch(*training)
            if validation is not None:
                watched = self._mean_loss(*validation)
                self.validation_curve_.append(watched)
            if patience.is_over(watched, keep):
                break
        if best:
            self.net_.net.load_state_dict(best)

    def _mean_loss(self, x: Tensor, t: Tensor, w: Tensor) -> float:
        logits = self.net_.logits(self.net_.ready(x))
        return float((self._loss.cpu()(logits, t) * w).sum() / w.sum())


def _labels(y: Any) -> Array:
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    return np.asarray(y)
