"""What to search for, what was found, and the honest comparison that follows."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from ... import _checks, metrics
from ...data import Dataset
from ...loss.registry import BASELINE
from ..grid.setup import Setup
from ..plan.config import Config, argmax_and
from ..plan.propose import knows_better_mistakes
from ..plan.treatment import Treatment
from .search_space import SearchSpace

# Seeds of the final comparison begin here, far from those of any search.
FRESH = 1000


@dataclass(frozen=True)
class Plan:
    """A search.

    Attributes:
        config: the experiment, of which data, model, split and training count here.
        space: what may be chosen.
        metric: what is to be best on validation data; also what early stopping watches.
        rule: the decision rule it is measured under.
        seeds: one net each in every trial, on its own split where the experiment says so.
        trials: the most there may be.
        budget: the most epochs in all, but for the first two trials, one of them cross entropy.
            None is a fifth of what a grid would take, guessed from the finished trials, or what it
            takes to try each loss once, and the best at three values.
    """

    config: Config
    space: SearchSpace
    metric: str
    rule: str
    seeds: tuple[int, ...] = (1, 2, 3)
    trials: int = 40
    budget: int | None = None

    def __post_init__(self) -> None:
        _checks.not_empty("seeds", self.seeds)
        if _checks.run_count("trials", self.trials) < 2:
            raise ValueError("`trials` must be at least 2: cross entropy and something else.")
        if self.budget is not None:
            _checks.class_count("budget", self.budget)

    def as_dict(self) -> dict[str, Any]:
        """Plain values: what must not change when a search is resumed."""
        plain = {k: v for k, v in asdict(self).items() if k not in ("config", "trials", "budget")}
        settings = self.config.shared()
        settings["data"].pop("path")
        settings["training"].pop("device")
        return json.loads(json.dumps({**plain, "experiment": settings}))


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        best: the treatment with the best mean on validation data; cross entropy may be it.
        value: that mean.
        baseline: the same of cross entropy, or where it stood when it was given up.
        baseline_gave_up: whether it was.
        candidate: the best that uses similarity.
        trials: how many there were.
        pruned: how many of them were given up before their end.
        epochs: of all nets together.
    """

    best: Treatment
    value: float
    baseline: float
    baseline_gave_up: bool
    candidate: Treatment
    trials: int
    pruned: int
    epochs: int


def plan(
    preset: Config,
    space: SearchSpace,
    *,
    metric: str | None = None,
    rule: str | None = None,
    seeds: int = 3,
    **options: Any,
) -> Plan:
    """The search on the data of a preset; its test part is not touched by any seed."""
    known = metrics.find(metric or preset.metrics[0])
    # Asked for a metric that knows no better mistakes, none that does may give the verdict, and no
    # rule that trades right answers for near ones the answers.
    is_plain = metric is not None and not knows_better_mistakes(known)
    others = () if is_plain else preset.metrics
    rule = rule or ("argmax" if is_plain else preset.rules[-1])
    config = replace(
        preset,
        metrics=tuple(dict.fromkeys((known.name, *others))),
        rules=argmax_and(rule),
        split=replace(preset.split, keep_test=preset.split.new_for_each_seed),
        training=replace(preset.training, stop_on=known.name, keep_best_of="each rule"),
    )
    count = _checks.run_count("search_seeds", seeds)
    return Plan(config, space, known.name, rule, tuple(range(1, count + 1)), **options)


def final_config(
    plan: Plan, found: Found, seeds: int, rivals: tuple[Treatment, ...] = ()
) -> Config:
    """Cross entropy against what was found, with fresh seeds, judged on the untouched test part."""
    fresh = range(FRESH, FRESH + _checks.run_count("seeds", seeds))
    arms = (Treatment(BASELINE), found.candidate, *rivals)
    return replace(plan.config, treatments=arms, seeds=tuple(fresh))


def setup_of(plan: Plan, dataset: Dataset | None = None) -> Setup:
    """What the trials need; says what cannot be split, measured or answered this way."""
    setup = Setup(plan.config, dataset)
    dataset = setup.dataset
    for seed in plan.seeds:
        setup.indices(seed)
    for treatment in plan.space.first():
        setup.objective(treatment, plan.seeds[0])
    needs = metrics.find(plan.metric).needs
    if "tree" in needs or plan.rule == "tree":
        what = "`decision` 'tree'" if plan.rule == "tree" else f"`metric` {plan.metric!r}"
        if dataset.superclasses is None:
            raise ValueError(f"{what} needs superclasses, but {dataset.name} has none.")
    if plan.config.cost in (None, "values"):
        for unknown in sorted(needs & {"cost", "similarity"}):
            raise ValueError(
                f"`metric` {plan.metric!r} needs a {unknown}, and nothing here says which; "
                f"choose another metric."
            )
    return setup
