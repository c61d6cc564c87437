"""Records made into rows of numbers: one row per treatment, its numbers by seed."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ... import metrics
from ...decision.rules import RULES
from ...experiment.plan.config import Config
from ...experiment.plan.treatment import KNOWN
from ...loss.registry import BASELINE
from ...metrics import Metric

# What a record calls the models that are no nets.
OTHER_MODELS = ("boosting", "boosted-regression", "boosted-regression-l2", "linear")

Record = dict[str, Any]
BySeed = dict[int, float]


@dataclass(eq=False)
class Row:
    """One treatment: a loss with one value of its parameter.

    Attributes:
        treatment: as the record holds it.
        cells: seed -> cell, of those that are done.
        failures: seed -> why, of those that are not.
        numbers: (part, rule, metric) -> seed -> value.
        constants: metric -> seed -> what always giving one answer reaches on test data; empty in
            folders made before it was recorded.
        answers: metric -> seed -> that answer's name.
        best_epochs: seed -> the last of its best epochs; a model that is no net has none.
        reference: cross entropy, if this is another treatment and any cell of that is done.
    """

    treatment: dict[str, Any]
    cells: dict[int, str] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    numbers: dict[tuple[str, str, str], BySeed] = field(default_factory=dict)
    constants: dict[str, BySeed] = field(default_factory=dict)
    answers: dict[str, dict[int, str]] = field(default_factory=dict)
    best_epochs: dict[int, int] = field(default_factory=dict)
    reference: "Row | None" = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str:
        return str(self.treatment["label"])

    @property
    def family(self) -> str:
        return str(self.treatment["family"])

    @property
    def value(self) -> float | None:
        return self.treatment.get("value")

    @property
    def symbol(self) -> str:
        """What a figure calls the parameter: r, l, t."""
        name = self.treatment.get("parameter") or ""
        return {"lower_bound": "l", "temperature": "t"}.get(name, name)

    @property
    def is_baseline(self) -> bool:
        """Whether it is plain cross entropy."""
        return self.treatment["loss"] == BASELINE and not self.treatment.get("options")

    @property
    def uses_similarity(self) -> bool:
        """Whether it is told which classes are alike, by its loss or by a penalty beside it."""
        known, options = KNOWN.get(self.treatment["loss"]), self.treatment.get("options") or {}
        told = known.uses_similarity if known else self.treatment.get("similarity") is not None
        return told or "smoothness" in options

    @property
    def is_net(self) -> bool:
        """Whether it is a net; boosted trees and a linear model are not."""
        return self.treatment["loss"] not in OTHER_MODELS

    def by_seed(self, part: str, rule: str, metric: str) -> BySeed:
        """Its values; empty where nothing is recorded."""
        return self.numbers.get((part, rule, metric), {})

    def mean(self, part: str, rule: str, metric: str) -> float:
        """Over the seeds of cross entropy, so that means can be compared; NaN where there are none.

        Where it lacks some of them, cross entropy's mean and the mean difference on those that both
        have: seeds differ by more than treatments, and one that failed on the hard ones must not
        look the better for it.
        """
        values = self.by_seed(part, rule, metric)
        base = self.reference.by_seed(part, rule, metric) if self.reference else {}
        shared = values.keys() & base.keys()
        if not shared:
            return _mean(values.values())
        if len(shared) == len(base):
            return _mean(values[seed] for seed in shared)
        return _mean(base.values()) + _mean(values[seed] - base[seed] for seed in shared)

    def add(self, record: Record) -> None:
        """Take up one cell."""
        seed = int(record["seed"])
        if record["status"] != "done":
            self.failures[seed] = str(record.get("error", "no reason is recorded"))
            return
        self.cells[seed] = record["cell"]
        if record.get("best_epoch"):
            self.best_epochs[seed] = max(record["best_epoch"].values())
        for part, rules in record["metrics"].items():
            for rule, values in rules.items():
                if rule not in RULES and rule != "nearest":  # any text, to be shown as it is
                    continue
                for name, value in values.items():
                    self.numbers.setdefault((part, rule, name), {})[seed] = float(value)
        for name, about in record.get("constant", {}).items():
            self.constants.setdefault(name, {})[seed] = float(about["test"])
            self.answers.setdefault(name, {})[seed] = str(about["answer"])


@dataclass(frozen=True)
class Results:
    """All rows of a run, in the order of the configuration.

    Attributes:
        config: the experiment.
        rows: one per treatment; those without a finished cell too.
        unit: of the classes, such as years, where it is known.
    """

    config: Config
    rows: tuple[Row, ...]
    unit: str | None = None

    @classmethod
    def of(cls, records: Iterable[Record], config: Config, unit: str | None = None) -> "Results":
        """The rows of these records; a treatment the configuration does not name comes last."""
        rows: dict[str, Row] = {}
        for treatment in config.treatments:
            words = {name: getattr(treatment, name) for name in ("label", "family", "parameter")}
            rows[_key(treatment.as_dict())] = Row({**treatment.as_dict(), **words})
        for record in records:
            key = _key(record["treatment"])
            rows.setdefault(key, Row(dict(record["treatment"]))).add(record)
        made = cls(config, tuple(rows.values()), unit)
        for row in made.rows:
            row.reference = None if row.is_baseline else made.baseline
        return made

    @property
    def metric(self) -> Metric:
        """The one that counts: the first that knows some mistakes to be worse than others.

        Accuracy, which the paper's image task lists first, does not, and cross entropy is made
        for it.
        """
        asked = [metrics.find(name) for name in self.config.metrics]
        return next((metric for metric in asked if metric.is_graded), asked[0])

    @property
    def rules(self) -> tuple[str, ...]:
        """Those of the configuration, then what other models have of their own."""
        measured = (rule for row in self.rows for _, rule, _ in row.numbers)
        return tuple(dict.fromkeys((*self.config.rules, *measured)))

    @property
    def test_to_train(self) -> float:
        """Test examples for each training example, of a split."""
        train, _, test = self.config.split.shares
        return test / train

    @property
    def columns(self) -> list[str]:
        """The metrics of a table, each with those it misleads without, if they were measured."""
        names = metrics.columns([*self.config.metrics, "nll", "calibration_error"])
        asked = {metrics.find(name).name for name in self.config.metrics}
        measured = {name for row in self.rows for _, _, name in row.numbers}
        return [name for name in names if name in asked | measured]

    @property
    def columns_main_first(self) -> list[str]:
        """The same, with the metric that counts at the front."""
        main = self.metric.name
        return [main, *(name for name in self.columns if name != main)]

    @property
    def is_one_net(self) -> bool:
        """Whether there is nothing to compare: a saved model judged on data."""
        return len(self.config.treatments) == len(self.config.seeds) == 1

    @property
    def baseline(self) -> Row | None:
        """Plain cross entropy, if any cell of it is done."""
        return next((row for row in self.rows if row.is_baseline and row.cells), None)

    @property
    def done(self) -> list[Row]:
        """The rows with at least one finished cell."""
        return [row for row in self.rows if row.cells]

    def families(self) -> dict[str, list[Row]]:
        """The rows that are not plain cross entropy, by family; finished ones only."""
        found: dict[str, list[Row]] = {}
        for row in self.done:
            if not row.is_baseline:
                found.setdefault(row.family, []).append(row)
        return found


def spread(values: Iterable[float]) -> float:
    """The standard deviation over runs; NaN with fewer than two."""
    known = list(values)
    mean = _mean(known)
    squares = math.fsum((value - mean) ** 2 for value in known)
    return math.sqrt(squares / (len(known) - 1)) if len(known) > 1 else math.nan


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return math.fsum(known) / len(known) if known else math.nan


def _key(treatment: dict[str, Any]) -> str:
    """Equal for equal treatments."""
    settings = {k: treatment.get(k) for k in ("loss", "similarity", "value", "options")}
    return json.dumps(settings, sort_keys=True)
