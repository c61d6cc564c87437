"""The configuration of the published comparisons on tables that a small net learns quickly."""

from dataclasses import replace
from typing import Any

from simloss.experiment.plan.alternatives import ALTERNATIVES
from simloss.experiment.plan.config import Config, DataConfig
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.treatment import Treatment, treatments

# What the published tables try. Twelve seeds: with ten, no more than 25 comparisons can show
# anything after correction, and these are more.
EVIDENCE_LOSSES = ("simloss", "proper", "soft-target")
EVIDENCE_R = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
EVIDENCE_WIDTHS = (0.5, 1.0, 2.0, 3.0, 5.0)
EVIDENCE_SEEDS = 12


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
    plain = comparison("abalone", seeds=seeds)
    return replace(
        plain,
        name=name or source,
        data=DataConfig(source, path, options),
        treatments=(*ours, *bells, *others),
        split=replace(plain.split, train_share=train_share),
    )
