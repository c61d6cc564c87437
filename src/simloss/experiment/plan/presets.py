"""Ready configurations: the paper's experiments, and the comparison on the shipped tables."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ... import _checks
from ...loss.registry import BASELINE, WITH_SIMILARITY
from .alternatives import ALTERNATIVES
from .config import Config, DataConfig, SplitConfig, TrainingConfig
from .similarities import SIMILARITIES, values_of
from .treatment import Treatment, treatments

ORDER_METRICS = ("mae", "mse", "accuracy")
TREE_METRICS = ("accuracy", "superclass_accuracy", "failed_superclass_accuracy")

PAPER_R = tuple(round(0.1 * step, 1) for step in range(10))
PAPER_LOWER_BOUNDS = (*PAPER_R, 0.99)
PAPER_SEEDS = 10

# What `compare` tries.
COMPARE_R = SIMILARITIES["order"].values
COMPARE_LOSSES = WITH_SIMILARITY

# What the published tables try. Twelve seeds: with ten, no more than 25 comparisons can show
# anything after correction, and these are more.
EVIDENCE_LOSSES = ("simloss", "proper", "soft-target")
EVIDENCE_R = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
EVIDENCE_WIDTHS = (0.5, 1.0, 2.0, 3.0, 5.0)
EVIDENCE_SEEDS = 12


def reproduction(
    task: str,
    path: str | None,
    *,
    r: Sequence[float] | None = None,
    lower_bound: Sequence[float] | None = None,
    losses: Sequence[str] = ("simloss",),
    seeds: int = PAPER_SEEDS,
    epochs: int | None = None,
    device: str = "auto",
    similarity: str | None = None,
) -> Config:
    """An experiment of the paper: "utkface", "afad" or "cifar100", its defaults the paper's.

    r = 0 and a lower bound of .99 make the similarity the identity, so they are run as what they
    are, cross entropy. A similarity that the paper does not have is tried with our own values.
    """
    _checks.choice("task", task, ("utkface", "afad", "cifar100"))
    faces = task != "cifar100"
    kind = similarity or ("order" if faces else "words")
    papers = {"order": PAPER_R, "words": PAPER_LOWER_BOUNDS}
    values = (r if faces else lower_bound) or papers.get(kind) or values_of(kind)
    plain = {"order": 0.0, "words": 0.99}.get(kind)
    values = [value for value in values if value != plain]
    training = TrainingConfig(
        epochs=TrainingConfig.epochs if epochs is None else epochs,
        patience=10 if faces else 20,
        stop_on="mae" if faces else "accuracy",
        augment=not faces,
        device=device,
    )
    return Config(
        name=task,
        data=DataConfig(task, path),
        model="age-cnn" if faces else "lenet",
        treatments=tuple(treatments(list(losses), kind, values)),
        seeds=tuple(range(_checks.run_count("seeds", seeds))),
        metrics=ORDER_METRICS if faces else TREE_METRICS,
        rules=("argmax", "median") if faces else ("argmax", "tree"),
        training=training,
    )


def comparison(
    source: str,
    *,
    r: Sequence[float] = COMPARE_R,
    losses: Sequence[str] = COMPARE_LOSSES,
    seeds: int = 10,
    epochs: int | None = None,
) -> Config:
    """The comparison on a shipped table: each seed its own split, each rule its best epoch."""
    chosen: list[Treatment] = treatments([BASELINE, *losses], "order", list(r))
    return Config(
        name=source,
        data=DataConfig(source),
        model="mlp",
        treatments=tuple(chosen),
        seeds=tuple(range(_checks.run_count("seeds", seeds))),
        metrics=ORDER_METRICS,
        rules=("argmax", "median"),
        split=SplitConfig(new_for_each_seed=True),
        training=TrainingConfig(
            epochs=200 if epochs is None else epochs,
            patience=8,
            batch_size=256,
            learning_rate=3e-3,
            keep_best_of="each rule",
        ),
    )


def stand_in(
    source: str,
    path: str | None = None,
    *,
    name: str | None = None,
    train_share: float = 1.0,
    seeds: int = EVIDENCE_SEEDS,
    **options: Any,
) -> Config:
    """All losses and all alternatives for ordered classes, on a table a small net learns quickly.

    Example:
        >>> config = stand_in("skordinal", table="era", name="era")
        >>> len(config.treatments), config.treatments[-1].label
        (64, 'proper SimLoss r = 0.95 blended, share = 0.75')
    """
    ours = treatments([*EVIDENCE_LOSSES], "order", [*EVIDENCE_R])
    bells = [Treatment("soft-target", "gaussian", width) for width in EVIDENCE_WIDTHS]
    others = [
        Treatment(loss, value=value)
        for loss, alternative in ALTERNATIVES.items()
        # One needs a tree, and the other is the squared EMD where there is none.
        if loss not in ("hierarchical", "kernel-score")
        for value in (alternative.values or (None,))
    ]
    plain = comparison(source, seeds=seeds)
    return replace(
        plain,
        name=name or source,
        data=DataConfig(source, path, options),
        treatments=(*ours, *bells, *others),
        split=replace(plain.split, train_share=train_share),
    )
