"""A split of a data set, ready to train on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ...data import Components, Dataset, Encoder, Tfidf, rows
from ...data.split import PARTS, indices_by_label, split
from ...data.standardize import Standardizer
from ..plan.config import SplitConfig
from .loop import Part


def indices_of(dataset: Dataset, config: SplitConfig, seed: int) -> dict[str, Tensor]:
    """The examples of each part: the source's own split, the one split, or one for this seed.

    With a training share of 1 every part is all of the data: there is nothing to judge by.
    """
    if config.shares[0] == 1:
        return dict.fromkeys(PARTS, torch.arange(len(dataset)))
    parts = _parts(dataset, config, seed)
    if config.per_class is not None:
        few = {name: _few_of_each(dataset, config, parts[name], seed) for name in PARTS[:2]}
        parts = {**parts, **few}
    if config.train_share == 1:
        return parts
    all_of_it = parts["train"]
    generator = torch.Generator().manual_seed(config.seed + seed)
    order = torch.randperm(len(all_of_it), generator=generator)
    count = max(1, round(config.train_share * len(all_of_it)))
    return {**parts, "train": all_of_it[order[:count]].sort().values}


def _few_of_each(dataset: Dataset, config: SplitConfig, part: Tensor, seed: int) -> Tensor:
    """At most `per_class` examples of each class, drawn by the split's seed."""
    generator = torch.Generator().manual_seed(config.seed + seed)
    drawn = part[torch.randperm(len(part), generator=generator)]
    few = [each[: config.per_class] for each in indices_by_label(dataset.labels[drawn])]
    return drawn[torch.cat(few)].sort().values


def _parts(dataset: Dataset, config: SplitConfig, seed: int) -> dict[str, Tensor]:
    if dataset.parts is not None:
        return dataset.parts
    if not config.new_for_each_seed:
        return _drawn(dataset, config, config.shares, config.seed)
    if not config.keep_test:
        return _drawn(dataset, config, config.shares, config.seed + seed)
    first = _drawn(dataset, config, config.shares, config.seed)
    return _drawn_again(dataset, config, first, config.seed + seed)


def _drawn_again(
    dataset: Dataset, config: SplitConfig, first: dict[str, Tensor], seed: int
) -> dict[str, Tensor]:
    """A new training and a new validation part of what is not tested with, as large as before."""
    rest = torch.cat([first["train"], first["validation"]]).sort().values
    groups = None if dataset.groups is None else dataset.groups[rest]
    others = replace(dataset, labels=dataset.labels[rest], groups=groups)
    train, validation, _ = config.shares
    # A split has three parts: training is drawn as two halves.
    shares = tuple(share / (train + validation) for share in (train / 2, validation, train / 2))
    drawn = _drawn(others, config, shares, seed)
    halves = torch.cat([drawn["train"], drawn["test"]]).sort().values
    return {
        "train": rest[halves],
        "validation": rest[drawn["validation"]],
        "test": first["test"],
    }


def _drawn(
    dataset: Dataset, config: SplitConfig, shares: Sequence[float], seed: int
) -> dict[str, Tensor]:
    return split(
        dataset,
        shares=shares,
        seed=seed,
        stratify=config.stratify,
        keep_groups_together=config.keep_duplicates_together,
    )


@dataclass(frozen=True)
class Ready:
    """Makes a stored batch ready for the net: float32, standardised by the training part.

    `tfidf` and `encoder` have made the stored inputs of a table's texts and cells; new ones go
    through them first.
    """

    standardize: Standardizer
    images: bool
    encoder: Encoder | None = None
    tfidf: Tfidf | None = None

    def __call__(self, batch: Tensor, *, out: Tensor | None = None) -> Tensor:
        x = self.standardize(batch, out=out)
        return x.contiguous(memory_format=torch.channels_last) if self.images else x


def parts_of(dataset: Dataset, indices: dict[str, Tensor]) -> dict[str, Part]:
    """The parts in memory; images stay uint8, one pixel's colours side by side."""
    images = dataset.inputs.ndim == 4
    encoder, tfidf, everything = _encoded(dataset, indices["train"])
    ready = Ready(Standardizer.fit(everything, indices["train"]), images, encoder, tfidf)
    made = {}
    for name in PARTS:
        inputs = rows(everything, indices[name])
        if images:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        made[name] = Part(inputs, dataset.labels[indices[name]], ready)
    return made


def _encoded(dataset: Dataset, training: Tensor) -> tuple[Encoder | None, Tfidf | None, Tensor]:
    """The inputs of a net, and what made them of cells and texts, fitted on the training part."""
    cells = dataset.inputs
    if dataset.components is not None:
        return None, None, Components.fit(cells, training, dataset.components)(cells)
    if dataset.columns is None:
        return None, None, cells
    tfidf = None
    if dataset.texts is not None:
        tfidf = Tfidf.fit(dataset.texts, training, dataset.columns[-1].size)
        cells = torch.cat([cells, tfidf(dataset.texts).double()], dim=1)
    encoder = Encoder.fit(dataset.columns, cells, training)
    return encoder, tfidf, encoder(cells)
