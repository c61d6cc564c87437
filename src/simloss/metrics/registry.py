"""The registry of metrics. A metric is sums over examples, and a number made from them.

A metric is written once, as a function that returns *sums*: a tensor that can be added up over
batches and devices. `finish` turns them into the number. So the plain function on all examples
and the streaming version (:mod:`simloss.metrics.streaming`) share one formula.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec

import torch
from torch import Tensor

from .. import _checks
from ..decision.costs import wide

P = ParamSpec("P")

# What a metric may need besides the answers and the truth; "order" means ordered classes.
NEEDS = ("order", "tree", "cost", "similarity", "probabilities")

METRICS: "dict[str, Metric]" = {}

# Common names elsewhere.
_ALIASES = {
    "acc": "accuracy",
    "ece": "calibration_error",
    "fsa": "failed_superclass_accuracy",
    "kendall": "kendall_tau",
    "kappa": "quadratic_kappa",
    "rps": "ranked_probability_score",
    "sa": "superclass_accuracy",
}

# Names too different from ours for a spelling check to find.
_MEANT = {"qwk": "quadratic_kappa"}


@dataclass(frozen=True)
class Metric:
    """One metric, with everything a table or a test needs to know about it.

    Attributes:
        name: its name in configurations and records.
        label: its name in tables.
        higher_is_better: which way is better.
        formula: in words and symbols that a reader can check.
        needs: what it requires, a part of :data:`NEEDS`.
        percent: whether it is shown in percent.
        companions: the metrics without which it misleads; :func:`simloss.metrics.columns` adds
            them.
        sums: the function that returns the sums over examples.
        finish: the function that turns these sums into the number.
        adds_up: whether the sums of two batches are added; if not, they are concatenated.
        options: those of `sums`, such as the k of top-k.

    Example:
        >>> from simloss import metrics
        >>> metric = metrics.find("mae")
        >>> metric.label, metric.higher_is_better, sorted(metric.needs)
        ('MAE', False, ['order'])
        >>> metric([1, 4], [1, 2])
        1.0
    """

    name: str
    label: str
    higher_is_better: bool
    formula: str
    needs: frozenset[str]
    percent: bool
    companions: tuple[str, ...]
    sums: Callable[..., Tensor]
    finish: Callable[[Tensor], Tensor]
    adds_up: bool
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_graded(self) -> bool:
        """Whether it knows some mistakes to be worse than others."""
        return bool(self.needs & {"order", "tree", "cost", "similarity"})

    def __call__(self, answers: Any, truth: Any, **context: Any) -> float:
        """The metric over all examples; `context` may hold more than it needs."""
        return float(self.finish(self.sums_of(answers, truth, **context)))

    def sums_of(self, answers: Any, truth: Any, **context: Any) -> Tensor:
        """Its sums over these examples, with the parts of `context` that it uses."""
        refuse_own_options(self, context)
        _refuse_unknown(context)
        given = {"answers": answers, "truth": truth, **context, **self.options}
        known = {name: value for name, value in given.items() if value is not None}
        for name in (need for need in NEEDS if need in self.needs and need != "order"):
            if name not in known:
                raise ValueError(f"`{name}` must be given for the metric {self.name!r}.")
        return self.sums(**{name: known[name] for name in self.arguments & known.keys()})

    @functools.cached_property
    def arguments(self) -> frozenset[str]:
        """The names of the arguments of `sums`."""
        return frozenset(inspect.signature(self.sums).parameters)

    def __reduce__(self) -> Any:
        return find, (self.name,)  # `sums` itself has the name of the public function

    def format(self, value: float) -> str:
        """As a table shows it; a dash if there is no number.

        Example:
            >>> from simloss import metrics
            >>> metrics.find("accuracy").format(0.1447), metrics.find("mae").format(7.012)
            ('14.47 %', '7.01')
            >>> metrics.find("mse").format(516343.5)
            '516,344'
        """
        if value != value:
            return "–"
        digits = 2 if abs(value) < 100 else 1 if abs(value) < 10_000 else 0
        return f"{100 * value:.2f} %" if self.percent else f"{value:,.{digits}f}"


def mean(sums: Tensor) -> Tensor:
    """(total, count) -> the mean."""
    return sums[0] / sums[1]


def metric(
    label: str,
    *,
    formula: str,
    higher_is_better: bool,
    needs: Iterable[str] = (),
    percent: bool = False,
    companions: tuple[str, ...] = (),
    finish: Callable[[Tensor], Tensor] = mean,
    adds_up: bool = True,
    template: str | None = None,
    k: int | None = None,
) -> Callable[[Callable[P, Tensor]], Callable[P, float]]:
    """Turn a function that returns sums into the public metric of the same name, and register it.

    With `template`, such as "top_{k}_accuracy", it is a family, registered with the default `k`.
    """

    def register(sums: Callable[P, Tensor]) -> Callable[P, float]:
        name = template or sums.__name__
        family = Metric(
            name,
            label,
            higher_is_better,
            formula,
            frozenset(needs),
            percent,
            companions,
            sums,
            finish,
            adds_up,
        )
        if k is None:
            METRICS[name] = family
        else:
            _FAMILIES[name] = family
            member = _member(family, k)
            METRICS[member.name] = member

        @functools.wraps(sums)
        def public(*args: P.args, **kwargs: P.kwargs) -> float:
            return float(finish(sums(*args, **kwargs)))

        public.__annotations__["return"] = float
        return public

    return register


_FAMILIES: dict[str, Metric] = {}


def refuse_own_options(metric: Metric, context: Mapping[str, Any]) -> None:
    """Refuse an option that the name already sets: the k of top-k."""
    for name in metric.options.keys() & context.keys():
        raise ValueError(
            f"`{name}` must be part of the metric's name, {metric.name!r}, "
            f"but got {name}={context[name]!r}."
        )


def _refuse_unknown(context: Mapping[str, Any]) -> None:
    """Options that only other metrics use are allowed; options that none uses are refused."""
    known = {name for metric in METRICS.values() for name in metric.arguments}
    for name in context.keys() - known:
        remedy = _checks.nearest_spelling(name, known)
        raise TypeError(f"`{name}` must be an option of some metric, but it is not{remedy}.")


def _member(family: Metric, k: int) -> Metric:
    return replace(
        family,
        name=family.name.format(k=k),
        label=family.label.format(k=k),
        formula=family.formula.format(k=k),
        options={"k": k},
    )


def find(metric: str) -> Metric:
    """The metric with that name, or with that common short name; for a family, with any k.

    Example:
        >>> from simloss import metrics
        >>> metrics.find("fsa").name
        'failed_superclass_accuracy'
        >>> metrics.find("top_3_accuracy").label
        'Top-3'
    """
    lower = str(metric).lower()
    known = METRICS.get(_ALIASES.get(lower, lower))
    if known is not None:
        return known
    family = _FAMILIES.get(re.sub(r"_\d+_", "_{k}_", lower))
    if family is not None:
        k = _checks.class_count("k", int(re.findall(r"\d+", lower)[0]))
        return _member(family, k)
    meant = _MEANT.get(lower, lower)
    remedy = _checks.nearest_spelling(meant, [*METRICS, *_ALIASES])
    raise ValueError(
        f"`metric` must be a known metric, but got {metric!r}{remedy}; "
        f"they are {', '.join(METRICS)}."
    )


def answers_and_truth(
    answers: Any, truth: Any, num_classes: int | None = None
) -> tuple[Tensor, Tensor]:
    """Both as flat class indices on one device, (M)."""
    a = _checks.class_indices("answers", answers, num_classes)
    y = _checks.class_indices("truth", truth, num_classes)
    _checks.same_shape("answers", a.shape, "truth", y.shape)
    return a.reshape(-1), y.reshape(-1).to(a.device)


def probabilities_and_truth(probabilities: Any, truth: Any) -> tuple[Tensor, Tensor]:
    """Both flat on one device, (M, C) and (M)."""
    p = _checks.probabilities(probabilities)
    y = _checks.class_indices("truth", truth, p.shape[-1])
    _checks.same_shape("truth", y.shape, "probabilities", p.shape[:-1])
    return p.reshape(-1, p.shape[-1]), y.reshape(-1).to(p.device)


def total_and_count(values: Tensor) -> Tensor:
    """Total and count of one value per example, (2), in a dtype that does not lose digits."""
    values = values.to(wide(values))
    return torch.stack([values.sum(), values.new_tensor(values.numel())])
