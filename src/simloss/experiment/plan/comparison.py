"""The plan of a comparison: what was read and proposed, with every choice made."""

from collections.abc import Sequence
from dataclasses import replace

from ... import _checks
from ...data import Dataset
from ...loss.registry import BASELINE, WITH_SIMILARITY
from .config import Config, DataConfig, SplitConfig, TrainingConfig, argmax_and
from .default_treatment import default_treatment, with_baseline
from .propose import Proposal
from .rivals import NONE, rivals_for
from .sources import SHIPPED
from .treatment import smooth_treatments, treatments

_MANY_ROWS = 2000


def comparison_on(
    data: DataConfig,
    dataset: Dataset,
    proposal: Proposal,
    *,
    values: Sequence[float] | None = None,
    losses: Sequence[str] | None = None,
    rivals: Sequence[str] | None = (NONE,),
    seeds: int = 10,
    epochs: int | None = None,
    model: str | None = None,
    augment: bool | None = None,
    device: str = "auto",
) -> Config:
    """Cross entropy, the losses at each value and the rivals, on data that was read from `data`.

    Losses that are not named include those with smoothness, which have no value to try.
    """
    images = dataset.inputs.ndim == 4
    if augment and not images:
        raise ValueError(f"`--augment` is for images, but {dataset.name} is a table.")
    model = model or ("small-cnn" if images else "mlp")
    smooth = () if losses else smooth_treatments(proposal.similarity)
    losses, values = losses or WITH_SIMILARITY, values or proposal.values
    training = TrainingConfig(
        epochs=(60 if images else 200) if epochs is None else epochs,
        patience=8,
        batch_size=256 if len(dataset) >= _MANY_ROWS and not images else 64,
        learning_rate=1e-3 if images else 3e-3,
        stop_on=proposal.metrics[0],
        keep_best_of="each rule",
        augment=images and (model == "resnet" if augment is None else augment),
        device=device,
    )
    return Config(
        name=dataset.name,
        data=data,
        model=model,
        treatments=(
            *treatments([BASELINE, *losses], proposal.similarity, list(values)),
            *smooth,
            *rivals_for(rivals, dataset, proposal.metrics),
        ),
        seeds=tuple(range(_checks.run_count("seeds", seeds))),
        metrics=proposal.metrics,
        rules=proposal.rules,
        split=_split(data, dataset),
        training=training,
        cost=proposal.cost,
    )


def one_of(
    config: Config, *, loss: str | None, value: float | None, rule: str, seed: int
) -> Config:
    """The same for a single net: a loss, a value, a decision."""
    return replace(
        config,
        treatments=with_baseline(default_treatment(loss, config.similarity, value)),
        seeds=(seed,),
        rules=argmax_and(rule),
        training=replace(config.training, keep_best_of="each rule"),
    )


def _split(data: DataConfig, dataset: Dataset) -> SplitConfig:
    """A new split per seed, with every class in every part where there are enough examples.

    The shipped tables are split as in the published records, by chance alone.
    """
    if dataset.parts is not None:
        return SplitConfig()
    if data.source in SHIPPED:
        return SplitConfig(new_for_each_seed=True)
    together = dataset.groups is not None and len(dataset.groups.unique()) < len(dataset)
    return SplitConfig(new_for_each_seed=True, stratify=True, keep_duplicates_together=together)
