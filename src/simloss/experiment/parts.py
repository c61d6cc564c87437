"""A split of a data set, ready to train on."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..data import Dataset, Encoder, rows
from ..data.split import PARTS, split
from ..data.standardize import Standardizer
from .config import SplitConfig
from .training import Part


def indices_of(dataset: Dataset, config: SplitConfig, seed: int) -> dict[str, Tensor]:
    """The examples of each part: the source's own split, the one split, or one for this seed."""
    if dataset.parts is not None:
        return dataset.parts
    if not config.new_for_each_seed:
        return _drawn(dataset, config, config.seed)
    drawn = _drawn(dataset, config, config.seed + seed)
    if not config.keep_test:
        return drawn
    test = _drawn(dataset, config, config.seed)["test"]
    train = torch.cat([drawn["train"], drawn["test"]]).sort().values
    free = {"train": train, "validation": drawn["validation"]}
    return {name: some[~torch.isin(some, test)] for name, some in free.items()} | {"test": test}


def _drawn(dataset: Dataset, config: SplitConfig, seed: int) -> dict[str, Tensor]:
    return split(
        dataset,
        shares=config.shares,
        seed=seed,
        stratify=config.stratify,
        keep_groups_together=config.keep_duplicates_together,
    )


@dataclass(frozen=True)
class Ready:
    """Makes a stored batch ready for the net: float32, standardised by the training part.

    `encoder` has made the stored inputs of a table's cells; new cells go through it first.
    """

    standardize: Standardizer
    images: bool
    encoder: Encoder | None = None

    def __call__(self, batch: Tensor) -> Tensor:
        x = self.standardize(batch)
        return x.contiguous(memory_format=torch.channels_last) if self.images else x


def parts_of(dataset: Dataset, indices: dict[str, Tensor]) -> dict[str, Part]:
    """The parts in memory; images stay uint8, one pixel's colours side by side."""
    images = dataset.inputs.ndim == 4
    encoder, everything = _encoded(dataset, indices["train"])
    ready = Ready(Standardizer.fit(everything, indices["train"]), images, encoder)
    made = {}
    for name in PARTS:
        inputs = rows(everything, indices[name])
        if images:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        made[name] = Part(inputs, dataset.labels[indices[name]], ready)
    return made


def _encoded(dataset: Dataset, training: Tensor) -> tuple[Encoder | None, Tensor]:
    """The inputs of a net, and what made them of a table's cells, fitted on the training part."""
    if dataset.columns is None:
        return None, dataset.inputs
    encoder = Encoder.fit(dataset.columns, dataset.inputs, training)
    return encoder, encoder(dataset.inputs)
